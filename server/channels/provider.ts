import type { Agent, Dispatcher } from 'undici'
import { parseRetryAfter } from '../platform/http/retry-after.ts'
import { parseJsonOrUndefined } from '../platform/json.ts'
import { SendError } from './channel.ts'

/** A provider's response with any status. */
export interface ProviderResponse {
  status: number
  /** The parsed JSON body; undefined if it is incomplete or not JSON. */
  body: unknown
  retryAfter: number | undefined
}

const CONNECT_TIMEOUT_MS = 10_000
/** Shorter than the providers' own idle timeouts: a request on a closing connection may or may not arrive. */
const IDLE_TIMEOUT_MS = 2000
const MAX_RESPONSE_BYTES = 64 * 1024

/** Pause after a busy response without a Retry-After header. */
export const DEFAULT_PAUSE_SECONDS = 5

let agent: Agent | undefined

/** Sends one POST request, as described at `requestFrom`. */
export function postTo(
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<ProviderResponse> {
  return requestFrom('POST', url, headers, body, signal)
}

/** Sends one GET request, as described at `requestFrom`. */
export function getFrom(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<ProviderResponse> {
  return requestFrom('GET', url, headers, null, signal)
}

/**
 * Sends one request without following redirects. An error before the first byte is written is `busy` (safe to retry); an
 * error after that and before the response is `unknown`.
 */
async function requestFrom(
  method: 'GET' | 'POST',
  url: string,
  headers: Record<string, string>,
  body: string | null,
  signal: AbortSignal,
): Promise<ProviderResponse> {
  const { origin, pathname, search } = new URL(url)
  const undici = await import('undici') // loaded only when a provider is used
  if (signal.aborted) throw new SendError('busy', 'the send timed out before the request started')
  agent ??= new undici.Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    allowH2: false,
    pipelining: 1,
    connections: 32,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    keepAliveMaxTimeout: 10_000,
  })
  const { promise, resolve, reject } = Promise.withResolvers<ProviderResponse>()
  let controller: Dispatcher.DispatchController | undefined
  let hasStarted = false
  let status = 0
  let retryAfter: number | undefined
  let chunks: Buffer[] = []
  let receivedBytes = 0
  const abort = () => {
    controller?.abort(new Error('aborted'))
    fail(new Error('response timeout'))
  }
  signal.addEventListener('abort', abort)
  agent.dispatch(
    { origin, path: pathname + search, method, headers, body },
    {
      onRequestStart(requestController) {
        controller = requestController
        if (signal.aborted) return requestController.abort(new Error('aborted'))
        hasStarted = true
      },
      onResponseStart(_controller, code, responseHeaders) {
        status = code
        retryAfter = retryAfterSeconds(responseHeaders['retry-after'])
      },
      onResponseData(responseController, chunk) {
        receivedBytes += chunk.length
        if (receivedBytes > MAX_RESPONSE_BYTES) {
          chunks = []
          responseController.abort(new Error('response too large'))
        } else chunks.push(Buffer.from(chunk))
      },
      onResponseEnd: () => settle(),
      onResponseError: (_controller, error) => fail(error),
    },
  )
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', abort)
  }

  /** The status alone decides the outcome, so an incomplete body is not an error. */
  function fail(error: Error & { code?: string }) {
    if (status >= 200) return settle()
    const cause = error.code ?? error.message
    reject(
      hasStarted
        ? new SendError('unknown', `connection lost before the response: ${cause}`)
        : new SendError('busy', `connection to the provider failed: ${cause}`, DEFAULT_PAUSE_SECONDS),
    )
  }
  function settle() {
    resolve({ status, retryAfter, body: parseJsonOrUndefined(Buffer.concat(chunks).toString()) })
  }
}

/** Returns the seconds that a Retry-After header asks for, up to a day. */
function retryAfterSeconds(header: string | string[] | undefined): number | undefined {
  const milliseconds = parseRetryAfter(header, Date.now())
  return milliseconds === undefined ? undefined : Math.min(Math.ceil(milliseconds / 1000), 86_400)
}

/** Closes idle connections; the next send opens new ones. */
export async function closeProviderConnections(): Promise<void> {
  const closingAgent = agent
  agent = undefined
  await closingAgent?.close()
}
