import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'

/** Waits after the first failure, the second, and so on. */
const steps = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR]
const EVERY = 12 * HOUR
/** Share of a wait that chance adds or takes, so that what failed together is not tried again together. */
const JITTER = 0.1
/** However long an endpoint asks to be left alone. */
const LONGEST_REST = DAY

/** When to try again after so many failures; `rest` is what the endpoint asked for, in milliseconds. */
export function nextAttempt(now: number, failures: number, rest = 0, random = Math.random): number {
  const step = steps[failures - 1] ?? EVERY
  const wait = step * (1 - JITTER + 2 * JITTER * random())
  return Math.ceil(now + Math.max(wait, Math.min(rest, LONGEST_REST)))
}

/** Milliseconds that a Retry-After header asks for: seconds, or a date. */
export function readRetryAfter(header: string | undefined, now: number): number {
  if (header === undefined) return 0
  const text = header.trim()
  if (/^\d{1,12}$/.test(text)) return Number(text) * SECOND
  const date = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}
