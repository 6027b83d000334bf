import { setTimeout } from 'node:timers/promises'
import { SECOND } from '../server/platform/clock.ts'
import { parseRetryAfter } from '../server/platform/http/retry-after.ts'

/** Maximum total time for which a command waits for a rate limit. */
export const MAX_WAIT_SECONDS = 30

export const NO_WAIT_OPTION = [
  '--no-wait',
  'fail immediately if a rate limit is exceeded (429), instead of waiting and retrying',
] as const

export interface LimitRetryOptions {
  /** Maximum total of all waits of a call; 0 disables retries. */
  maxWaitSeconds: number
  pause?: (seconds: number) => Promise<unknown>
  log?: (line: string) => void
}

/**
 * Retries a call while it exceeds a rate limit. This is safe for every method: a rejected call has no effect, and its
 * response contains the time to wait.
 */
export async function retryWhileLimited<Response extends { status: number; headers: Headers }>(
  attempt: () => Promise<Response>,
  { maxWaitSeconds, pause = (seconds) => setTimeout(seconds * 1000), log = console.error }: LimitRetryOptions,
): Promise<Response> {
  let remainingSeconds = maxWaitSeconds
  for (;;) {
    const response = await attempt()
    const seconds = retryAfterSeconds(response)
    if (seconds === undefined || maxWaitSeconds === 0) return response
    if (seconds > remainingSeconds) {
      const waitedSeconds = maxWaitSeconds - remainingSeconds
      const waitedText = waitedSeconds > 0 ? ` (waited ${waitedSeconds} s so far)` : ''
      log(
        `Rate limit exceeded; not retrying in ${seconds} s, because a command waits at most ${maxWaitSeconds} s${waitedText}.`,
      )
      return response
    }
    log(`Rate limit exceeded; retrying in ${seconds} s.`)
    await pause(seconds)
    remainingSeconds -= seconds
  }
}

/** Returns the seconds to wait before retrying, or undefined if the response is not a rate limit error. */
export function retryAfterSeconds({ status, headers }: { status: number; headers: Headers }): number | undefined {
  if (status !== 429) return undefined
  const delayMs = parseRetryAfter(headers.get('retry-after') ?? undefined, Date.now())
  return delayMs === undefined ? undefined : Math.max(1, Math.ceil(delayMs / SECOND))
}
