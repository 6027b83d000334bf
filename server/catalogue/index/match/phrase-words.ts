import type { Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import { functionWords, genericWords, particles, praiseWords, stopWords } from '../lexicon/lexicon.ts'
import { stemOf } from '../lexicon/stems.ts'
import { isDevanagari } from '../text/phonetics.ts'
import { isEnglishWord } from '../vectors/word-vectors.ts'
import { isApplicantWord } from './applicant-words.ts'
import type { Paraphrases, SimilarStem } from './paraphrases.ts'

/** Parts of a packed similarity. The low seven bits are the similarity in percent. */
export const SIMILARITY_MASK = 0x7f
/** Flag: the stem is a synonym of the word, not another form of it. */
export const IS_SYNONYM = 0x80

/** Similarities of a word of the phrase and a stem of the catalogue. Homophones are words that sound alike. */
const SAME_STEM_SIMILARITY_PERCENT = 100
const HOMOPHONE_SIMILARITY_PERCENT = 84
const ONE_TYPO_SIMILARITY_PERCENT = 80
/** Subtracted for each typo after the first. */
const EXTRA_TYPO_PENALTY_PERCENT = 10

/**
 * The weight of a word that hardly identifies a skill is multiplied by its factor: praise ("excellent"), generic ("process"),
 * function ("can").
 */
const PRAISE_WEIGHT_FACTOR = 0.25
const GENERIC_WORD_WEIGHT_FACTOR = 0.6
const FUNCTION_WORD_WEIGHT_FACTOR = 0.05

const praiseStems = new Set(Array.from(praiseWords, stemOf))
const genericStems = new Set(Array.from(genericWords, stemOf))
const stopStems = new Set(Array.from(stopWords, stemOf))

/** A word of a phrase with the similar stems of the catalogue. */
export interface PhraseWord {
  /** Weight of the word, from its inverse document frequency: a rare word has a higher weight. */
  weight: number
  similarStems: readonly SimilarStem[]
}

/** Number of words whose similar stems are kept. Phrases repeat most of their words. */
const MAX_CACHED_WORDS = 4096

/** Finds the similar stems of words, and keeps them for later phrases. */
export class PhraseWords {
  private readonly labels: Labels
  private readonly paraphrases: Paraphrases
  private readonly nearWords: NearWords
  /** By stem number: the weight of the stem. */
  private readonly stemWeights: Float32Array
  private readonly cache = new Map<string, PhraseWord>()

  constructor(labels: Labels, paraphrases: Paraphrases, nearWords: NearWords, stemWeights: Float32Array) {
    this.labels = labels
    this.paraphrases = paraphrases
    this.nearWords = nearWords
    this.stemWeights = stemWeights
  }

  get(word: string): PhraseWord {
    const cachedWord = this.cache.get(word)
    if (cachedWord) return cachedWord
    const phraseWord = this.compare(word)
    if (this.cache.size >= MAX_CACHED_WORDS) this.cache.delete(this.cache.keys().next().value!)
    this.cache.set(word, phraseWord)
    return phraseWord
  }

  /** Compares a word with the stems of the catalogue. A correct English word is not taken for a misspelling of another word. */
  private compare(word: string): PhraseWord {
    const { labels, nearWords } = this
    const { vocabulary } = labels
    const similarStems: SimilarStem[] = []
    const add = (stem: number, similarity: number, isSynonym: boolean) => {
      if (!similarStems.some((other) => other.stem === stem)) similarStems.push({ stem, similarity, isSynonym })
    }
    const stem = stemOf(word)
    const stemNumber = vocabulary.findStem(stem)
    if (functionWords.has(word)) {
      // A function word matches only the same word, not another form or spelling: "can" does not match "canning".
      if (vocabulary.find(word) >= 0) add(stemNumber, SAME_STEM_SIMILARITY_PERCENT, false)
      return { weight: FUNCTION_WORD_WEIGHT_FACTOR * stemWeight(stem, 0, labels.names.length), similarStems }
    }
    if (stemNumber >= 0) add(stemNumber, SAME_STEM_SIMILARITY_PERCENT, false)
    for (const { stem: similarStem, similarity, isSynonym } of this.paraphrases.similarStemsOf(stem))
      add(similarStem, similarity, isSynonym)
    if (isDevanagari(word) || (stemNumber < 0 && !isEnglishWord(word))) {
      nearWords.findHomophones(word, (wordNumber) =>
        add(vocabulary.stems[wordNumber]!, HOMOPHONE_SIMILARITY_PERCENT, false),
      )
      nearWords.findTransliterated(word, (wordNumber) =>
        add(vocabulary.stems[wordNumber]!, HOMOPHONE_SIMILARITY_PERCENT, false),
      )
      if (similarStems.length === 0)
        nearWords.findTypos(word, (wordNumber, edits) =>
          add(
            vocabulary.stems[wordNumber]!,
            ONE_TYPO_SIMILARITY_PERCENT - EXTRA_TYPO_PENALTY_PERCENT * (edits - 1),
            false,
          ),
        )
    }
    const weight = stemNumber >= 0 ? this.stemWeights[stemNumber]! : stemWeight(stem, 0, labels.names.length)
    return { weight, similarStems }
  }
}

/** Whether the phrase contains no word that could identify a skill. */
export function isStopPhrase(words: readonly string[]): boolean {
  return words.every(
    (word) =>
      stopWords.has(word) ||
      functionWords.has(word) ||
      particles.has(word) ||
      isApplicantWord(word) ||
      praiseStems.has(stemOf(word)),
  )
}

/**
 * Returns the inverse document frequency of a stem that `skillCount` of `totalSkills` skills contain. Lower for words that hardly
 * identify a skill.
 */
export function stemWeight(stem: string, skillCount: number, totalSkills: number): number {
  if (stopStems.has(stem)) return 0
  const weight = Math.log(1 + totalSkills / (1 + skillCount))
  return praiseStems.has(stem)
    ? weight * PRAISE_WEIGHT_FACTOR
    : genericStems.has(stem)
      ? weight * GENERIC_WORD_WEIGHT_FACTOR
      : weight
}
