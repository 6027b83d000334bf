import { AttestryClient, type RequestOptions } from '../sdk/index.ts'
import { describeConnectionError } from './connection-error.ts'
import { explainUnauthorized } from './key-check.ts'
import { messageWithDetails } from './print.ts'
import { describeProfile, readProfile } from './profile.ts'
import { MAX_WAIT_SECONDS, retryAfterSeconds, retryWhileLimited } from './rate-limit-retry.ts'

/** A temporary failure: the server could not be reached, returned a 5xx status, or a rate limit was exceeded. */
export class ServerUnavailableError extends Error {
  /** Seconds to wait before retrying, if the server returned them. */
  readonly retryAfter: number | undefined

  constructor(message: string, retryAfter?: number) {
    super(message)
    this.retryAfter = retryAfter
  }
}

export type PartnerCall = <T>(method: string, path: string, options?: RequestOptions) => Promise<T>

export interface PartnerOptions {
  /** Name of the profile, from the global option --profile. */
  profile?: string | undefined
  /** Whether calls that exceed a rate limit are retried. */
  wait: boolean
}

/**
 * Returns a function that signs calls with the key of the profile or the environment and returns their `data`. Prints the server and the
 * key on standard error.
 */
export async function openPartnerApi({ profile: name, wait }: PartnerOptions): Promise<PartnerCall> {
  const profile = await readProfile(process.env, name)
  console.error(`Using the ${describeProfile(profile)}.`)
  const client = new AttestryClient(profile)
  return async <T>(method: string, path: string, options: RequestOptions = {}) => {
    const attempt = () => client.request<Envelope<T>>(method, path, options)
    const response = await retryWhileLimited(attempt, { maxWaitSeconds: wait ? MAX_WAIT_SECONDS : 0 }).catch(
      (error) => {
        if (options.signal?.aborted) throw error
        throw new ServerUnavailableError(describeConnectionError(profile.baseUrl, error))
      },
    )
    if (response.body?.success) return response.body.data
    const { message: text, details = [] } = response.body?.error ?? {}
    const message = text ? messageWithDetails(text, details) : `The server returned status ${response.status}`
    if (response.status >= 500 || response.status === 429)
      throw new ServerUnavailableError(message, retryAfterSeconds(response))
    throw new Error((await explainUnauthorized(profile, method, path, options, response)) ?? message)
  }
}

interface Envelope<T> {
  success: boolean
  data: T
  error?: { message: string; details?: { path: string; message: string }[] }
}
