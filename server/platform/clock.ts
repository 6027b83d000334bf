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

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
