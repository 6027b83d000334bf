import type { Agent, Dispatcher } from 'undici'
import { SendError } from './channel.ts'

/** What a provider answered, whatever its status. */
export interface ProviderAnswer {
  status: number
  /** Undefined where it is no JSON, or broke off. */
  body: unknown
  retryAfter: number | undefined
}

/** Milliseconds until a connection stands. */
const CONNECT = 10_000
/** Idle connections are given up before providers give them up: what is posted on a dying one may or may not have arrived. */
const IDLE = 2000
/** Bytes of an answer that are read. */
const READ = 64 * 1024

/** Seconds for which a provider that is busy, and does not say for how long, is left alone. */
export const SHORT_REST = 5

let agent: Agent | undefined

/**
 * One POST to a provider, without following redirects. What went wrong before the first byte was written has certainly not been
 * sent, and may be repeated; what went wrong afterwards and before an answer may have been.
 */
export async function postTo(
  url: string,
  headers: Record<string, string>,
  body: string,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  const { origin, pathname, search } = new URL(url)
  const client = await import('undici') // not loaded where nobody is contacted for real
  if (signal.aborted) throw new SendError('busy', 'there was no time left to send it')
  agent ??= new client.Agent({
    connect: { timeout: CONNECT },
    allowH2: false,
    pipelining: 1,
    connections: 32,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE,
    keepAliveMaxTimeout: 10_000,
  })
  const { promise, resolve, reject } = Promise.withResolvers<ProviderAnswer>()
  let controller: Dispatcher.DispatchController | undefined
  let written = false
  let status = 0
  let retryAfter: number | undefined
  let answer: Buffer[] = []
  let length = 0
  const giveUp = () => {
    controller?.abort(new Error('given up'))
    fail(new Error('no answer in time'))
  }
  signal.addEventListener('abort', giveUp)
  agent.dispatch(
    { origin, path: pathname + search, method: 'POST', headers, body },
    {
      onRequestStart(given) {
        controller = given
        if (signal.aborted) return given.abort(new Error('given up'))
        written = true
      },
      onResponseStart(_controller, code, answered) {
        status = code
        retryAfter = secondsIn(answered['retry-after'])
      },
      onResponseData(given, chunk) {
        length += chunk.length
        if (length > READ) {
          answer = []
          given.abort(new Error('too long'))
        } else answer.push(Buffer.from(chunk))
      },
      onResponseEnd: () => settle(),
      onResponseError: (_controller, error) => fail(error),
    },
  )
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }

  /** Once the status is known it tells what became of the message, also when the rest never comes. */
  function fail(error: Error & { code?: string }) {
    if (status >= 200) return settle()
    const why = error.code ?? error.message
    reject(
      written
        ? new SendError('unknown', `the connection broke before the answer: ${why}`)
        : new SendError('busy', `no connection to the provider: ${why}`, SHORT_REST),
    )
  }
  function settle() {
    resolve({ status, retryAfter, body: parsed(Buffer.concat(answer).toString()) })
  }
}

/** `Retry-After` in seconds, given as such or as a date. */
function secondsIn(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header
  if (text === undefined) return undefined
  const seconds = /^\d{1,6}$/.test(text) ? Number(text) : Math.ceil((Date.parse(text) - Date.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), 86_400)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Ends idle connections; the next send opens new ones. */
export async function closeProviderConnections(): Promise<void> {
  const open = agent
  agent = undefined
  await open?.close()
}
