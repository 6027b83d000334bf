import type { Dispatcher } from 'undici'
import { type ConnectorOptions, createConnector } from './connector.ts'

/** What came of one POST. */
export interface Reply {
  statusCode: number | null
  /** Why it does not count as taken; null for a complete answer of 2xx. */
  error: string | null
  /** The beginning of the answer's body. */
  answer: string
  retryAfter: string | undefined
  milliseconds: number
}

export interface Sender {
  send(headers: string[], body: string): Promise<Reply>
  /** Ends idle connections and, after that, those in use. */
  close(): void
  /** Breaks off what is under way. */
  abandon(): void
}

/** Bytes of an answer that are kept, and those that are read at all. */
const KEPT = 1024
const READ = 64 * 1024
/** Idle connections are given up before most servers give them up: a POST on a dying one would fail for nothing. */
const IDLE = 2000

export interface SenderOptions extends ConnectorOptions {
  url: string
  /** How many at once. */
  connections: number
}

/** A server whose partners have no endpoints does not carry the client for them; one whose partners have, loads it ahead. */
export function loadClient(): Promise<typeof import('undici')> {
  return import('undici')
}

/** Sends to one endpoint over connections of its own, so that no endpoint waits for another's. */
export async function openSender({ url, connections, ...options }: SenderOptions): Promise<Sender> {
  const { Pool, buildConnector } = await loadClient()
  const { origin, pathname, search } = new URL(url)
  const { timeout } = options
  const path = pathname + search
  const pool = new Pool(origin, {
    connect: createConnector(buildConnector, options),
    connections,
    allowH2: false,
    pipelining: 1,
    // One clock covers connecting, headers and body together.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE,
    keepAliveMaxTimeout: 60_000,
  })
  return {
    send(headers, body) {
      return new Promise((resolve) => post(headers, body, resolve))
    },
    close: () => void pool.close().catch(() => {}),
    abandon: () => void pool.destroy().catch(() => {}),
  }

  function post(headers: string[], body: string, resolve: (reply: Reply) => void) {
    const started = performance.now()
    const chunks: Buffer[] = []
    let read = 0
    let statusCode: number | null = null
    let retryAfter: string | undefined
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    const timer = setTimeout(() => settle(`no complete answer within ${timeout / 1000} s`, true), timeout)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(given) {
        controller = given
        if (settled) given.abort(new Error('too late'))
      },
      onResponseStart(_controller, code, answered) {
        statusCode = code
        const header = answered['retry-after']
        retryAfter = Array.isArray(header) ? header[0] : header
      },
      onResponseData(_controller, chunk) {
        // A copy: a slice would keep the whole buffer that the socket read into.
        if (read < KEPT) chunks.push(Buffer.from(chunk.subarray(0, KEPT - read)))
        read += chunk.length
        if (read > READ) settle(refusal(statusCode), true)
      },
      onResponseEnd: () => settle(refusal(statusCode), false),
      onResponseError: (_controller, error) => settle(wording(error), false),
    }
    try {
      pool.dispatch({ path, method: 'POST', headers, body }, handler)
    } catch (error) {
      settle(wording(error as Error), false)
    }

    function settle(error: string | null, breakOff: boolean) {
      if (settled) return
      settled = true
      clearTimeout(timer)
      if (breakOff) controller?.abort(new Error('enough'))
      const milliseconds = Math.round((performance.now() - started) * 10) / 10
      resolve({ statusCode, error, answer: storable(Buffer.concat(chunks)), retryAfter, milliseconds })
    }
  }
}

function refusal(statusCode: number | null): string | null {
  if (statusCode === null) return 'no answer'
  if (statusCode >= 200 && statusCode < 300) return null
  return statusCode >= 300 && statusCode < 400
    ? `answered ${statusCode}; redirects are not followed`
    : `answered ${statusCode}`
}

/** As text that any store and reader can keep: no NUL, no half characters at the cut. */
function storable(bytes: Buffer): string {
  return bytes.length === 0 ? '' : new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
}

const words: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection broke before the answer was complete',
  EPIPE: 'the connection broke before the answer was complete',
  UND_ERR_SOCKET: 'the connection broke before the answer was complete',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name does not resolve',
  ESERVFAIL: 'the host name does not resolve',
  ETIMEOUT: 'the host name does not resolve',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the host cannot be reached',
  ETIMEDOUT: 'the connection was not made in time',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not made in time',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too long',
}

function wording(error: Error & { code?: string; errors?: (Error & { code?: string })[] }): string {
  const { code = error.errors?.[0]?.code, message } = error
  if (code === 'TARGET_REFUSED') return `not sent: the host ${message}`
  if (error.name === 'HTTPParserError') return 'the answer is not HTTP'
  if (code === undefined) return 'the answer could not be read'
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(code)) return `TLS failed: ${code}`
  return words[code] ?? code
}
