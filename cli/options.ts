import { InvalidArgumentError } from 'commander'
import type { Mode } from '../server/access/keys.ts'
import { isScope, type Scope, scopes } from '../server/access/scopes.ts'
import { unstorable } from '../server/platform/http/json.ts'

/** Readers of option values; each refuses with a sentence that says what is expected. */

export function name(text: string): string {
  if (!text.trim() || [...text].length > 200 || unstorable(text))
    throw new InvalidArgumentError('Expected 1 to 200 characters.')
  return text
}

export function mode(text: string): Mode {
  if (text !== 'test' && text !== 'live') throw new InvalidArgumentError('Expected test or live.')
  return text
}

export function scopeList(text: string): Scope[] {
  if (text === 'all') return [...scopes]
  const names = text.split(',').map((part) => part.trim())
  const unknown = names.filter((part) => !isScope(part))
  if (unknown.length > 0)
    throw new InvalidArgumentError(`Unknown: ${unknown.join(', ')}. There are: ${scopes.join(', ')}; or all.`)
  return [...new Set(names as Scope[])]
}

export function futureTime(text: string): Date {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN)
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('Expected ISO 8601, such as 2030-01-31T00:00:00Z.')
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('Expected a time in the future.')
  return time
}

/** Up to four decimals: the rate limits count in ten-thousandths. */
export function rate(most: number) {
  return (text: string): number => {
    const number = /^\d{1,12}(\.\d{1,4})?$/.test(text) ? Number(text) : Number.NaN
    if (!(number > 0 && number <= most))
      throw new InvalidArgumentError(
        `Expected a number above 0 and up to ${most}, such as 5 or 0.2 (one in 5 seconds).`,
      )
    return number
  }
}

export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= least && number <= most))
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`)
    return number
  }
}
