import type { SeededRandom } from '../../measurement/seeded-random.ts'
import { type Formula, parseFormula, type Variables } from './formula.ts'

/** The values that each variable can have. */
export type VariableValues = Record<string, number[]>

/** A calculation whose numbers are drawn for each person. */
export interface Calculation {
  values: VariableValues
  key: Formula
  /** Results of errors that are smaller than the key, and greater. */
  lower: Formula[]
  higher: Formula[]
}

/** The numbers of one person. */
export interface DrawnCalculation {
  variables: Variables
  key: number
  /** Three wrong results. */
  distractors: number[]
}

const SHOWN_DISTRACTORS = 3

/** Parses the ranges `4..9` and `48..56/2` and the lists `1,2,5` of variables, such as `l=4..9 h=3,4`. */
export function parseVariables(text: string): VariableValues {
  const values: VariableValues = {}
  for (const part of text.split(/\s+/)) {
    const [, name, from, to, step = '1', list] =
      /^([a-z]\w*)=(?:(\d+(?:\.\d+)?)\.\.(\d+(?:\.\d+)?)(?:\/(\d+(?:\.\d+)?))?|(\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*))$/.exec(
        part,
      ) ?? []
    if (name === undefined) throw new Error(`expected a variable such as l=4..9, got "${part}"`)
    values[name] = list ? list.split(',').map(Number) : numbersBetween(Number(from), Number(to), Number(step))
  }
  return values
}

function numbersBetween(from: number, to: number, step: number): number[] {
  const count = Math.floor((to - from) / step + 1e-9) + 1
  return Array.from({ length: count }, (_, index) => roundTo(from + index * step, 6))
}

export function parseFormulas(texts: readonly string[]): Formula[] {
  return texts.map(parseFormula)
}

/**
 * Draws the numbers of a person. The place of the key among the four results in order of size is drawn first, so that it cannot be
 * guessed from the results.
 */
export function drawCalculation({ values, key, lower, higher }: Calculation, random: SeededRandom): DrawnCalculation {
  const variables = Object.fromEntries(
    Object.entries(values).map(([name, choices]) => [name, choices[random.below(choices.length)]!]),
  )
  const lowerCount = random.below(SHOWN_DISTRACTORS + 1)
  const pick = (formulas: Formula[], count: number) =>
    random
      .shuffled(formulas)
      .slice(0, count)
      .map((formula) => roundTo(formula(variables), 2))
  return {
    variables,
    key: roundTo(key(variables), 2),
    distractors: [...pick(lower, lowerCount), ...pick(higher, SHOWN_DISTRACTORS - lowerCount)],
  }
}

function roundTo(value: number, decimals: number): number {
  return Number(value.toFixed(decimals))
}
