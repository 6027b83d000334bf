import { foldText, visibleLength, wordsOf } from '../text.ts'
import { scoreByOtherTrades } from './options-only-model.ts'
import type { ServedItem } from './served-items.ts'

/** Measures how often a person without knowledge of the trade would choose the key by following a strategy. */

/** Returns, for each item, a score of each option. The option with the highest score is chosen; a tie among n options counts as 1/n. */
type GuessingStrategy = (items: readonly ServedItem[]) => number[][]

export const GUESSING_STRATEGIES: Record<string, GuessingStrategy> = {
  'model that sees only the options': (items) => scoreByOtherTrades(items),
  'option nearest to the stem in words': (items) => nearestToStem(items, wordsIn),
  'option nearest to the stem in letters': (items) => nearestToStem(items, letterGroupsIn),
  'most words shared with the other options': (items) =>
    items.map(({ options }) => countWordsSharedWithOthers(options)),
  'longest option': (items) => items.map(({ options }) => options.map(visibleLength)),
  'shortest option': (items) => items.map(({ options }) => options.map((option) => -visibleLength(option))),
}

export interface GuessRate {
  /** Share of items whose key is chosen. */
  overall: number
  trades: Map<string, number>
}

export function measureGuessing(items: readonly ServedItem[], strategy: GuessingStrategy): GuessRate {
  const hits = new Map<string, { sum: number; count: number }>()
  const scores = strategy(items)
  for (const [index, { trade, key }] of items.entries()) {
    const tradeHits = hits.get(trade) ?? { sum: 0, count: 0 }
    tradeHits.sum += chanceOfKey(scores[index]!, key)
    tradeHits.count++
    hits.set(trade, tradeHits)
  }
  const totalHits = [...hits.values()].reduce((total, { sum }) => total + sum, 0)
  return {
    overall: items.length === 0 ? 0 : totalHits / items.length,
    trades: new Map([...hits].map(([trade, { sum, count }]) => [trade, sum / count])),
  }
}

function chanceOfKey(scores: readonly number[], key: number): number {
  const best = Math.max(...scores)
  return scores[key] === best ? 1 / scores.filter((score) => score === best).length : 0
}

function countWordsSharedWithOthers(options: readonly string[]): number[] {
  const wordLists = options.map(wordsIn)
  return wordLists.map((words, index) => {
    const otherWords = new Set(wordLists.filter((_, other) => other !== index).flat())
    return words.filter((word) => otherWords.has(word)).length
  })
}

const wordsIn = (text: string) => wordsOf(foldText(text))

const LETTER_GROUP_LENGTH = 4

/** Returns the groups of four neighbouring characters, so that forms of one word are similar. */
function letterGroupsIn(text: string): string[] {
  const padded = ` ${wordsIn(text).join(' ')} `
  return Array.from({ length: Math.max(0, padded.length - LETTER_GROUP_LENGTH + 1) }, (_, start) =>
    padded.slice(start, start + LETTER_GROUP_LENGTH),
  )
}

/** Scores options by the cosine of their terms and those of the stem, weighted by TF-IDF (Salton and Buckley 1988). */
function nearestToStem(items: readonly ServedItem[], termsOf: (text: string) => string[]): number[][] {
  const texts = new Set(items.flatMap(({ stem, options }) => [stem, ...options]))
  const documentCounts = new Map<string, number>()
  const termCounts = new Map<string, Map<string, number>>()
  for (const text of texts) {
    const counts = new Map<string, number>()
    for (const term of termsOf(text)) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const term of counts.keys()) documentCounts.set(term, (documentCounts.get(term) ?? 0) + 1)
    termCounts.set(text, counts)
  }
  const vectors = new Map<string, Map<string, number>>()
  for (const [text, counts] of termCounts) {
    const weights = new Map<string, number>()
    let squareSum = 0
    for (const [term, count] of counts) {
      const weight = count * Math.log(texts.size / documentCounts.get(term)!)
      weights.set(term, weight)
      squareSum += weight ** 2
    }
    const length = Math.sqrt(squareSum) || 1
    for (const [term, weight] of weights) weights.set(term, weight / length)
    vectors.set(text, weights)
  }
  return items.map(({ stem, options }) => {
    const stemVector = vectors.get(stem)!
    return options.map((option) => {
      let product = 0
      for (const [term, weight] of vectors.get(option)!) product += weight * (stemVector.get(term) ?? 0)
      return product
    })
  })
}
