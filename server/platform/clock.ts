/** Business code asks this for the time, so that windows, expiries and retries are tested without sleeping. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
}

export const systemClock: Clock = { now: Date.now }

/** For sentences: `1 second`, `40 seconds`. */
export function seconds(count: number): string {
  return count === 1 ? '1 second' : `${count} seconds`
}

const ISO = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** Milliseconds since 1970 of an ISO 8601 time with its zone; undefined for any other text. */
export function readMoment(text: string): number | undefined {
  const day = ISO.exec(text)?.[1]
  const time = day === undefined ? Number.NaN : Date.parse(text)
  // The parser takes 30 February for 2 March.
  return Number.isNaN(time) || !new Date(`${day}T00:00Z`).toISOString().startsWith(day!) ? undefined : time
}

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
