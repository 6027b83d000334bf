import type { Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import { functionWords, genericWords, particles, praiseWords, stopWords } from '../lexicon/lexicon.ts'
import { stemOf } from '../lexicon/stems.ts'
import { isApplicantWord } from './applicant-words.ts'
import type { Paraphrases, SimilarStem } from './paraphrases.ts'

/** Parts of a mark: the similarity in hundredths, and a flag for a synonym as opposed to another form of the word. */
export const SIMILARITY_MASK = 0x7f
export const IS_SYNONYM = 0x80

/** Similarities in hundredths. */
const SAME_STEM_SIMILARITY = 100
const HOMOPHONE_SIMILARITY = 84
const ONE_TYPO_SIMILARITY = 80
const FURTHER_TYPO_PENALTY = 10

/** Factors of the weight of words that say little about the skill: "excellent", "work", "can". */
const PRAISE_FACTOR = 0.25
const GENERIC_FACTOR = 0.6
const FUNCTION_WORD_FACTOR = 0.05

const praiseStems = new Set(Array.from(praiseWords, stemOf))
const genericStems = new Set(Array.from(genericWords, stemOf))
const stopStems = new Set(Array.from(stopWords, stemOf))

/** A word of a phrase with the stems of the catalogue that it may stand for. */
export class PhraseWord {
  /** Inverse document frequency: rare words weigh more. */
  weight = 0
  similarStems: SimilarStem[] = []
  /** By stem: similarity in hundredths, and IS_SYNONYM. */
  readonly marks: Uint8Array

  constructor(stemCount: number) {
    this.marks = new Uint8Array(stemCount)
  }

  lookUp(word: string, labels: Labels, paraphrases: Paraphrases, nearWords: NearWords, weights: Float32Array): void {
    const { vocabulary } = labels
    this.clear()
    const stem = stemOf(word)
    const stemNumber = vocabulary.findStem(stem)
    if (functionWords.has(word)) {
      // A function word matches only itself, in no other form or spelling.
      if (vocabulary.find(word) >= 0) this.add(stemNumber, SAME_STEM_SIMILARITY, false)
      this.weight = FUNCTION_WORD_FACTOR * stemWeight(stem, 0, labels.names.length)
      return
    }
    if (stemNumber >= 0) this.add(stemNumber, SAME_STEM_SIMILARITY, false)
    for (const { stem: other, similarity, isSynonym } of paraphrases.similarStemsOf(stem))
      this.add(other, similarity, isSynonym)
    if (stemNumber < 0) {
      nearWords.findHomophones(word, (near) => this.add(vocabulary.stems[near]!, HOMOPHONE_SIMILARITY, false))
      if (this.similarStems.length === 0)
        nearWords.findTypos(word, (near, edits) =>
          this.add(vocabulary.stems[near]!, ONE_TYPO_SIMILARITY - FURTHER_TYPO_PENALTY * (edits - 1), false),
        )
    }
    this.weight = stemNumber >= 0 ? weights[stemNumber]! : stemWeight(stem, 0, labels.names.length)
  }

  clear(): void {
    for (const { stem } of this.similarStems) this.marks[stem] = 0
    this.similarStems = []
  }

  private add(stem: number, similarity: number, isSynonym: boolean): void {
    if (this.marks[stem]) return
    this.marks[stem] = isSynonym ? similarity | IS_SYNONYM : similarity
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

/** Returns the weight of a stem that occurs in `skills` of `total` skills. */
export function stemWeight(stem: string, skillCount: number, totalSkills: number): number {
  if (stopStems.has(stem)) return 0
  const weight = Math.log(1 + totalSkills / (1 + skillCount))
  return praiseStems.has(stem) ? weight * PRAISE_FACTOR : genericStems.has(stem) ? weight * GENERIC_FACTOR : weight
}
