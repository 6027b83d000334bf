import type { Labels } from '../labels/labels.ts'
import type { NearWords } from '../labels/near-words.ts'
import { isOfThePerson } from '../lexicon/applicant-words.ts'
import { functionWords, particles } from '../lexicon/filler-words.ts'
import { praise, roundings, stopWords } from '../lexicon/thesaurus.ts'
import { stemOf } from '../text/stems.ts'
import type { Likeness, Paraphrases } from './paraphrases.ts'

/** Marks a likeness in meaning, as against another form or spelling of the word. */
export const IN_MEANING = 0x80
export const LIKENESS = 0x7f

const SAME = 100
const ALMOST = 80
const SOUND = 84

const PRAISE_WEIGHT = 0.25
const ROUNDING_WEIGHT = 0.6
const FUNCTION_WEIGHT = 0.05

const praiseStems = new Set(praise.map(stemOf))
const roundingStems = new Set(roundings.map(stemOf))
const stopStems = new Set(Array.from(stopWords, stemOf))

/** A word of a phrase, and the stems of the catalogue it may stand for. */
export class PhraseWord {
  /** What the word weighs: the rarer, the more. */
  weight = 0
  likes: Likeness[] = []
  /** The catalogue holds the word itself. */
  known = false
  /** By stem: hundredths of likeness, and IN_MEANING. */
  readonly marks: Uint8Array

  constructor(stems: number) {
    this.marks = new Uint8Array(stems)
  }

  read(word: string, labels: Labels, paraphrases: Paraphrases, nearWords: NearWords, weights: Float32Array): void {
    const { vocabulary } = labels
    this.forget()
    const stem = stemOf(word)
    const id = vocabulary.findStem(stem)
    this.known = id >= 0
    if (functionWords.has(word)) {
      // Only the word itself, in no other form or spelling.
      if (vocabulary.find(word) >= 0) this.like(id, SAME, false)
      this.weight = FUNCTION_WEIGHT * weightOf(stem, 0, labels.names.length)
      return
    }
    if (id >= 0) this.like(id, SAME, false)
    for (const { stem: other, likeness, inMeaning } of paraphrases.of(stem)) this.like(other, likeness, inMeaning)
    if (id < 0) {
      nearWords.soundsLike(word, (near) => this.like(vocabulary.stems[near]!, SOUND, false))
      if (this.likes.length === 0)
        nearWords.typos(word, (near, edits) => this.like(vocabulary.stems[near]!, ALMOST - 10 * (edits - 1), false))
    }
    this.weight = id >= 0 ? weights[id]! : weightOf(stem, 0, labels.names.length)
  }

  forget(): void {
    for (const { stem } of this.likes) this.marks[stem] = 0
    this.likes = []
  }

  private like(stem: number, likeness: number, inMeaning: boolean): void {
    if (this.marks[stem]) return
    this.marks[stem] = inMeaning ? likeness | IN_MEANING : likeness
    this.likes.push({ stem, likeness, inMeaning })
  }
}

/** Whether a word by itself says nothing about which skill is meant. */
export function isUntelling(word: string): boolean {
  return (
    stopWords.has(word) ||
    functionWords.has(word) ||
    particles.has(word) ||
    isOfThePerson(word) ||
    praiseStems.has(stemOf(word))
  )
}

/** What a stem weighs that so many of the catalogue's skills hold. */
export function weightOf(stem: string, skills: number, all: number): number {
  if (stopStems.has(stem)) return 0
  const weight = Math.log(1 + all / (1 + skills))
  return praiseStems.has(stem) ? weight * PRAISE_WEIGHT : roundingStems.has(stem) ? weight * ROUNDING_WEIGHT : weight
}
