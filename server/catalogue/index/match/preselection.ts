import type { Labels } from '../labels/labels.ts'
import { LENGTH_MASK, type Postings } from '../labels/postings.ts'
import type { PhraseWord } from './phrase-words.ts'

/** Maximum number of postings that are read for a phrase. */
const MAX_POSTINGS_READ = 20_000
/** Maximum number of preselected skills. */
const MAX_SKILLS = 192
/** Minimum weight of a word, so that skills are found even by a word whose weight is 0. */
const MIN_WEIGHT = 0.01
/**
 * This part of a word's gain is multiplied by the fraction of the label's letters that are in the word. So the word counts more in a
 * short label.
 */
const LABEL_LENGTH_SHARE = 0.3
/** The fractions of the phrase's weight are rounded down to steps of 1 / WEIGHT_STEPS. */
const WEIGHT_STEPS = 10_000

/**
 * Selects the skills that are compared with a phrase word by word: those that contain the largest part of the phrase's weight. The loops
 * over postings and skills are in separate functions, because V8 optimises a function only after some thousand calls.
 */
export class Preselection {
  private readonly labels: Labels
  private readonly postings: Postings
  /** By stem number: the number of postings of all words with the stem. */
  private readonly postingCounts: Int32Array
  /** By entry index: the fraction of the phrase's weight that the skill contains. All zero between two phrases. */
  private readonly weightSums: Float32Array
  /** By entry index: the last round in which the skill was counted. So each word of a phrase counts once per skill. */
  private readonly lastRounds: Int32Array
  /** Entry indexes of the skills that contain a word of the phrase. */
  private readonly foundEntryIndexes: Int32Array
  private foundCount = 0
  /** Number of words that were looked up so far, in all phrases. */
  private round = 0
  /** By step of the weight: the number of skills. All zero between two phrases. */
  private readonly stepCounts = new Int32Array(WEIGHT_STEPS + 1)

  constructor(labels: Labels, postings: Postings) {
    const { vocabulary, names } = labels
    this.labels = labels
    this.postings = postings
    this.postingCounts = new Int32Array(vocabulary.stemCount)
    for (let word = 0; word < vocabulary.stems.length; word++)
      this.postingCounts[vocabulary.stems[word]!]! += postings.starts[word + 1]! - postings.starts[word]!
    this.weightSums = new Float32Array(names.length)
    this.lastRounds = new Int32Array(names.length)
    this.foundEntryIndexes = new Int32Array(names.length)
  }

  /** Returns the entry indexes of the preselected skills, in any order. Looks up the rarest words first. */
  select(phraseWords: readonly PhraseWord[]): number[] {
    const totalWeight = phraseWords.reduce((sum, word) => sum + word.weight, 0) || 1
    const wordsWithCounts = phraseWords.map((word) => ({ word, postingCount: this.countPostings(word) }))
    this.foundCount = 0
    let remainingPostings = MAX_POSTINGS_READ
    for (const { word, postingCount } of wordsWithCounts.sort((a, b) => a.postingCount - b.postingCount)) {
      if (this.foundCount > 0 && postingCount > remainingPostings) break
      remainingPostings -= postingCount
      this.round++
      this.addWord(word, totalWeight)
    }
    const selected = this.selectHighest()
    this.clearWeights()
    return selected
  }

  private countPostings({ similarStems }: PhraseWord): number {
    let count = 0
    for (const { stem } of similarStems) count += this.postingCounts[stem]!
    return count
  }

  private addWord({ weight, similarStems }: PhraseWord, totalWeight: number): void {
    const { stemStarts, stemWords } = this.labels.vocabulary
    for (const { stem, similarity } of similarStems) {
      const gain = (Math.max(weight, MIN_WEIGHT) * similarity) / 100 / totalWeight
      for (let i = stemStarts[stem]!; i < stemStarts[stem + 1]!; i++) this.addPostings(stemWords[i]!, gain)
    }
  }

  /** Adds the gain to the skills with the word that were not counted in this round. */
  private addPostings(word: number, gain: number): void {
    const { weightSums, lastRounds, foundEntryIndexes, round } = this
    const { starts, entryIndexes, bestLabels } = this.postings
    const letterCount = this.labels.vocabulary.words[word]!.length
    const end = starts[word + 1]!
    let { foundCount } = this
    for (let at = starts[word]!; at < end; at++) {
      const entryIndex = entryIndexes[at]!
      if (lastRounds[entryIndex] === round) continue
      lastRounds[entryIndex] = round
      const weightBefore = weightSums[entryIndex]!
      if (weightBefore === 0) foundEntryIndexes[foundCount++] = entryIndex
      const labelLength = bestLabels[at]! & LENGTH_MASK
      weightSums[entryIndex] =
        weightBefore + gain * (1 - LABEL_LENGTH_SHARE + (LABEL_LENGTH_SHARE * letterCount) / labelLength)
    }
    this.foundCount = foundCount
  }

  /** Returns the MAX_SKILLS skills with the highest weights. Of skills with equal weights, those with lower entry indexes come first. */
  private selectHighest(): number[] {
    const { weightSums, foundEntryIndexes, foundCount } = this
    if (foundCount <= MAX_SKILLS) return Array.from(foundEntryIndexes.subarray(0, foundCount))
    const { lowestStep, higherCount } = this.findLowestStep()
    const selected: number[] = []
    const lowest: number[] = []
    for (let i = 0; i < foundCount; i++) {
      const entryIndex = foundEntryIndexes[i]!
      const step = stepOf(weightSums[entryIndex]!)
      if (step > lowestStep) selected.push(entryIndex)
      else if (step === lowestStep) lowest.push(entryIndex)
    }
    const remainingCount = MAX_SKILLS - higherCount
    if (lowest.length > remainingCount) lowest.sort((a, b) => a - b).length = remainingCount
    return selected.concat(lowest)
  }

  /** Returns the step of the last selected skill, and the number of skills in higher steps. */
  private findLowestStep(): { lowestStep: number; higherCount: number } {
    const { weightSums, foundEntryIndexes, stepCounts, foundCount } = this
    for (let i = 0; i < foundCount; i++) stepCounts[stepOf(weightSums[foundEntryIndexes[i]!]!)]!++
    let lowestStep = WEIGHT_STEPS
    let higherCount = 0
    while (higherCount + stepCounts[lowestStep]! < MAX_SKILLS) higherCount += stepCounts[lowestStep--]!
    stepCounts.fill(0)
    return { lowestStep, higherCount }
  }

  private clearWeights(): void {
    const { weightSums, foundEntryIndexes, foundCount } = this
    for (let i = 0; i < foundCount; i++) weightSums[foundEntryIndexes[i]!] = 0
  }
}

function stepOf(weight: number): number {
  return (Math.min(1, weight) * WEIGHT_STEPS) | 0
}
