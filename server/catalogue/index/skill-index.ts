import { Extractor, type Mention } from './extract/extract.ts'
import { buildMentionFinder } from './extract/mention-builder.ts'
import { buildLabels, type Labels, type SkillEntry } from './labels/labels.ts'
import { buildNearWords } from './labels/near-words.ts'
import { buildPostings } from './labels/postings.ts'
import { buildPriors } from './labels/prior.ts'
import { Ranking } from './labels/ranking.ts'
import type { MatchMethod } from './match/calibration.ts'
import { buildStemWeights, Matcher } from './match/match.ts'
import { buildParaphrases } from './match/paraphrases.ts'
import { Search } from './search/search.ts'
import { runInSlices, runSync, type SlicedTask } from './text/time-slicing.ts'

/**
 * The catalogue in memory, with three operations: find skills by (part of) their name, match a phrase with the skills that it may
 * mean, and extract the skills that a text mentions. An index is immutable: a changed catalogue gets a new index, which is built
 * while the old one is in use.
 */

export interface FoundSkill {
  number: number
  name: string
  /** How well the skill matches, from 0 to 1. */
  score: number
}

export interface MatchedSkill extends FoundSkill {
  method: MatchMethod
}

export interface ExtractedSkill extends FoundSkill {
  mentions: Mention[]
}

export interface SearchPageOptions {
  offset?: number
  limit?: number
  /** Excludes the skills for which it returns false; called once per skill. */
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

  /** Number of skills in the index. */
  get size(): number {
    return this.labels.names.length
  }

  /** Finds skills by name or alias, best first, with their total number. The order depends only on the query. */
  search(
    query: string,
    { offset = 0, limit = 20, filter }: SearchPageOptions = {},
  ): { skills: FoundSkill[]; total: number } {
    const { numbers } = this.labels
    const entryFilter = filter && ((entry: number) => filter(numbers[entry]!))
    const { hits, total } = this.searcher.search(query, {
      offset,
      limit,
      filter: entryFilter,
      convert: this.toFoundSkill,
    })
    return { skills: hits, total }
  }

  /** Returns the skills that a phrase may mean, likeliest first. A score of 0.8 is right about eight times in ten. */
  match(phrase: string, limit = 3): MatchedSkill[] {
    return this.matcher
      .match(phrase, limit)
      .map(({ entry, score, method }) => ({ ...this.toFoundSkill(entry, score), method }))
  }

  /** Returns the skills that a text mentions, highest score first, each with its mentions; of overlapping mentions the longest. */
  extract(text: string, limit = 25): ExtractedSkill[] {
    const { numbers, names } = this.labels
    return this.extractor
      .extract(text, limit)
      .map(({ entry, score, mentions }) => ({ number: numbers[entry]!, name: names[entry]!, score, mentions }))
  }

  private readonly toFoundSkill = (entry: number, score: number): FoundSkill => ({
    number: this.labels.numbers[entry]!,
    name: this.labels.names[entry]!,
    score,
  })
}

/** Builds the index in slices of a few milliseconds, so that the server can respond to requests in the meantime. */
export function buildSkillIndex(entries: readonly SkillEntry[], sliceMs?: number): Promise<SkillIndex> {
  return runInSlices(buildIndex(entries), sliceMs)
}

/** Builds the index without interruption. */
export function buildSkillIndexSync(entries: readonly SkillEntry[]): SkillIndex {
  return runSync(buildIndex(entries))
}

/** Lowest number of an imported skill. Built-in skills have lower numbers. */
const FIRST_IMPORTED_NUMBER = 1_000_000

function* buildIndex(unsortedEntries: readonly SkillEntry[]): SlicedTask<SkillIndex> {
  const { entries, labels, gaps } = yield* buildLabels(unsortedEntries)
  const priors = yield* buildPriors(entries)
  const importedOnly = Uint8Array.from(entries, ({ number, verifiable }) =>
    number >= FIRST_IMPORTED_NUMBER && !verifiable ? 1 : 0,
  )
  const postings = yield* buildPostings(labels, entries)
  const nearWords = yield* buildNearWords(labels.vocabulary)
  const paraphrases = yield* buildParaphrases(labels)
  const weights = yield* buildStemWeights(labels, postings)
  const mentionFinder = yield* buildMentionFinder(labels, gaps, postings, nearWords)
  // Search and match never run at the same time, so they share one ranking.
  const ranking = new Ranking(labels.names.length)
  return new SkillIndex(
    labels,
    new Search({ labels, postings, nearWords, priors, importedOnly, ranking }),
    new Matcher(labels, postings, nearWords, paraphrases, weights, ranking, priors),
    new Extractor(labels, mentionFinder, postings),
  )
}
