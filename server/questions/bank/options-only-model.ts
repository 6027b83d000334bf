import { SeededRandom } from '../../measurement/seeded-random.ts'
import { foldText, visibleLength, wordsOf } from '../text.ts'
import type { ServedItem } from './served-items.ts'

/**
 * A model that sees the options of an item, never its stem, and has to find the key. It shows how much the options alone reveal: about
 * one in four is chance. It is trained leaving one trade out, so that it can only learn what keys have in common in all trades, such as
 * "report", "check" and "stop", and not facts of the trade on which it is tested.
 *
 * The model is a conditional logit (McFadden 1974) of words, pairs of words and visible features of the options.
 */

/** The score of each option of an item. The highest one is the choice of the model. */
export type OptionScores = number[]

const EPOCHS = 2
const LEARNING_RATE = 0.15
/** Weights of features that occur are reduced by this share at each step, so that rare words do not dominate. */
const WEIGHT_DECAY = 1e-4

/** Returns, for each item, the scores that a model trained on the other trades gives to its options. */
export function scoreByOtherTrades(items: readonly ServedItem[], seed = 'options only'): OptionScores[] {
  const rows = new FeatureRows(items)
  const order = new SeededRandom(seed).shuffled(items.map((_, index) => index))
  const weightsByTrade = new Map<string, Float64Array>()
  for (const { trade } of items) {
    if (weightsByTrade.has(trade)) continue
    const trainingRows = order.filter((index) => items[index]!.trade !== trade)
    weightsByTrade.set(trade, rows.train(trainingRows))
  }
  return items.map(({ trade }, index) => rows.scores(index, weightsByTrade.get(trade)!))
}

const OPTION_COUNT = 4

/** The features of all options as numbers, in one array: training visits each of them about a hundred times. */
class FeatureRows {
  readonly #featureCount: number
  readonly #features: Int32Array
  /** The features of option `i` of all options start at index `i` of this array and end before the next. */
  readonly #starts: Int32Array
  readonly #keys: Int8Array

  constructor(items: readonly ServedItem[]) {
    const numbers = new Map<string, number>()
    const features: number[] = []
    const starts = [0]
    for (const { options } of items) {
      for (const names of optionFeatures(options)) {
        for (const name of names) {
          let number = numbers.get(name)
          if (number === undefined) {
            number = numbers.size
            numbers.set(name, number)
          }
          features.push(number)
        }
        starts.push(features.length)
      }
    }
    this.#featureCount = numbers.size
    this.#features = Int32Array.from(features)
    this.#starts = Int32Array.from(starts)
    this.#keys = Int8Array.from(items, ({ key }) => key)
  }

  /** Fits the weights by stochastic gradient ascent of the likelihood that the key is chosen. */
  train(rows: readonly number[]): Float64Array {
    const weights = new Float64Array(this.#featureCount)
    const probabilities = new Float64Array(OPTION_COUNT)
    for (let epoch = 0; epoch < EPOCHS; epoch++) {
      for (const row of rows) {
        let total = 0
        for (let index = 0; index < OPTION_COUNT; index++) {
          const odds = Math.exp(this.#score(row * OPTION_COUNT + index, weights))
          probabilities[index] = odds
          total += odds
        }
        for (let index = 0; index < OPTION_COUNT; index++) {
          const isKey = index === this.#keys[row]
          const step = LEARNING_RATE * ((isKey ? 1 : 0) - probabilities[index]! / total)
          const option = row * OPTION_COUNT + index
          const end = this.#starts[option + 1]!
          for (let at = this.#starts[option]!; at < end; at++) {
            const feature = this.#features[at]!
            weights[feature] = weights[feature]! * (1 - WEIGHT_DECAY) + step
          }
        }
      }
    }
    return weights
  }

  scores(row: number, weights: Float64Array): OptionScores {
    return Array.from({ length: OPTION_COUNT }, (_, index) => this.#score(row * OPTION_COUNT + index, weights))
  }

  #score(option: number, weights: Float64Array): number {
    const end = this.#starts[option + 1]!
    let sum = 0
    for (let at = this.#starts[option]!; at < end; at++) sum += weights[this.#features[at]!]!
    return sum
  }
}

const MAX_COUNTED_WORDS = 6

/** Returns the features of each option. */
function optionFeatures(options: readonly string[]): string[][] {
  const wordLists = options.map((option) => wordsOf(foldText(option)))
  const lengths = options.map(visibleLength)
  const numbers = options.map(Number)
  const isNumeric = numbers.every(Number.isFinite)
  return options.map((option, index) => {
    const words = wordLists[index]!
    const sharedWords = words.filter((word) => wordLists.some((other, at) => at !== index && other.includes(word)))
    const features = new Set([
      ...(isNumeric ? [] : words),
      ...words.slice(1).map((word, at) => `${words[at]} ${word}`),
      `#words ${Math.min(words.length, MAX_COUNTED_WORDS)}`,
      `#shared words ${Math.min(sharedWords.length, MAX_COUNTED_WORDS)}`,
      `#longer options ${lengths.filter((length) => length > lengths[index]!).length}`,
      `#has digit ${/\d/.test(option)}`,
      `#has capital ${/^\p{Lu}/u.test(option)}`,
      `#has symbol ${/[^\p{L}\p{M}\p{N}\s]/u.test(option)}`,
    ])
    if (isNumeric) {
      features.add(`#greater numbers ${numbers.filter((number) => number > numbers[index]!).length}`)
      features.add(`#decimals ${option.split('.')[1]?.length ?? 0}`)
      features.add(`#zeros at the end ${/0*$/.exec(option)![0].length}`)
    }
    return [...features]
  })
}
