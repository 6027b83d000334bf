import { KEY } from '../measurement/form.ts'
import { SeededRandom } from '../measurement/seeded-random.ts'
import type { Language } from '../platform/text/languages.ts'
import { drawCalculation, parseFormulas, type VariableValues } from './bank/calculation.ts'
import { parseFormula } from './bank/formula.ts'

/** Where the items of a skill come from: the built-in bank, the organisation's own bank, or the AI writer. */
export const ITEM_SOURCES = ['bank', 'private', 'ai'] as const
export type ItemSource = (typeof ITEM_SOURCES)[number]

/** A skill can be measured if it has at least this many active items. */
export const MIN_ACTIVE_ITEMS = 12

/** An item about a skill in all its languages. Plain data: stored as JSON. */
export interface SkillItem {
  id: string
  /** Items of a pool share their options. */
  pool: string
  kind: string
  /** Difficulty in logits, see `measurement/model.ts`. */
  difficulty: number
  /** Whether the item is asked without being scored, to learn how difficult it is. */
  isPilot?: boolean
  /** Whether too few people have answered the item to know how good it is. If it is scored, its answers weigh less. */
  isUnpiloted?: boolean
  /** Whether the item has been retired. Retired items are not drawn any more. */
  isRetired?: boolean
  texts: Partial<Record<Language, ItemText>>
  /** The numbers of a calculation, which differ for each person. */
  calculation?: StoredCalculation
}

export interface ItemText {
  /** In a calculation, `{name}` stands for the value of a variable. */
  stem: string
  /** The key, and then at least three distractors. Empty in a calculation. */
  options: string[]
}

/** A calculation with its formulas as text. */
export interface StoredCalculation {
  values: VariableValues
  key: string
  lower: string[]
  higher: string[]
}

/** The number of distractors of a calculation. */
const CALCULATED_DISTRACTORS = 3

export function distractorCount({ texts, calculation }: SkillItem): number {
  if (calculation) return CALCULATED_DISTRACTORS
  return Math.min(...Object.values(texts).map(({ options }) => options.length)) - 1
}

/** The text of an item as a person sees it. */
export interface ShownItem {
  stem: string
  options: string[]
}

/**
 * Returns the text of an item for one person. `options` are the options in the order in which they are shown, as `drawItem` returns
 * them. `seed` is the seed of the person, from which the numbers of a calculation are drawn.
 */
export function showItem(item: SkillItem, options: readonly number[], seed: string, language: Language): ShownItem {
  const text = item.texts[language] ?? item.texts.en ?? Object.values(item.texts)[0]!
  if (!item.calculation)
    return { stem: text.stem, options: options.map((option) => text.options[option === KEY ? 0 : option + 1]!) }
  const { values, key, lower, higher } = item.calculation
  const drawn = drawCalculation(
    { values, key: parseFormula(key), lower: parseFormulas(lower), higher: parseFormulas(higher) },
    new SeededRandom(`${seed} numbers ${item.id}`),
  )
  return {
    stem: text.stem.replace(/\{(\w+)\}/g, (_, name: string) => String(drawn.variables[name])),
    options: options.map((option) => String(option === KEY ? drawn.key : drawn.distractors[option]!)),
  }
}

/** Returns the languages in which a skill can be asked: those in which enough items have a text, English first. */
export function languagesOf(items: readonly SkillItem[]): Language[] {
  const counts = new Map<Language, number>()
  for (const item of items)
    for (const language of Object.keys(item.texts) as Language[]) counts.set(language, (counts.get(language) ?? 0) + 1)
  const required = Math.min(MIN_ACTIVE_ITEMS, items.length)
  return [...counts].filter(([, count]) => count >= required).map(([language]) => language)
}
