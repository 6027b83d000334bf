/** A ranked skill. */
export interface SearchHit {
  /** Index of the skill in the entries. */
  entry: number
  score: number
}

const toHit = (entry: number, score: number): SearchHit => ({ entry, score })

/** A rank combines a score and a length in one integer: scores are rounded down to 1 / SCORE_STEPS, lengths limited to LENGTH_STEPS. */
const SCORE_STEPS = 10_000
const LENGTH_STEPS = 1024
const MAX_ENTRY_COUNT = 2 ** 26

const BUCKET_COUNT = 256

/** Pages that end within the first hits up to this number are selected by insertion instead of by sorting. */
const MAX_INSERTION_HITS = 64

/**
 * The skills found so far, each with its best score. Equal scores are ordered by the shorter label, then by the lower number. A
 * page is selected without sorting all hits: the first pages by insertion, later ones by counting scores in buckets and sorting only
 * the buckets that can reach the page.
 */
export class Ranking {
  size = 0
  bestScore = 0
  private readonly foundEntries: Int32Array
  /** Score and length of the label in one number, higher for shorter labels; 0 for a skill that is not found. */
  private readonly ranks: Int32Array
  /** The skills collected in the current pass. */
  readonly candidates: Int32Array
  candidateCount = 0
  /** By skill: the last pass in which it was collected or got points. */
  private readonly lastPass: Int32Array
  private readonly points: Float32Array
  private pass = 0
  /** The pass in which a candidate must have been collected before, or -1. */
  private requiredPass = 0
  private readonly bucketCounts = new Int32Array(BUCKET_COUNT)
  private readonly topKeys = new Float64Array(MAX_INSERTION_HITS)
  private filter: ((entry: number) => boolean) | undefined

  constructor(entryCount: number) {
    this.foundEntries = new Int32Array(entryCount)
    this.ranks = new Int32Array(entryCount)
    this.candidates = new Int32Array(entryCount)
    this.lastPass = new Int32Array(entryCount)
    this.points = new Float32Array(entryCount)
  }

  reset(filter?: (entry: number) => boolean): void {
    for (let i = 0; i < this.size; i++) this.ranks[this.foundEntries[i]!] = 0
    this.size = 0
    this.bestScore = 0
    this.filter = filter
  }

  /** Starts a new list of candidates: from all skills, or only from the candidates of the pass before (an intersection). */
  startPass(fromAll: boolean): void {
    this.requiredPass = fromAll ? -1 : this.pass
    this.pass++
    this.candidateCount = 0
  }

  /** Adds the skills of a range of postings to the candidates of this pass. */
  collect(entries: Int32Array, from: number, to: number): void {
    const { lastPass, candidates, pass, requiredPass } = this
    let count = this.candidateCount
    for (let at = from; at < to; at++) {
      const entry = entries[at]!
      const lastPassOfEntry = lastPass[entry]!
      if (requiredPass < 0 ? lastPassOfEntry !== pass : lastPassOfEntry === requiredPass) {
        lastPass[entry] = pass
        candidates[count++] = entry
      }
    }
    this.candidateCount = count
  }

  /** Starts to count points for the next word of the query. */
  nextPointsWord(): void {
    this.pass++
  }

  /** Gives points to the skills of a range of postings that have none for this word yet. */
  addPoints(entries: Int32Array, from: number, to: number, points: number): void {
    const { lastPass, candidates, points: sums, pass } = this
    for (let at = from; at < to; at++) {
      const entry = entries[at]!
      if (lastPass[entry] === pass) continue
      lastPass[entry] = pass
      if (sums[entry] === 0) candidates[this.candidateCount++] = entry
      sums[entry]! += points
    }
  }

  /** Visits the skills that have points and resets their points. */
  drainPoints(visit: (entry: number, points: number) => void): void {
    for (let i = 0; i < this.candidateCount; i++) {
      const entry = this.candidates[i]!
      visit(entry, this.points[entry]!)
      this.points[entry] = 0
    }
    this.candidateCount = 0
  }

  /** Adds a hit, or replaces the skill's hit if this one is better. */
  add(entry: number, score: number, length: number): void {
    const rank = ((score * SCORE_STEPS) | 0) * LENGTH_STEPS + (length < LENGTH_STEPS ? LENGTH_STEPS - 1 - length : 0)
    const rankBefore = this.ranks[entry]!
    if (rank <= rankBefore) return
    if (rankBefore === 0) {
      if (this.filter && !this.filter(entry)) return
      this.foundEntries[this.size++] = entry
    }
    this.ranks[entry] = rank
    if (score > this.bestScore) this.bestScore = score
  }

  page(offset: number, limit: number): SearchHit[] {
    return this.mapPage(offset, limit, toHit)
  }

  /** Returns a page with each hit converted by `convert`. */
  mapPage<T>(offset: number, limit: number, convert: (entry: number, score: number) => T): T[] {
    const pageEnd = Math.min(this.size, offset + limit)
    if (pageEnd <= offset) return []
    const keys = pageEnd <= MAX_INSERTION_HITS ? this.insertTop(pageEnd) : this.sortTop(pageEnd)
    const hits: T[] = []
    for (let i = offset; i < pageEnd; i++) {
      const entry = MAX_ENTRY_COUNT - 1 - (-keys[i]! % MAX_ENTRY_COUNT)
      hits.push(convert(entry, Math.floor(this.ranks[entry]! / LENGTH_STEPS) / SCORE_STEPS))
    }
    return hits
  }

  /** Returns the sort keys of the best hits, best (lowest) first, by insertion into a short list. */
  private insertTop(limit: number): Float64Array {
    const { foundEntries, ranks, size, topKeys } = this
    let count = 0
    let worstKey = 0
    for (let i = 0; i < size; i++) {
      const entry = foundEntries[i]!
      const key = sortKey(ranks[entry]!, entry)
      if (count === limit && key > worstKey) continue
      let at = count < limit ? count++ : limit - 1
      for (; at > 0 && topKeys[at - 1]! > key; at--) topKeys[at] = topKeys[at - 1]!
      topKeys[at] = key
      worstKey = topKeys[count - 1]!
    }
    return topKeys
  }

  /** Returns the sort keys of at least `limit` best hits, best (lowest) first. */
  private sortTop(limit: number): Float64Array {
    const { foundEntries, ranks, bucketCounts, size } = this
    const bucketOf = (entry: number) => ((ranks[entry]! / LENGTH_STEPS) * ((BUCKET_COUNT - 1) / SCORE_STEPS)) | 0
    bucketCounts.fill(0)
    for (let i = 0; i < size; i++) bucketCounts[bucketOf(foundEntries[i]!)]!++
    let lowestBucket = BUCKET_COUNT
    let hitCount = 0
    while (hitCount < limit) hitCount += bucketCounts[--lowestBucket]!
    const keys = new Float64Array(hitCount)
    let count = 0
    for (let i = 0; i < size; i++) {
      const entry = foundEntries[i]!
      if (bucketOf(entry) >= lowestBucket) keys[count++] = sortKey(ranks[entry]!, entry)
    }
    return keys.sort()
  }
}

function sortKey(rank: number, entry: number): number {
  return -(rank * MAX_ENTRY_COUNT + (MAX_ENTRY_COUNT - 1 - entry))
}
