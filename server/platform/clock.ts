/** Source of the current time, injected so that tests can advance windows, expiries and retries without sleeping. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** The clock of the server, if this one is the clock of a test (`test-clocks/`). */
  readonly real?: Clock
}

/** Returns the clock of the server, for leases, limits and emails, which do not depend on a test clock. */
export function realClock(clock: Clock): Clock {
  return clock.real ?? clock
}

export const systemClock: Clock = { now: Date.now }

/** Formats a number of seconds for messages: `1 second`, `40 seconds`. */
export function formatSeconds(seconds: number): string {
  return seconds === 1 ? '1 second' : `${seconds} seconds`
}

/** Formats a waiting time for messages, rounded up: `1 second`, `119 seconds`, `2 minutes`, `12 hours`. */
export function formatWait(waitSeconds: number): string {
  if (waitSeconds < 120) return formatSeconds(waitSeconds)
  return waitSeconds < 7200 ? `${Math.ceil(waitSeconds / 60)} minutes` : `${Math.ceil(waitSeconds / 3600)} hours`
}

const ISO_TIMESTAMP_PATTERN = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** Parses an ISO 8601 time with a time zone into milliseconds since 1970; returns undefined for any other text. */
export function parseTimestamp(text: string): number | undefined {
  const date = ISO_TIMESTAMP_PATTERN.exec(text)?.[1]
  const time = date === undefined ? Number.NaN : Date.parse(text)
  // Date.parse accepts 30 February as 2 March.
  return Number.isNaN(time) || !new Date(`${date}T00:00Z`).toISOString().startsWith(date!) ? undefined : time
}

/** Durations in milliseconds. */
export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
