import type { Matcher } from '../match/match.ts'

/** A skill that a clause may mean. */
export interface ClauseLink {
  /** Index of the skill in the sorted entries (labels.ts). */
  entryIndex: number
  score: number
}

/** Number of clauses whose skills are kept. Advertisements repeat many clauses. */
const MAX_CACHED_CLAUSES = 4096
/** Number of skills that are kept for a clause. */
const MAX_LINKS = 10

/** Finds the skills that a clause may mean with `match`, and keeps the results for the clauses of later texts. */
export class ClauseLinks {
  private readonly matcher: Matcher
  private readonly cache = new Map<string, readonly ClauseLink[]>()

  constructor(matcher: Matcher) {
    this.matcher = matcher
  }

  /** Returns the skills that the clause may mean if they are in the cache. */
  cached(clause: string): readonly ClauseLink[] | undefined {
    return this.cache.get(clause)
  }

  /** Returns the skills that the clause may mean, best match first. */
  find(clause: string): readonly ClauseLink[] {
    const cachedLinks = this.cache.get(clause)
    if (cachedLinks) return cachedLinks
    const links = this.matcher.match(clause, MAX_LINKS).map(({ entryIndex, score }) => ({ entryIndex, score }))
    if (this.cache.size >= MAX_CACHED_CLAUSES) this.cache.delete(this.cache.keys().next().value!)
    this.cache.set(clause, links)
    return links
  }
}
