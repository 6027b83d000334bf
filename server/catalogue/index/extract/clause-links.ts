import type { Matcher } from '../match/match.ts'

/** A skill that a clause means. */
export interface ClauseLink {
  /** Index of the skill in the sorted entries (labels.ts); -1 if the clause matches no skill. */
  entryIndex: number
  score: number
}

/** Number of clauses whose skills are kept. Advertisements repeat many clauses. */
const MAX_CACHED_CLAUSES = 4096

const NO_LINK: ClauseLink = { entryIndex: -1, score: 0 }

/** Finds the skill that a clause means with `match`, and keeps the results for the clauses of later texts. */
export class ClauseLinks {
  private readonly matcher: Matcher
  private readonly cache = new Map<string, ClauseLink>()

  constructor(matcher: Matcher) {
    this.matcher = matcher
  }

  /** Returns the skill that the clause means if it is in the cache. */
  cached(clause: string): ClauseLink | undefined {
    return this.cache.get(clause)
  }

  link(clause: string): ClauseLink {
    const cachedLink = this.cache.get(clause)
    if (cachedLink) return cachedLink
    const [match] = this.matcher.match(clause, 1)
    const link = match ? { entryIndex: match.entryIndex, score: match.score } : NO_LINK
    if (this.cache.size >= MAX_CACHED_CLAUSES) this.cache.delete(this.cache.keys().next().value!)
    this.cache.set(clause, link)
    return link
  }
}
