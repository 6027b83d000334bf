import { Extractor, type Mention } from './extract/extract.ts'
import { buildMentions } from './extract/mention-builder.ts'
import { buildLabels, type Labels, type SkillEntry } from './labels/labels.ts'
import { buildNearWords } from './labels/near-words.ts'
import { buildPostings } from './labels/postings.ts'
import { buildStanding } from './labels/prior.ts'
import { Ranking } from './labels/ranking.ts'
import type { MatchMethod } from './match/calibration.ts'
import { Matcher, weighStems } from './match/match.ts'
import { buildParaphrases } from './match/paraphrases.ts'
import { Search } from './search/search.ts'
import { runAtOnce, runInSlices, type Stepwise } from './text/time-slicing.ts'

/**
 * The catalogue in memory, for the three things that are asked of it: find a skill by (part of) its name, name the skill a
 * phrase means, list the skills in a text. It is built from all skills at once and never changed; a new catalogue is
 * a new index, built beside the old one.
 */

export interface FoundSkill {
  number: number
  name: string
  /** From 0 to 1. */
  score: number
}

export interface MatchedSkill extends FoundSkill {
  method: MatchMethod
}

export interface ExtractedSkill extends FoundSkill {
  mentions: Mention[]
}

export interface SearchPage {
  offset?: number
  limit?: number
  /** Leaves out the skills for which it is false; asked once a skill. */
  filter?: (number: number) => boolean
}

export class SkillIndex {
  private readonly labels: Labels
  private readonly searcher: Search
  private readonly matcher: Matcher
  private readonly extractor: Extractor

  constructor(labels: Labels, searcher: Search, matcher: Matcher, extractor: Extractor) {
    this.labels = labels
    this.searcher = searcher
    this.matcher = matcher
    this.extractor = extractor
  }

  /** How many skills there are. */
  get size(): number {
    return this.labels.names.length
  }

  /** Skills by name or alias, best first, and how many there are in all. The order depends on the query alone. */
  search(query: string, { offset = 0, limit = 20, filter }: SearchPage = {}): { skills: FoundSkill[]; total: number } {
    const { numbers } = this.labels
    const only = filter && ((entry: number) => filter(numbers[entry]!))
    const { hits, total } = this.searcher.search(query, { offset, limit, filter: only, make: this.found })
    return { skills: hits, total }
  }

  /** Skills that a phrase may mean, likeliest first. A score of 0.8 is right about eight times in ten. */
  match(phrase: string, limit = 3): MatchedSkill[] {
    return this.matcher
      .match(phrase, limit)
      .map(({ entry, score, method }) => ({ ...this.skill(entry, score), method }))
  }

  /** Skills that a text mentions, surest first, with every mention that no longer one covers. */
  extract(text: string, limit = 25): ExtractedSkill[] {
    const { numbers, names } = this.labels
    return this.extractor
      .extract(text, limit)
      .map(({ entry, score, mentions }) => ({ number: numbers[entry]!, name: names[entry]!, score, mentions }))
  }

  private readonly found = (entry: number, score: number) => this.skill(entry, score)

  private skill(entry: number, score: number): FoundSkill {
    return { number: this.labels.numbers[entry]!, name: this.labels.names[entry]!, score }
  }
}

/** Builds the index a few milliseconds at a time, so that a server goes on answering meanwhile. */
export function buildSkillIndex(entries: readonly SkillEntry[], sliceMs?: number): Promise<SkillIndex> {
  return runInSlices(build(entries), sliceMs)
}

/** Builds the index in one go. */
export function buildSkillIndexAtOnce(entries: readonly SkillEntry[]): SkillIndex {
  return runAtOnce(build(entries))
}

/** Skills that came with the product have lower numbers. */
const FIRST_IMPORTED = 1_000_000

function* build(given: readonly SkillEntry[]): Stepwise<SkillIndex> {
  const { entries, labels, gaps } = yield* buildLabels(given)
  const standing = yield* buildStanding(entries)
  const foreign = Uint8Array.from(entries, ({ number, verifiable }) =>
    number >= FIRST_IMPORTED && !verifiable ? 1 : 0,
  )
  const postings = yield* buildPostings(labels, entries)
  const nearWords = yield* buildNearWords(labels.vocabulary)
  const paraphrases = yield* buildParaphrases(labels)
  const weights = yield* weighStems(labels, postings)
  const mentions = yield* buildMentions(labels, gaps, postings, nearWords)
  // Search and match never run at the same time.
  const ranking = new Ranking(labels.names.length)
  return new SkillIndex(
    labels,
    new Search({ labels, postings, nearWords, standing, foreign, ranking }),
    new Matcher(labels, postings, nearWords, paraphrases, weights, ranking, standing),
    new Extractor(labels, mentions, postings),
  )
}
