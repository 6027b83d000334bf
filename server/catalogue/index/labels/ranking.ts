/** A skill found. */
export interface SearchHit {
  /** Place of the skill in the index's entries. */
  entry: number
  score: number
}

const toHit = (entry: number, score: number): SearchHit => ({ entry, score })

const STEPS = 10_000
const LENGTH_STEPS = 1024
const BUCKETS = 256
const ENTRY_BITS = 2 ** 26

/** Pages that end before this are kept in order while the skills are gone through. */
const FIRST_PAGES = 64

/**
 * The skills found so far, each with its best score. A page is cut without sorting everything: the first pages by keeping
 * the best in order, later ones by counting scores in buckets, of which only those that can reach the page are
 * put in order. Ties go to the shorter label, then the lower number.
 */
export class Ranking {
  size = 0
  /** The best score so far. */
  highest = 0
  private readonly found: Int32Array
  /** Score and shortness in one number, 0 for a skill not found. */
  private readonly best: Int32Array
  /** Skills that passed the last sieve. */
  readonly candidates: Int32Array
  kept = 0
  private readonly passed: Int32Array
  private readonly points: Float32Array
  private sieves = 0
  private needed = 0
  private readonly counts = new Int32Array(BUCKETS)
  private readonly top = new Float64Array(FIRST_PAGES)
  private filter: ((entry: number) => boolean) | undefined

  constructor(entries: number) {
    this.found = new Int32Array(entries)
    this.best = new Int32Array(entries)
    this.candidates = new Int32Array(entries)
    this.passed = new Int32Array(entries)
    this.points = new Float32Array(entries)
  }

  begin(filter?: (entry: number) => boolean): void {
    for (let i = 0; i < this.size; i++) this.best[this.found[i]!] = 0
    this.size = 0
    this.highest = 0
    this.filter = filter
  }

  /** Begins a list of candidates: of all skills, or of those that the sieve before kept. */
  sieve(all: boolean): void {
    this.needed = all ? -1 : this.sieves
    this.sieves++
    this.kept = 0
  }

  /** Keeps the skills of a stretch that passed the sieve before this one. */
  keep(entries: Int32Array, from: number, to: number): void {
    const { passed, candidates, sieves, needed } = this
    let kept = this.kept
    for (let at = from; at < to; at++) {
      const entry = entries[at]!
      const before = passed[entry]!
      if (needed < 0 ? before !== sieves : before === needed) {
        passed[entry] = sieves
        candidates[kept++] = entry
      }
    }
    this.kept = kept
  }

  /** Begins to count for another word of the query. */
  nextTally(): void {
    this.sieves++
  }

  /** Gives points to the skills of a stretch that have none for this word yet. */
  tally(entries: Int32Array, from: number, to: number, points: number): void {
    const { passed, candidates, points: sums, sieves } = this
    for (let at = from; at < to; at++) {
      const entry = entries[at]!
      if (passed[entry] === sieves) continue
      passed[entry] = sieves
      if (sums[entry] === 0) candidates[this.kept++] = entry
      sums[entry]! += points
    }
  }

  /** Visits the skills that have points, and takes these away. */
  eachTallied(visit: (entry: number, points: number) => void): void {
    for (let i = 0; i < this.kept; i++) {
      const entry = this.candidates[i]!
      visit(entry, this.points[entry]!)
      this.points[entry] = 0
    }
    this.kept = 0
  }

  put(entry: number, score: number, length: number): void {
    const rank = ((score * STEPS) | 0) * LENGTH_STEPS + (length < LENGTH_STEPS ? LENGTH_STEPS - 1 - length : 0)
    const before = this.best[entry]!
    if (rank <= before) return
    if (before === 0) {
      if (this.filter && !this.filter(entry)) return
      this.found[this.size++] = entry
    }
    this.best[entry] = rank
    if (score > this.highest) this.highest = score
  }

  page(offset: number, limit: number): SearchHit[] {
    return this.cut(offset, limit, toHit)
  }

  /** A page, of whatever is made of each skill on it. */
  cut<T>(offset: number, limit: number, make: (entry: number, score: number) => T): T[] {
    const wanted = Math.min(this.size, offset + limit)
    if (wanted <= offset) return []
    const keys = wanted <= FIRST_PAGES ? this.keepFirst(wanted) : this.sortFirst(wanted)
    const made: T[] = []
    for (let i = offset; i < wanted; i++) {
      const entry = ENTRY_BITS - 1 - (-keys[i]! % ENTRY_BITS)
      made.push(make(entry, Math.floor(this.best[entry]! / LENGTH_STEPS) / STEPS))
    }
    return made
  }

  /** The keys of the best, lowest first: few enough to put each in its place as it comes. */
  private keepFirst(wanted: number): Float64Array {
    const { found, best, size, top } = this
    let kept = 0
    let last = 0
    for (let i = 0; i < size; i++) {
      const entry = found[i]!
      const key = -(best[entry]! * ENTRY_BITS + (ENTRY_BITS - 1 - entry))
      if (kept === wanted && key > last) continue
      let at = kept < wanted ? kept++ : wanted - 1
      for (; at > 0 && top[at - 1]! > key; at--) top[at] = top[at - 1]!
      top[at] = key
      last = top[kept - 1]!
    }
    return top
  }

  private sortFirst(wanted: number): Float64Array {
    const { found, best, counts, size } = this
    const bucketOf = (entry: number) => ((best[entry]! / LENGTH_STEPS) * ((BUCKETS - 1) / STEPS)) | 0
    counts.fill(0)
    for (let i = 0; i < size; i++) counts[bucketOf(found[i]!)]!++
    let lowest = BUCKETS
    let reached = 0
    while (reached < wanted) reached += counts[--lowest]!
    const keys = new Float64Array(reached)
    let kept = 0
    for (let i = 0; i < size; i++) {
      const entry = found[i]!
      if (bucketOf(entry) >= lowest) keys[kept++] = -(best[entry]! * ENTRY_BITS + (ENTRY_BITS - 1 - entry))
    }
    return keys.sort()
  }
}
