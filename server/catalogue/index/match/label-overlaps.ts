import type { Labels } from '../labels/labels.ts'
import type { SlicedTask } from '../text/time-slicing.ts'
import { IS_SYNONYM, type PhraseWord, SIMILARITY_MASK } from './phrase-words.ts'

export const MAX_PHRASE_WORDS = 16
/**
 * Weight of a stop word at the beginning or end of a label; elsewhere it weighs 0. At the beginning or end it does not link two
 * words, so it is probably part of the name: "AT" in "AT welding".
 */
const EDGE_STOP_WORD_WEIGHT = 2

const SEVERAL_WORDS = -1

/**
 * Computes the overlap of a phrase with each label of the catalogue, from 0 to 1: the geometric mean of the fraction of the phrase that is
 * in the label and the fraction of the label that is in the phrase. The catalogue words that are similar to the phrase are marked once per
 * phrase, so that labels without such a word are skipped quickly.
 */
export class LabelOverlaps {
  private readonly labels: Labels
  /** By stem number: the weight of the stem (see `stemWeight`). */
  private readonly stemWeights: Float32Array
  /** By label: the sum of the weights of its words. */
  private readonly labelWeights: Float64Array
  /** By word number: the row of its stem in `similarities`, or 0 if no word of the phrase is similar. All zero between two phrases. */
  private readonly rows: Uint16Array
  /** Packed similarities (phrase-words.ts) of stem and phrase word i, at row * MAX_PHRASE_WORDS + i. Row 0 is not used. */
  private similarities = new Uint8Array(64 * MAX_PHRASE_WORDS)
  /** By row: the stem's number, its weight, and its highest similarity with the phrase. */
  private readonly rowStems: number[] = [0]
  private readonly rowWeights: number[] = [0]
  private readonly rowBest: number[] = [0]
  /** By row: the only word of the phrase that is similar to the stem, or SEVERAL_WORDS. */
  private readonly rowWord: number[] = [0]
  private phraseWords: readonly PhraseWord[] = []
  private phraseWeight = 0
  /** By phrase word: its highest packed similarity with the label that was compared last. */
  private readonly bestSimilarities = new Uint8Array(MAX_PHRASE_WORDS)
  /** Whether the label that was compared last matches through a synonym. */
  usedSynonym = false
  /** The matched fractions of the phrase and of the label that was compared last. */
  phraseFraction = 0
  labelFraction = 0

  constructor(labels: Labels, stemWeights: Float32Array, labelWeights: Float64Array) {
    this.labels = labels
    this.stemWeights = stemWeights
    this.labelWeights = labelWeights
    this.rows = new Uint16Array(labels.vocabulary.words.length)
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof LabelOverlaps> {
    return [this.labels, this.stemWeights, this.labelWeights]
  }

  /** Sets the words of the phrase, at most MAX_PHRASE_WORDS. `clear` must follow before the next phrase. */
  setPhrase(phraseWords: readonly PhraseWord[]): void {
    this.phraseWords = phraseWords
    this.phraseWeight = 0
    for (let i = 0; i < phraseWords.length; i++) {
      const { weight, similarStems } = phraseWords[i]!
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
    this.similarities.fill(0, 0, this.rowStems.length * MAX_PHRASE_WORDS)
    for (let row = 1; row < this.rowStems.length; row++) {
      const stem = this.rowStems[row]!
      for (let i = stemStarts[stem]!; i < stemStarts[stem + 1]!; i++) this.rows[stemWords[i]!] = 0
    }
    this.rowStems.length = 1
    this.rowWeights.length = 1
    this.rowBest.length = 1
    this.rowWord.length = 1
  }

  /** Returns the row of a stem. If there is none, adds it and marks the words of the stem. */
  private rowOf(stem: number, phraseWord: number): number {
    const { stemStarts, stemWords } = this.labels.vocabulary
    const { rows, rowStems } = this
    const existingRow = rows[stemWords[stemStarts[stem]!]!]!
    if (existingRow > 0) return existingRow
    const row = rowStems.length
    for (let i = stemStarts[stem]!; i < stemStarts[stem + 1]!; i++) rows[stemWords[i]!] = row
    rowStems.push(stem)
    this.rowWeights.push(this.stemWeights[stem]!)
    this.rowBest.push(0)
    this.rowWord.push(phraseWord)
    if ((row + 1) * MAX_PHRASE_WORDS > this.similarities.length) {
      const similarities = new Uint8Array(this.similarities.length * 2)
      similarities.set(this.similarities)
      this.similarities = similarities
    }
    return row
  }

  /** Returns whether the label has a word that is similar to the phrase. */
  hasSimilarWord(label: number): boolean {
    const { rows } = this
    const { wordStarts, words } = this.labels
    const end = wordStarts[label + 1]!
    for (let at = wordStarts[label]!; at < end; at++) if (rows[words[at]!] !== 0) return true
    return false
  }

  /** Returns the overlap of the phrase and a label with a similar word. Sets `usedSynonym` and the two fractions. */
  overlapOf(label: number): number {
    const { rows, rowWeights, rowBest, rowWord, similarities, phraseWords, bestSimilarities } = this
    const { wordStarts, words } = this.labels
    const first = wordStarts[label]!
    const end = wordStarts[label + 1]!
    const count = phraseWords.length
    for (let i = 0; i < count; i++) bestSimilarities[i] = 0
    let matchedLabelWeight = 0
    for (let at = first; at < end; at++) {
      const row = rows[words[at]!]!
      if (row === 0) continue
      const isEdgeStopWord = rowWeights[row] === 0 && (at === first || at + 1 === end)
      matchedLabelWeight += (isEdgeStopWord ? EDGE_STOP_WORD_WEIGHT : rowWeights[row]!) * rowBest[row]!
      const onlyWord = rowWord[row]!
      const from = onlyWord < 0 ? 0 : onlyWord
      const to = onlyWord < 0 ? count : onlyWord + 1
      for (let i = from; i < to; i++) {
        const packedSimilarity = similarities[row * MAX_PHRASE_WORDS + i]!
        if ((packedSimilarity & SIMILARITY_MASK) > (bestSimilarities[i]! & SIMILARITY_MASK))
          bestSimilarities[i] = packedSimilarity
      }
    }
    if (count === 1 && (bestSimilarities[0]! & IS_SYNONYM) === 0)
      matchedLabelWeight = this.matchedWeightWithoutSynonyms(first, end)
    let matchedPhraseWeight = 0
    this.usedSynonym = false
    for (let i = 0; i < count; i++) {
      matchedPhraseWeight += phraseWords[i]!.weight * (bestSimilarities[i]! & SIMILARITY_MASK)
      if (bestSimilarities[i]! & IS_SYNONYM) this.usedSynonym = true
    }
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
    const { rows, rowWeights, similarities } = this
    const { words } = this.labels
    let matchedWeight = 0
    for (let at = first; at < end; at++) {
      const row = rows[words[at]!]!
      const similarity = similarities[row * MAX_PHRASE_WORDS]!
      if (row === 0 || similarity & IS_SYNONYM) continue
      const isEdgeStopWord = rowWeights[row] === 0 && (at === first || at + 1 === end)
      matchedWeight += (isEdgeStopWord ? EDGE_STOP_WORD_WEIGHT : rowWeights[row]!) * similarity
    }
    return matchedWeight
  }
}

export function* buildLabelOverlaps(labels: Labels, stemWeights: Float32Array): SlicedTask<LabelOverlaps> {
  const labelWeights = new Float64Array(labels.kinds.length)
  for (let from = 0; from < labelWeights.length; from += 4096) {
    addLabelWeights(labels, stemWeights, labelWeights, from, Math.min(labelWeights.length, from + 4096))
    yield
  }
  return new LabelOverlaps(labels, stemWeights, labelWeights)
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
