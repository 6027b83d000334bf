import { AttestryError } from './error.ts'

export interface RetryOptions {
  /** How often a call is made again at most. */
  retries?: number
  /** Seconds: a call that must wait longer is given up, and its error tells how long. */
  longestWait?: number
}

const RETRIES = 3
const LONGEST_WAIT = 60
const FIRST_PAUSE = 0.5

/**
 * Makes a call again where that can help and cannot harm. A refusal with `Retry-After` has changed nothing, and passes after that time;
 * what failed in another way may have had its effect, so it is made again only where a second time changes nothing.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  repeatable: boolean,
  { retries = RETRIES, longestWait = LONGEST_WAIT }: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      const wait = secondsToWait(error, repeatable, tries)
      if (signal?.aborted || wait === undefined || wait > longestWait || tries >= retries) throw error
      await pause(wait * 1000, signal)
    }
  }
}

function secondsToWait(error: unknown, repeatable: boolean, tries: number): number | undefined {
  if (error instanceof AttestryError) {
    if (error.retryAfter !== undefined) return error.retryAfter
    if (error.status < 500) return undefined
  }
  // The half of it by chance, so that many clients do not come back at one moment.
  return repeatable ? FIRST_PAUSE * 2 ** tries * (0.5 + Math.random() / 2) : undefined
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', end, { once: true })
  })
}
