import type { Dispatcher } from 'undici'
import { type ConnectorOptions, createConnector } from './connector.ts'

export interface SendResult {
  statusCode: number | null
  /** Why the attempt failed; null for a complete 2xx response. */
  error: string | null
  /** The beginning of the response body. */
  responseText: string
  retryAfter: string | undefined
  latencyMs: number
}

export interface EndpointSender {
  send(headers: string[], body: string): Promise<SendResult>
  /** Closes idle connections now and the others after their request. */
  close(): void
  /** Aborts the requests in flight. */
  abort(): void
}

const MAX_STORED_RESPONSE_BYTES = 1024
const MAX_READ_RESPONSE_BYTES = 64 * 1024
/** Shorter than the timeout of most servers: a POST on a connection that the server is closing would fail. */
const KEEP_ALIVE_MS = 2000
/** Upper bound for a keep-alive timeout that the server requests. */
const MAX_KEEP_ALIVE_MS = 60_000

/** Sends requests to one origin. */
export interface RequestSender extends Omit<EndpointSender, 'send'> {
  request(method: 'PATCH' | 'POST' | 'PUT', path: string, headers: string[], body: string): Promise<SendResult>
}

export interface SenderOptions extends ConnectorOptions {
  url: string
  maxConnections: number
  /** Bytes of the response body that are returned; 1024 by default. */
  maxStoredBytes?: number
}

/** Loads the HTTP client, which a server without webhooks does not need in memory. */
export function loadHttpClient(): Promise<typeof import('undici')> {
  return import('undici')
}

/** Opens a sender with connections for one endpoint only, so that no endpoint waits for another. */
export async function openSender(options: SenderOptions): Promise<EndpointSender> {
  const { pathname, search } = new URL(options.url)
  const { request, close, abort } = await openRequestSender(options)
  return { send: (headers, body) => request('POST', pathname + search, headers, body), close, abort }
}

/** Opens a sender for all paths of the URL's origin. */
export async function openRequestSender({
  url,
  maxConnections,
  maxStoredBytes = MAX_STORED_RESPONSE_BYTES,
  ...options
}: SenderOptions): Promise<RequestSender> {
  const { Pool, buildConnector } = await loadHttpClient()
  const { origin } = new URL(url)
  const { timeoutMs } = options
  const pool = new Pool(origin, {
    connect: createConnector(buildConnector, options),
    connections: maxConnections,
    allowH2: false,
    pipelining: 1,
    // `send` has one timeout for connecting, headers and body together.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: MAX_KEEP_ALIVE_MS,
  })
  return {
    request(method, path, headers, body) {
      return new Promise((resolve) => send({ method, path, headers, body }, resolve))
    },
    close: () => void pool.close().catch(() => {}),
    abort: () => void pool.destroy().catch(() => {}),
  }

  function send(request: Dispatcher.DispatchOptions, resolve: (result: SendResult) => void) {
    const startedAt = performance.now()
    const chunks: Buffer[] = []
    let bytesRead = 0
    let statusCode: number | null = null
    let retryAfter: string | undefined
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    const timer = setTimeout(() => settle(`no complete response within ${timeoutMs / 1000} s`, true), timeoutMs)

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started
        if (settled) started.abort(new Error('timeout'))
      },
      onResponseStart(_controller, code, responseHeaders) {
        statusCode = code
        const header = responseHeaders['retry-after']
        retryAfter = Array.isArray(header) ? header[0] : header
      },
      onResponseData(_controller, chunk) {
        const remainingBytes = maxStoredBytes - bytesRead
        // Copied, because a slice would retain the socket's whole buffer.
        if (remainingBytes > 0) chunks.push(Buffer.from(chunk.subarray(0, remainingBytes)))
        bytesRead += chunk.length
        if (bytesRead > MAX_READ_RESPONSE_BYTES) settle(statusError(statusCode), true)
      },
      onResponseEnd: () => settle(statusError(statusCode), false),
      onResponseError: (_controller, error) => settle(errorText(error), false),
    }
    try {
      pool.dispatch(request, handler)
    } catch (error) {
      settle(errorText(error as Error), false)
    }

    function settle(error: string | null, abort: boolean) {
      if (settled) return
      settled = true
      clearTimeout(timer)
      if (abort) controller?.abort(new Error('response no longer needed'))
      const latencyMs = Math.round((performance.now() - startedAt) * 10) / 10
      resolve({ statusCode, error, responseText: decodeBody(Buffer.concat(chunks)), retryAfter, latencyMs })
    }
  }
}

function statusError(statusCode: number | null): string | null {
  if (statusCode === null) return 'no response'
  if (statusCode >= 200 && statusCode < 300) return null
  return statusCode >= 300 && statusCode < 400
    ? `responded with ${statusCode}; redirects are not followed`
    : `responded with ${statusCode}`
}

/** Omits a character that was cut off at the end, and replaces NUL, which PostgreSQL cannot store. */
function decodeBody(bytes: Buffer): string {
  return bytes.length === 0 ? '' : new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd')
}

const ERROR_TEXT_BY_CODE: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed before the response was complete',
  EPIPE: 'connection closed before the response was complete',
  UND_ERR_SOCKET: 'connection closed before the response was complete',
  ENOTFOUND: 'host name does not resolve',
  EAI_AGAIN: 'host name does not resolve',
  ESERVFAIL: 'host name does not resolve',
  ETIMEOUT: 'host name does not resolve',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'response headers too large',
}

function errorText(error: Error & { code?: string; errors?: (Error & { code?: string })[] }): string {
  const { code = error.errors?.[0]?.code, message } = error
  if (code === 'TARGET_REJECTED') return `not sent: the host ${message}`
  if (error.name === 'HTTPParserError') return 'response is not HTTP'
  if (code === undefined) return 'response could not be read'
  if (/^(ERR_TLS|ERR_SSL|CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO)/.test(code)) return `TLS failed: ${code}`
  return ERROR_TEXT_BY_CODE[code] ?? code
}
