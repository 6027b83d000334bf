import type { Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import { functionWords, genericWords, particles, praiseWords, stopWords } from '../lexicon/lexicon.ts'
import { stemOf } from '../lexicon/stems.ts'
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
export class PhraseWord {
  /** Weight of the word, from its inverse document frequency: a rare word has a higher weight. */
  weight = 0
  similarStems: SimilarStem[] = []
  /** By stem number: the similarity in percent, combined with IS_SYNONYM. 0 if the stem is not similar. */
  readonly packedSimilarities: Uint8Array

  constructor(stemCount: number) {
    this.packedSimilarities = new Uint8Array(stemCount)
  }

  /**
   * Sets the word and finds the similar stems of the catalogue. `stemWeights` has the weights of all stems, by stem number. A correct
   * English word is not taken for a misspelling of another word.
   */
  findSimilarStems(
    word: string,
    labels: Labels,
    paraphrases: Paraphrases,
    nearWords: NearWords,
    stemWeights: Float32Array,
  ): void {
    const { vocabulary } = labels
    this.clear()
    const stem = stemOf(word)
    const stemNumber = vocabulary.findStem(stem)
    if (functionWords.has(word)) {
      // A function word matches only the same word, not another form or spelling: "can" does not match "canning".
      if (vocabulary.find(word) >= 0) this.add(stemNumber, SAME_STEM_SIMILARITY_PERCENT, false)
      this.weight = FUNCTION_WORD_WEIGHT_FACTOR * stemWeight(stem, 0, labels.names.length)
      return
    }
    if (stemNumber >= 0) this.add(stemNumber, SAME_STEM_SIMILARITY_PERCENT, false)
    for (const { stem: similarStem, similarity, isSynonym } of paraphrases.similarStemsOf(stem))
      this.add(similarStem, similarity, isSynonym)
    if (stemNumber < 0 && !isEnglishWord(word)) {
      nearWords.findHomophones(word, (wordNumber) =>
        this.add(vocabulary.stems[wordNumber]!, HOMOPHONE_SIMILARITY_PERCENT, false),
      )
      if (this.similarStems.length === 0)
        nearWords.findTypos(word, (wordNumber, edits) =>
          this.add(
            vocabulary.stems[wordNumber]!,
            ONE_TYPO_SIMILARITY_PERCENT - EXTRA_TYPO_PENALTY_PERCENT * (edits - 1),
            false,
          ),
        )
    }
    this.weight = stemNumber >= 0 ? stemWeights[stemNumber]! : stemWeight(stem, 0, labels.names.length)
  }

  clear(): void {
    for (const { stem } of this.similarStems) this.packedSimilarities[stem] = 0
    this.similarStems = []
  }

  private add(stem: number, similarity: number, isSynonym: boolean): void {
    if (this.packedSimilarities[stem]) return
    this.packedSimilarities[stem] = isSynonym ? similarity | IS_SYNONYM : similarity
    this.similarStems.push({ stem, similarity, isSynonym })
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
