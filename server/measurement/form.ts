import { SeededRandom } from './seeded-random.ts'

/**
 * Draws the items of one person. Everything is a function of the person's seed and of the items that were asked, so that a conversation
 * that is resumed, on another channel or after a crash, continues with the same item and the same order of options.
 */

/** The properties of an item that the draw uses. */
export interface DrawableItem {
  /** Items of one pool share their options, so that one of them may help with another. */
  pool: string
  /** The kind of knowledge, such as a fault or a tool. */
  kind: string
  /** The number of options other than the key. */
  distractorCount: number
  /** Whether the person has seen the item in an earlier attempt. */
  wasSeen?: boolean
}

export interface DrawnItem {
  /** Index of the item in the list. */
  item: number
  /** The options in the order in which they are shown: -1 is the key, other numbers are distractors. */
  options: number[]
}

export const KEY = -1
const SHOWN_DISTRACTORS = 3

/**
 * Returns the next item, or undefined if all were asked. It is drawn at random from the items that the person has not seen, of the pool
 * from which the fewest were asked, and of the kind of which the fewest were asked, in this order of importance. Over many people, all
 * items of a skill are therefore asked about equally often.
 */
export function drawItem(
  items: readonly DrawableItem[],
  asked: readonly number[],
  seed: string,
): DrawnItem | undefined {
  const random = new SeededRandom(`${seed} item ${asked.length}`)
  const askedSet = new Set(asked)
  const askedItems = asked.map((index) => items[index]!)
  const poolCounts = countValues(askedItems.map(({ pool }) => pool))
  const kindCounts = countValues(askedItems.map(({ kind }) => kind))
  let best: { item: number; rank: number[] } | undefined
  for (const [index, item] of items.entries()) {
    // The number is drawn for every item, so that it does not depend on which were asked.
    const chance = random.below(1 << 30)
    if (askedSet.has(index)) continue
    const rank = [item.wasSeen ? 1 : 0, poolCounts.get(item.pool) ?? 0, kindCounts.get(item.kind) ?? 0, chance]
    if (!best || compareRanks(rank, best.rank) < 0) best = { item: index, rank }
  }
  if (!best) return undefined
  return { item: best.item, options: drawOptions(items[best.item]!, random) }
}

function countValues(values: string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

function drawOptions({ distractorCount }: DrawableItem, random: SeededRandom): number[] {
  const distractors = random.shuffled(Array.from({ length: distractorCount }, (_, index) => index))
  return random.shuffled([KEY, ...distractors.slice(0, SHOWN_DISTRACTORS)])
}

function compareRanks(first: readonly number[], second: readonly number[]): number {
  for (const [index, value] of first.entries()) {
    const difference = value - second[index]!
    if (difference !== 0) return difference
  }
  return 0
}
