import { AttestryClient, type RequestOptions } from '../sdk/index.ts'
import { LONGEST_WAIT, secondsToWait, untilItPasses } from './listen-loop.ts'
import { withDetails } from './print.ts'
import { readProfile } from './profile.ts'

/** A refusal by the partner API. */
export class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The server could not be reached, has troubles of its own, or a limit is used up: another time it may do. */
export class Unavailable extends Error {
  /** Seconds after which it may, where the server says so. */
  readonly retryAfter: number | undefined

  constructor(message: string, retryAfter?: number) {
    super(message)
    this.retryAfter = retryAfter
  }
}

export type PartnerCall = <T>(method: string, path: string, options?: RequestOptions) => Promise<T>

/** Calls signed with the key of the environment or profile; answers `data`. What is over a limit is waited for, unless told not to. */
export async function openPartner({ wait }: { wait: boolean }): Promise<PartnerCall> {
  const profile = await readProfile(process.env)
  const client = new AttestryClient(profile)
  return async <T>(method: string, path: string, options: RequestOptions = {}) => {
    const once = () => client.request<Envelope<T>>(method, path, options)
    const answer = await untilItPasses(once, { longest: wait ? LONGEST_WAIT : 0 }).catch((error) => {
      if (options.signal?.aborted) throw error
      throw new Unavailable(`${profile.baseUrl} cannot be reached: ${error.cause?.code ?? error.message}`)
    })
    if (answer.body?.success) return answer.body.data
    const { message: told, details = [] } = answer.body?.error ?? {}
    const message = told ? withDetails(told, details) : `the server answered ${answer.status}`
    if (answer.status >= 500 || answer.status === 429) throw new Unavailable(message, secondsToWait(answer))
    throw new Refused(answer.status, message)
  }
}

interface Envelope<T> {
  success: boolean
  data: T
  error?: { message: string; details?: { path: string; message: string }[] }
}
