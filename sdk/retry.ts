import { AttestryConfigurationError } from './configuration.ts'
import { AttestryError } from './error.ts'

export interface RetryOptions {
  /** Maximum number of retries. Default: 3. */
  retries?: number
  /**
   * Maximum number of seconds to wait before one retry. If the server requests a longer wait, the error is thrown.
   * Default: 60.
   */
  maxWaitSeconds?: number
  /** @deprecated Use `maxWaitSeconds`. */
  longestWait?: number
}

const DEFAULT_RETRIES = 3
const DEFAULT_MAX_WAIT_SECONDS = 60
const FIRST_RETRY_DELAY_SECONDS = 0.5

/**
 * Retries a call if that is useful and safe. A response with `Retry-After` had no effect, so any call can be retried
 * after that time. After other failures, the call may have had an effect, so it is retried only if it is `retryable`.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  retryable: boolean,
  { retries = DEFAULT_RETRIES, maxWaitSeconds = DEFAULT_MAX_WAIT_SECONDS }: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt()
    } catch (error) {
      const delay = retryDelaySeconds(error, retryable, retry)
      if (signal?.aborted || delay === undefined || delay > maxWaitSeconds || retry >= retries) throw error
      await pause(delay * 1000, signal)
    }
  }
}

function retryDelaySeconds(error: unknown, retryable: boolean, retry: number): number | undefined {
  if (error instanceof AttestryConfigurationError) return undefined
  if (error instanceof AttestryError) {
    if (error.retryAfter !== undefined) return error.retryAfter
    if (error.status < 500) return undefined
  }
  // Exponential backoff with jitter, so that many clients do not retry at the same moment.
  return retryable ? FIRST_RETRY_DELAY_SECONDS * 2 ** retry * (0.5 + Math.random() / 2) : undefined
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal!.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
