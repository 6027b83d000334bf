import { ClauseLinks } from './extract/clause-links.ts'
import { type ExtractedEntry, Extractor, type Mention, type MentionExample } from './extract/extract.ts'
import { type LabelMention, LabelMentionFinder } from './extract/label-mentions.ts'
import { buildMentionFinder } from './extract/mention-builder.ts'
import type { MentionFinder } from './extract/mention-finder.ts'
import type { SkillGroups } from './extract/mention-probability.ts'
import type { Requirement } from './extract/requirement-words.ts'
import { spanModel } from './extract/spans/span-model.ts'
import { SpanTagger } from './extract/spans/span-tagger.ts'
import { buildLabels, FIRST_IMPORTED_NUMBER, type Labels, type SkillEntry } from './labels/labels.ts'
import { buildNearWords, type NearWords } from './labels/near-words.ts'
import { buildPostings, type Postings } from './labels/postings.ts'
import { buildPriors } from './labels/prior.ts'
import { Ranking } from './labels/ranking.ts'
import { buildSkillWords } from './labels/skill-words.ts'
import type { Candidate, MatchMethod } from './match/candidate.ts'
import { buildLabelOverlaps, type LabelOverlaps } from './match/label-overlaps.ts'
import { buildStemWeights, Matcher } from './match/match.ts'
import { buildParaphrases, type Paraphrases } from './match/paraphrases.ts'
import { PhraseWords } from './match/phrase-words.ts'
import { Search } from './search/search.ts'
import { runInSlices, runSync, type SlicedTask } from './text/time-slicing.ts'
import { buildLabelVectors, type LabelVectors } from './vectors/label-vectors.ts'
import { wordVectors } from './vectors/word-vectors.ts'

/**
 * The index of the catalogue, in memory. It has three operations: search for skills by name or part of a name, match a phrase with
 * the skills that it may mean, and extract the skills that a text mentions. An index is immutable. When the catalogue changes, a
 * new index is built while the old one stays in use.
 */

export interface FoundSkill {
  /** N of `sk_N`. */
  number: number
  name: string
  /** How well the skill matches, from 0 to 1. */
  score: number
}

export interface MatchedSkill extends FoundSkill {
  method: MatchMethod
}

export interface ExtractedSkill extends FoundSkill {
  /** Whether the text requires the skill, prefers it, or states that it is not required. */
  requirement: Requirement
  mentions: Mention[]
}

export interface SearchPageOptions {
  offset?: number
  limit?: number
  /** Excludes the skills for which it returns false. `number` is N of `sk_N`. */
  filter?: (number: number) => boolean
}

/**
 * Everything that an index consists of. It is built from the catalogue, does not change, and can be stored (stored-parts.ts). It contains no
 * query and no text.
 */
export interface IndexParts {
  labels: Labels
  priors: Uint8Array
  /** By entry index: 1 for a skill of an imported taxonomy that is not preferred. */
  isOrdinaryImport: Uint8Array
  groups: SkillGroups
  postings: Postings
  nearWords: NearWords
  paraphrases: Paraphrases
  stemWeights: Float32Array
  labelOverlaps: LabelOverlaps
  labelVectors: LabelVectors
  mentionFinder: MentionFinder
}

export class SkillIndex {
  readonly parts: IndexParts
  private readonly labels: Labels
  private readonly searcher: Search
  private readonly matcher: Matcher
  private readonly extractor: Extractor

  constructor(parts: IndexParts) {
    const { labels, priors, isOrdinaryImport, groups, postings, nearWords } = parts
    this.parts = parts
    this.labels = labels
    const ranking = new Ranking(labels.names.length)
    const phraseWords = new PhraseWords(labels, parts.paraphrases, nearWords, parts.stemWeights)
    this.searcher = new Search({ labels, postings, nearWords, priors, isOrdinaryImport, ranking })
    this.matcher = new Matcher(labels, postings, phraseWords, parts.labelOverlaps, priors, parts.labelVectors)
    let tagger: SpanTagger | undefined
    this.extractor = new Extractor({
      labelMentions: new LabelMentionFinder(labels, parts.mentionFinder, postings),
      // Created by the first extraction: it takes 15 ms and 3.5 MB, and a server may not get any.
      get tagger() {
        tagger ??= new SpanTagger(spanModel())
        return tagger
      },
      clauseLinks: new ClauseLinks(this.matcher),
      isOrdinaryImport,
      groups,
    })
  }

  /** Number of skills in the index. */
  get size(): number {
    return this.labels.names.length
  }

  /**
   * Finds skills by name or alias. Returns one page, best match first, and the total number of hits. The order depends only on
   * the query.
   */
  search(
    query: string,
    { offset = 0, limit = 20, filter }: SearchPageOptions = {},
  ): { skills: FoundSkill[]; total: number } {
    const { numbers } = this.labels
    const entryFilter = filter && ((entryIndex: number) => filter(numbers[entryIndex]!))
    const { hits, total } = this.searcher.search(query, {
      offset,
      limit,
      filter: entryFilter,
      convert: this.toFoundSkill,
    })
    return { skills: hits, total }
  }

  /** Returns the skills that a phrase may mean, most likely first. Of the matches with a score of 0.8, about 80 % are correct. */
  match(phrase: string, limit = 3): MatchedSkill[] {
    return this.matcher
      .match(phrase, limit)
      .map(({ entryIndex, score, method }) => ({ ...this.toFoundSkill(entryIndex, score), method }))
  }

  /**
   * Returns the skills that a text mentions, highest score first, each with its mentions. The mentions of one skill do not overlap.
   * Mentions of two skills overlap if a clause that describes one skill contains the name of another.
   */
  extract(text: string, limit = 25): ExtractedSkill[] {
    return this.extractor.extract(text, limit).map(this.toExtractedSkill)
  }

  /** The same as `extract`, in time slices of `sliceMs` milliseconds. Between two slices, the server can process requests. */
  async extractInSlices(text: string, limit = 25, sliceMs?: number): Promise<ExtractedSkill[]> {
    return (await this.extractor.extractInSlices(text, limit, sliceMs)).map(this.toExtractedSkill)
  }

  /** Returns the labels of the catalogue that a text contains. Used to train the span tagger. */
  labelsIn(text: string): LabelMention[] {
    return this.extractor.labelsIn(text)
  }

  /** Returns the mentions of built-in skills in a text, with the features of their probabilities. Used to train mention-probability.ts. */
  mentionExamples(text: string): MentionExample[] {
    return this.extractor.examplesIn(text)
  }

  /** Returns all skills that a phrase may mean, in any order. Used to train the reranker. */
  matchCandidates(phrase: string): Candidate[] {
    return this.matcher.findCandidates(phrase)
  }

  /** Returns N of `sk_N` for the index of a skill in the sorted entries. */
  numberOf(entryIndex: number): number {
    return this.labels.numbers[entryIndex]!
  }

  private readonly toFoundSkill = (entryIndex: number, score: number): FoundSkill => ({
    number: this.labels.numbers[entryIndex]!,
    name: this.labels.names[entryIndex]!,
    score,
  })

  private readonly toExtractedSkill = ({ entryIndex, ...extracted }: ExtractedEntry): ExtractedSkill => ({
    number: this.labels.numbers[entryIndex]!,
    name: this.labels.names[entryIndex]!,
    ...extracted,
  })
}

/** Builds the index in time slices of `sliceMs` milliseconds. Between two slices, the server can process requests. */
export function buildSkillIndex(entries: readonly SkillEntry[], sliceMs?: number): Promise<SkillIndex> {
  return runInSlices(buildIndex(entries), sliceMs)
}

/** Builds the index without interruption, for tests and benchmarks. */
export function buildSkillIndexSync(entries: readonly SkillEntry[]): SkillIndex {
  return runSync(buildIndex(entries))
}

function* buildIndex(unsortedEntries: readonly SkillEntry[]): SlicedTask<SkillIndex> {
  const { entries, labels, gaps } = yield* buildLabels(unsortedEntries)
  const priors = yield* buildPriors(entries)
  const isOrdinaryImport = Uint8Array.from(entries, ({ number, isPreferred }) =>
    number >= FIRST_IMPORTED_NUMBER && !isPreferred ? 1 : 0,
  )
  const groups = {
    subSkills: Int32Array.from(entries, ({ number, sub }) => (number < FIRST_IMPORTED_NUMBER && sub?.number) || 0),
    masters: Int32Array.from(entries, ({ number, sub }) => (number < FIRST_IMPORTED_NUMBER && sub?.master.number) || 0),
  }
  const postings = yield* buildPostings(labels, entries)
  const nearWords = yield* buildNearWords(labels.vocabulary)
  const paraphrases = yield* buildParaphrases(labels)
  const stemWeights = yield* buildStemWeights(labels, postings)
  const skillWords = yield* buildSkillWords(labels, postings)
  const labelOverlaps = yield* buildLabelOverlaps(labels, skillWords, stemWeights)
  const labelVectors = yield* buildLabelVectors(labels, postings, skillWords, wordVectors())
  const mentionFinder = yield* buildMentionFinder(labels, gaps, postings, nearWords)
  return new SkillIndex({
    labels,
    priors,
    isOrdinaryImport,
    groups,
    postings,
    nearWords,
    paraphrases,
    stemWeights,
    labelOverlaps,
    labelVectors,
    mentionFinder,
  })
}
