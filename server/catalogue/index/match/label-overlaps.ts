import type { Labels } from '../labels/labels.ts'
import type { SkillWords } from '../labels/skill-words.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { IS_SYNONYM, type PhraseWord, SIMILARITY_MASK } from './phrase-words.ts'

export const MAX_PHRASE_WORDS = 16
/**
 * Weight of a stop word at the beginning or end of a label; elsewhere it weighs 0. At the beginning or end it does not link two
 * words, so it is probably part of the name: "AT" in "AT welding".
 */
const EDGE_STOP_WORD_WEIGHT = 2

const SEVERAL_WORDS = -1
const INITIAL_ROW_COUNT = 64
/** Returned in place of an overlap if the label has no word that is similar to the phrase. */
export const NO_SIMILAR_WORD = -1
/** Differences of two fractions below this may be rounding errors. */
const ROUNDING_TOLERANCE = 1e-9

/**
 * Computes the overlap of a phrase with each label of the catalogue, from 0 to 1: the geometric mean of the fraction of the phrase that is
 * in the label and the fraction of the label that is in the phrase. The catalogue words that are similar to the phrase are marked once per
 * phrase. They are looked up once per skill, so that labels and skills that cannot have the required overlap are skipped quickly.
 */
export class LabelOverlaps {
  private readonly labels: Labels
  private readonly skillWords: SkillWords
  /** By stem number: the weight of the stem (see `stemWeight`). */
  private readonly stemWeights: Float32Array
  /** By label: the sum of the weights of its words. */
  private readonly labelWeights: Float64Array
  /** By word number: the row of its stem in `similarities`, or 0 if no word of the phrase is similar. All zero between two phrases. */
  private readonly rows: Uint16Array
  /** Packed similarities (phrase-words.ts) of stem and phrase word i, at row * MAX_PHRASE_WORDS + i. Row 0 is not used. */
  private similarities = new Uint8Array(INITIAL_ROW_COUNT * MAX_PHRASE_WORDS)
  /** By row: the stem's number, its weight, and its highest similarity with the phrase. */
  private rowStems = new Int32Array(INITIAL_ROW_COUNT)
  private rowWeights = new Float64Array(INITIAL_ROW_COUNT)
  private rowBest = new Uint8Array(INITIAL_ROW_COUNT)
  /** By row: the only word of the phrase that is similar to the stem, or SEVERAL_WORDS. */
  private rowWord = new Int8Array(INITIAL_ROW_COUNT)
  private rowCount = 1
  /** By position among the words of the skill that is compared: the row of the word, or 0. */
  private readonly skillRows: Uint16Array
  /** By phrase word: its weight. */
  private readonly wordWeights = new Float64Array(MAX_PHRASE_WORDS)
  private wordCount = 0
  private phraseWeight = 0
  /** By phrase word: its highest packed similarity with the label that was compared last. */
  private readonly bestSimilarities = new Uint8Array(MAX_PHRASE_WORDS)
  /** Whether the label that was compared last matches through a synonym. */
  usedSynonym = false
  /** The matched fractions of the phrase and of the label that was compared last. */
  phraseFraction = 0
  labelFraction = 0

  constructor(labels: Labels, skillWords: SkillWords, stemWeights: Float32Array, labelWeights: Float64Array) {
    this.labels = labels
    this.skillWords = skillWords
    this.stemWeights = stemWeights
    this.labelWeights = labelWeights
    this.rows = new Uint16Array(labels.vocabulary.words.length)
    this.skillRows = new Uint16Array(skillWords.maxCount)
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof LabelOverlaps> {
    return [this.labels, this.skillWords, this.stemWeights, this.labelWeights]
  }

  /** Sets the words of the phrase, at most MAX_PHRASE_WORDS. `clear` must follow before the next phrase. */
  setPhrase(phraseWords: readonly PhraseWord[]): void {
    this.wordCount = phraseWords.length
    this.phraseWeight = 0
    for (let i = 0; i < phraseWords.length; i++) {
      const { weight, similarStems } = phraseWords[i]!
      this.wordWeights[i] = weight
      this.phraseWeight += weight
      for (const { stem, similarity, isSynonym } of similarStems) {
        const row = this.rowOf(stem, i)
        this.similarities[row * MAX_PHRASE_WORDS + i] = isSynonym ? similarity | IS_SYNONYM : similarity
        if (similarity > this.rowBest[row]!) this.rowBest[row] = similarity
        if (this.rowWord[row] !== i) this.rowWord[row] = SEVERAL_WORDS
      }
    }
  }

  clear(): void {
    const { stemStarts, stemWords } = this.labels.vocabulary
    this.similarities.fill(0, 0, this.rowCount * MAX_PHRASE_WORDS)
    for (let row = 1; row < this.rowCount; row++) {
      const stem = this.rowStems[row]!
      for (let i = stemStarts[stem]!; i < stemStarts[stem + 1]!; i++) this.rows[stemWords[i]!] = 0
    }
    this.rowCount = 1
  }

  /** Returns the row of a stem. If there is none, adds it and marks the words of the stem. */
  private rowOf(stem: number, phraseWord: number): number {
    const { stemStarts, stemWords } = this.labels.vocabulary
    const { rows } = this
    const existingRow = rows[stemWords[stemStarts[stem]!]!]!
    if (existingRow > 0) return existingRow
    const row = this.rowCount++
    if (row === this.rowStems.length) this.growRows()
    for (let i = stemStarts[stem]!; i < stemStarts[stem + 1]!; i++) rows[stemWords[i]!] = row
    this.rowStems[row] = stem
    this.rowWeights[row] = this.stemWeights[stem]!
    this.rowBest[row] = 0
    this.rowWord[row] = phraseWord
    return row
  }

  private growRows(): void {
    const length = this.rowStems.length * 2
    const { similarities, rowStems, rowWeights, rowBest, rowWord } = this
    this.similarities = new Uint8Array(length * MAX_PHRASE_WORDS)
    this.similarities.set(similarities)
    this.rowStems = new Int32Array(length)
    this.rowStems.set(rowStems)
    this.rowWeights = new Float64Array(length)
    this.rowWeights.set(rowWeights)
    this.rowBest = new Uint8Array(length)
    this.rowBest.set(rowBest)
    this.rowWord = new Int8Array(length)
    this.rowWord.set(rowWord)
  }

  /** Sets the skill whose labels are compared. Returns whether a label may have an overlap of `minOverlap`; if not, no label needs to be compared. */
  setSkill(entryIndex: number, minOverlap: number): boolean {
    const { rows, skillRows, bestSimilarities } = this
    const { starts, words } = this.skillWords
    const first = starts[entryIndex]!
    const count = starts[entryIndex + 1]! - first
    for (let i = 0; i < this.wordCount; i++) bestSimilarities[i] = 0
    for (let i = 0; i < count; i++) {
      const row = rows[words[first + i]!]!
      skillRows[i] = row
      if (row !== 0) this.addSimilarities(row)
    }
    // No label has a larger fraction of the phrase than the whole skill, and its own matched fraction is at most 1.
    return (
      this.phraseWeight === 0 ||
      this.matchedPhraseWeight() / this.phraseWeight / 100 >= minOverlap * minOverlap - ROUNDING_TOLERANCE
    )
  }

  /** Updates `bestSimilarities` with the similarities of a row. */
  private addSimilarities(row: number): void {
    const { rowWord, similarities, bestSimilarities } = this
    const onlyWord = rowWord[row]!
    const from = onlyWord < 0 ? 0 : onlyWord
    const to = onlyWord < 0 ? this.wordCount : onlyWord + 1
    for (let i = from; i < to; i++) {
      const packedSimilarity = similarities[row * MAX_PHRASE_WORDS + i]!
      if ((packedSimilarity & SIMILARITY_MASK) > (bestSimilarities[i]! & SIMILARITY_MASK))
        bestSimilarities[i] = packedSimilarity
    }
  }

  private matchedPhraseWeight(): number {
    const { wordWeights, wordCount, bestSimilarities } = this
    let weight = 0
    for (let i = 0; i < wordCount; i++) weight += wordWeights[i]! * (bestSimilarities[i]! & SIMILARITY_MASK)
    return weight
  }

  /**
   * Returns the overlap of the phrase and a label of the skill, or NO_SIMILAR_WORD. Sets `usedSynonym` and the two fractions, if the label has
   * a similar word.
   */
  overlapOf(label: number): number {
    const { skillRows, rowWeights, rowBest, wordCount, bestSimilarities } = this
    const { positions } = this.skillWords
    const { wordStarts } = this.labels
    const first = wordStarts[label]!
    const end = wordStarts[label + 1]!
    let at = first
    while (at < end && skillRows[positions[at]!] === 0) at++
    if (at === end) return NO_SIMILAR_WORD
    for (let i = 0; i < wordCount; i++) bestSimilarities[i] = 0
    let matchedLabelWeight = 0
    for (; at < end; at++) {
      const row = skillRows[positions[at]!]!
      if (row === 0) continue
      const isEdgeStopWord = rowWeights[row] === 0 && (at === first || at + 1 === end)
      matchedLabelWeight += (isEdgeStopWord ? EDGE_STOP_WORD_WEIGHT : rowWeights[row]!) * rowBest[row]!
      this.addSimilarities(row)
    }
    if (wordCount === 1 && (bestSimilarities[0]! & IS_SYNONYM) === 0)
      matchedLabelWeight = this.matchedWeightWithoutSynonyms(first, end)
    const matchedPhraseWeight = this.matchedPhraseWeight()
    this.usedSynonym = false
    for (let i = 0; i < wordCount; i++) if (bestSimilarities[i]! & IS_SYNONYM) this.usedSynonym = true
    const labelWeight = this.labelWeights[label]!
    if (this.phraseWeight === 0 || labelWeight === 0) {
      this.phraseFraction = matchedPhraseWeight > 0 || matchedLabelWeight > 0 ? 1 : 0
      this.labelFraction = this.phraseFraction
      return this.phraseFraction
    }
    this.phraseFraction = matchedPhraseWeight / this.phraseWeight / 100
    this.labelFraction = matchedLabelWeight / labelWeight / 100
    return Math.sqrt(this.phraseFraction * this.labelFraction)
  }

  /**
   * Returns the matched weight of a label for a phrase of one word, which matches a synonym only if the label does not contain the word
   * itself. In the label "braze welding", the phrase "welding" matches "welding", but not also its synonym "braze".
   */
  private matchedWeightWithoutSynonyms(first: number, end: number): number {
    const { skillRows, rowWeights, similarities } = this
    const { positions } = this.skillWords
    let matchedWeight = 0
    for (let at = first; at < end; at++) {
      const row = skillRows[positions[at]!]!
      const similarity = similarities[row * MAX_PHRASE_WORDS]!
      if (row === 0 || similarity & IS_SYNONYM) continue
      const isEdgeStopWord = rowWeights[row] === 0 && (at === first || at + 1 === end)
      matchedWeight += (isEdgeStopWord ? EDGE_STOP_WORD_WEIGHT : rowWeights[row]!) * similarity
    }
    return matchedWeight
  }
}

export function* buildLabelOverlaps(
  labels: Labels,
  skillWords: SkillWords,
  stemWeights: Float32Array,
): SlicedTask<LabelOverlaps> {
  const labelWeights = new Float64Array(labels.kinds.length)
  for (let from = 0; from < labelWeights.length; from += 4096) {
    addLabelWeights(labels, stemWeights, labelWeights, from, Math.min(labelWeights.length, from + 4096))
    yield
  }
  return new LabelOverlaps(labels, skillWords, stemWeights, labelWeights)
}

/** Sets the weights of the labels `from` up to `to`. */
function addLabelWeights(
  { wordStarts, words, vocabulary }: Labels,
  stemWeights: Float32Array,
  labelWeights: Float64Array,
  from: number,
  to: number,
): void {
  for (let label = from; label < to; label++) {
    const first = wordStarts[label]!
    const end = wordStarts[label + 1]!
    let weight = 0
    for (let at = first; at < end; at++) {
      const stemWeight = stemWeights[vocabulary.stems[words[at]!]!]!
      weight += stemWeight === 0 && (at === first || at + 1 === end) ? EDGE_STOP_WORD_WEIGHT : stemWeight
    }
    labelWeights[label] = weight
  }
}
