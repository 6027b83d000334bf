import { InvalidArgumentError } from 'commander'
import type { Mode } from '../server/access/keys.ts'
import { allScopes, isScope, type Scope } from '../server/access/scopes.ts'
import { unstorableReason } from '../server/platform/http/json.ts'

/** Parsers of option values. Each throws an error that describes the expected value. */

export function parseName(text: string): string {
  if (!text.trim() || [...text].length > 200 || unstorableReason(text))
    throw new InvalidArgumentError('Expected 1 to 200 characters, at least one of them not a space.')
  return text
}

export function parseEmail(text: string): string {
  if (text.length > 254 || !/^[^\s@<>"(),:;]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/.test(text))
    throw new InvalidArgumentError('Expected an email address.')
  return text
}

/** Parses a date (its start in UTC) or a time. */
export function parseTime(text: string): Date {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN)
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Expected a date or an ISO 8601 time, such as 2026-01-31 or 2026-01-31T18:30:00Z.')
  return time
}

export function parseMode(text: string): Mode {
  if (text !== 'test' && text !== 'live') throw new InvalidArgumentError('Expected test or live.')
  return text
}

export function parseScopes(text: string): Scope[] {
  if (text === 'all') return [...allScopes]
  const scopeNames = text.split(',').map((part) => part.trim())
  const unknown = scopeNames.filter((part) => !isScope(part))
  if (unknown.length > 0)
    throw new InvalidArgumentError(
      `Unknown scopes: ${unknown.join(', ')}. Expected "all" or a comma-separated list of: ${allScopes.join(', ')}.`,
    )
  return [...new Set(scopeNames as Scope[])]
}

export function parseFutureTime(text: string): Date {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN)
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Expected an ISO 8601 time, such as 2030-01-31T00:00:00Z.')
  if (time.getTime() <= Date.now()) throw new InvalidArgumentError('Expected a time in the future.')
  return time
}

/** Returns a parser of rates. It accepts up to four decimals, because the rate limits count in ten-thousandths of a call. */
export function rateParser(max: number) {
  return (text: string): number => {
    const number = /^\d{1,12}(\.\d{1,4})?$/.test(text) ? Number(text) : Number.NaN
    if (!(number > 0 && number <= max))
      throw new InvalidArgumentError(
        `Expected a number above 0 and up to ${max}, such as 5 or 0.2 (one call in 5 seconds).`,
      )
    return number
  }
}

export function wholeNumberParser(min: number, max: number) {
  return (text: string): number => {
    const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= min && number <= max))
      throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`)
    return number
  }
}
