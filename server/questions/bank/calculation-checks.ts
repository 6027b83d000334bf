import { SeededRandom } from '../../measurement/seeded-random.ts'
import type { StoredCalculation } from '../skill-items.ts'
import { parseFormulas, type VariableValues } from './calculation.ts'
import { parseFormula, type Variables } from './formula.ts'

const MIN_FORMULAS = 3
/** With more combinations of values, this many are drawn. */
const MAX_COMBINATIONS = 500
const MAX_DECIMALS = 2

/** Returns what is wrong with a calculation: formulas, values, and the stems (by language) in which the values are shown. */
export function checkCalculation(calculation: StoredCalculation, texts: ReadonlyMap<string, string>): string[] {
  const findings: string[] = []
  const { lower, higher, values } = calculation
  if (lower.length < MIN_FORMULAS || higher.length < MIN_FORMULAS)
    findings.push(`${lower.length} lower and ${higher.length} higher errors; expected at least ${MIN_FORMULAS} of each`)
  for (const [language, text] of texts) {
    const shownNames = [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    for (const [name, choices] of Object.entries(values))
      if (choices.length > 1 && !shownNames.includes(name))
        findings.push(`the ${language} stem does not contain {${name}}`)
    for (const name of shownNames)
      if (!values[name]) findings.push(`the ${language} stem contains {${name}}, which has no values`)
  }
  findings.push(...checkResults(calculation))
  return findings
}

/** Reports the first combination of values for each kind of error. */
function checkResults({ values, key, lower, higher }: StoredCalculation): string[] {
  const messages = new Map<string, string>()
  const formulas = { key: parseFormula(key), lower: parseFormulas(lower), higher: parseFormulas(higher) }
  for (const variables of combinations(values)) {
    const report = (message: string) => {
      const shownValues = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
      if (!messages.has(message)) messages.set(message, `${message}, for example with ${shownValues.join(' ')}`)
    }
    const exactKey = formulas.key(variables)
    const keyResult = round(exactKey)
    const lowerResults = formulas.lower.map((formula) => round(formula(variables)))
    const higherResults = formulas.higher.map((formula) => round(formula(variables)))
    const results = [keyResult, ...lowerResults, ...higherResults]
    if (!results.every(Number.isFinite)) report('a result is not a number')
    if (results.some((result) => result <= 0)) report('a result is zero or negative')
    if (Math.abs(exactKey - keyResult) > 1e-6) report(`the key has more than ${MAX_DECIMALS} decimals`)
    if (lowerResults.some((result) => result >= keyResult)) report('a lower error is not lower than the key')
    if (higherResults.some((result) => result <= keyResult)) report('a higher error is not higher than the key')
    if (new Set(results).size < results.length) report('two results are equal')
  }
  return [...messages.values()]
}

/** Returns all combinations of the values, or a sample of them if there are many. */
function combinations(values: VariableValues): Variables[] {
  const entries = Object.entries(values)
  const count = entries.reduce((product, [, choices]) => product * choices.length, 1)
  if (count > MAX_COMBINATIONS) {
    const random = new SeededRandom('combinations')
    return Array.from({ length: MAX_COMBINATIONS }, () =>
      Object.fromEntries(entries.map(([name, choices]) => [name, random.pick(choices)!])),
    )
  }
  return entries.reduce<Variables[]>(
    (combined, [name, choices]) =>
      combined.flatMap((variables) => choices.map((choice) => ({ ...variables, [name]: choice }))),
    [{}],
  )
}

function round(value: number): number {
  return Number(value.toFixed(MAX_DECIMALS))
}
