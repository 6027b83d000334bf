/** A ranked skill. */
export interface SearchHit {
  /** Index of the skill in the sorted entries (labels.ts). */
  entryIndex: number
  score: number
}

const toHit = (entryIndex: number, score: number): SearchHit => ({ entryIndex, score })

/**
 * A packed score is one integer that orders hits by score and then by length of the label: steps of the score * LENGTH_STEPS +
 * (LENGTH_STEPS - 1 - length). Scores are rounded down to steps of 1 / SCORE_STEPS. Lengths are in letters, below LENGTH_STEPS.
 */
const SCORE_STEPS = 10_000
const LENGTH_STEPS = 1024
/** Maximum number of skills: a sort key holds a packed score and an entry index in the 53 bits of an exact integer. */
const MAX_ENTRY_COUNT = 2 ** 26

/** Number of ranges of scores in which hits are counted to select a later page. */
const BUCKET_COUNT = 256

/** A page that ends within this many hits is selected by insertion, a later page by buckets. */
const MAX_INSERTION_HITS = 64

/**
 * The skills found for a query, each with its best score. Equal scores are ordered by the shorter label, then by the lower
 * skill number. A page is selected without sorting all hits. The first pages are selected by insertion. For later pages, hits
 * are counted in buckets by score, and only the buckets down to the end of the page are sorted.
 *
 * It also collects candidates, the skills that are still to be scored. A pass collects the skills of one or more posting lists,
 * each skill once. One instance is reused for all queries, so that a query does not allocate arrays of the size of the
 * catalogue.
 */
export class Ranking {
  size = 0
  bestScore = 0
  /** The entry indexes of the skills that have a hit, in the order in which they were found. */
  private readonly foundEntryIndexes: Int32Array
  /** By entry index: the packed score of the skill's best hit, or 0 if it has no hit. */
  private readonly packedScores: Int32Array
  /** The entry indexes collected in the current pass, or those that have points; the first `candidateCount` items. */
  readonly candidates: Int32Array
  candidateCount = 0
  /** By entry index: the last pass that collected the skill or gave it points, so that a pass counts each skill once. */
  private readonly lastPasses: Int32Array
  /** By entry index: the sum of the skill's points over the words of the query. */
  private readonly points: Float32Array
  private pass = 0
  /** The pass whose candidates the current pass may collect, or -1 for all skills. */
  private requiredPass = 0
  private readonly bucketCounts = new Int32Array(BUCKET_COUNT)
  private readonly topKeys = new Float64Array(MAX_INSERTION_HITS)
  private filter: ((entryIndex: number) => boolean) | undefined

  constructor(entryCount: number) {
    this.foundEntryIndexes = new Int32Array(entryCount)
    this.packedScores = new Int32Array(entryCount)
    this.candidates = new Int32Array(entryCount)
    this.lastPasses = new Int32Array(entryCount)
    this.points = new Float32Array(entryCount)
  }

  /** Removes all hits. Only skills that pass the filter become hits of the next query. */
  reset(filter?: (entryIndex: number) => boolean): void {
    for (let i = 0; i < this.size; i++) this.packedScores[this.foundEntryIndexes[i]!] = 0
    this.size = 0
    this.bestScore = 0
    this.filter = filter
  }

  /**
   * Starts a new list of candidates. If `fromAll` is false, only candidates of the previous pass can be collected again, which
   * intersects the two lists.
   */
  startPass(fromAll: boolean): void {
    this.requiredPass = fromAll ? -1 : this.pass
    this.pass++
    this.candidateCount = 0
  }

  /** Adds the skills of the postings `from` up to `to` to the candidates of this pass. */
  collect(entryIndexes: Int32Array, from: number, to: number): void {
    const { lastPasses, candidates, pass, requiredPass } = this
    let count = this.candidateCount
    for (let at = from; at < to; at++) {
      const entryIndex = entryIndexes[at]!
      const lastPassOfSkill = lastPasses[entryIndex]!
      if (requiredPass < 0 ? lastPassOfSkill !== pass : lastPassOfSkill === requiredPass) {
        lastPasses[entryIndex] = pass
        candidates[count++] = entryIndex
      }
    }
    this.candidateCount = count
  }

  /** Starts the points of the next word of the query. Each skill gets points once per word. */
  startNextQueryWord(): void {
    this.pass++
  }

  /** Adds points to the skills of the postings `from` up to `to` that have no points for this word yet. */
  addPoints(entryIndexes: Int32Array, from: number, to: number, points: number): void {
    const { lastPasses, candidates, points: sums, pass } = this
    for (let at = from; at < to; at++) {
      const entryIndex = entryIndexes[at]!
      if (lastPasses[entryIndex] === pass) continue
      lastPasses[entryIndex] = pass
      if (sums[entryIndex] === 0) candidates[this.candidateCount++] = entryIndex
      sums[entryIndex]! += points
    }
  }

  /** Visits the skills that have points and resets their points. */
  drainPoints(visit: (entryIndex: number, points: number) => void): void {
    for (let i = 0; i < this.candidateCount; i++) {
      const entryIndex = this.candidates[i]!
      visit(entryIndex, this.points[entryIndex]!)
      this.points[entryIndex] = 0
    }
    this.candidateCount = 0
  }

  /** Adds a hit, or replaces the skill's hit if this one is better. `length` is the number of letters of the matched label. */
  add(entryIndex: number, score: number, length: number): void {
    const packedScore =
      ((score * SCORE_STEPS) | 0) * LENGTH_STEPS + (length < LENGTH_STEPS ? LENGTH_STEPS - 1 - length : 0)
    const packedScoreBefore = this.packedScores[entryIndex]!
    if (packedScore <= packedScoreBefore) return
    if (packedScoreBefore === 0) {
      if (this.filter && !this.filter(entryIndex)) return
      this.foundEntryIndexes[this.size++] = entryIndex
    }
    this.packedScores[entryIndex] = packedScore
    if (score > this.bestScore) this.bestScore = score
  }

  page(offset: number, limit: number): SearchHit[] {
    return this.mapPage(offset, limit, toHit)
  }

  /** Returns a page with each hit converted by `convert`. */
  mapPage<T>(offset: number, limit: number, convert: (entryIndex: number, score: number) => T): T[] {
    const pageEnd = Math.min(this.size, offset + limit)
    if (pageEnd <= offset) return []
    const keys = pageEnd <= MAX_INSERTION_HITS ? this.selectByInsertion(pageEnd) : this.selectByBuckets(pageEnd)
    const hits: T[] = []
    for (let i = offset; i < pageEnd; i++) {
      const entryIndex = MAX_ENTRY_COUNT - 1 - (-keys[i]! % MAX_ENTRY_COUNT)
      hits.push(convert(entryIndex, Math.floor(this.packedScores[entryIndex]! / LENGTH_STEPS) / SCORE_STEPS))
    }
    return hits
  }

  /** Returns the sort keys of the `limit` best hits, lowest (best) first, by insertion into a sorted list. */
  private selectByInsertion(limit: number): Float64Array {
    const { foundEntryIndexes, packedScores, size, topKeys } = this
    let count = 0
    let worstKey = 0
    for (let i = 0; i < size; i++) {
      const entryIndex = foundEntryIndexes[i]!
      const key = sortKey(packedScores[entryIndex]!, entryIndex)
      if (count === limit && key > worstKey) continue
      let at = count < limit ? count++ : limit - 1
      for (; at > 0 && topKeys[at - 1]! > key; at--) topKeys[at] = topKeys[at - 1]!
      topKeys[at] = key
      worstKey = topKeys[count - 1]!
    }
    return topKeys
  }

  /**
   * Returns the sort keys of at least the `limit` best hits, lowest (best) first. Takes all hits of a bucket, from the highest
   * bucket down, until there are `limit` hits.
   */
  private selectByBuckets(limit: number): Float64Array {
    const { foundEntryIndexes, packedScores, bucketCounts, size } = this
    const bucketOf = (entryIndex: number) =>
      ((packedScores[entryIndex]! / LENGTH_STEPS) * ((BUCKET_COUNT - 1) / SCORE_STEPS)) | 0
    bucketCounts.fill(0)
    for (let i = 0; i < size; i++) bucketCounts[bucketOf(foundEntryIndexes[i]!)]!++
    let lowestBucket = BUCKET_COUNT
    let hitCount = 0
    while (hitCount < limit) hitCount += bucketCounts[--lowestBucket]!
    const keys = new Float64Array(hitCount)
    let count = 0
    for (let i = 0; i < size; i++) {
      const entryIndex = foundEntryIndexes[i]!
      if (bucketOf(entryIndex) >= lowestBucket) keys[count++] = sortKey(packedScores[entryIndex]!, entryIndex)
    }
    return keys.sort()
  }
}

/** Returns a number that is lower for a better hit and contains its entry index. */
function sortKey(packedScore: number, entryIndex: number): number {
  return -(packedScore * MAX_ENTRY_COUNT + (MAX_ENTRY_COUNT - 1 - entryIndex))
}
