import { randomUUID } from 'node:crypto'
import { sign } from '../../sdk/index.ts'
import type { TestKey } from './app.ts'
import type { TestClock } from './clock.ts'

export interface CallOptions {
  onBehalfOf?: string
  /** `true` makes one up. */
  idempotencyKey?: string | true
  /** Sent instead of, or beside, what a proper call carries. */
  headers?: Record<string, string | undefined>
}

export interface Answer {
  status: number
  headers: Headers
  body: any
}

export type Call = (path: string, bodyOrOptions?: unknown, options?: CallOptions) => Promise<Answer>

const BASE = '/api/v1/partner'

/** `get` and `delete` take (path, options); `post` and `put` (path, body, options). */
export function callPartner(
  url: string,
  key: TestKey,
  clock: TestClock,
): Record<'get' | 'post' | 'put' | 'delete', Call> {
  const bare =
    (method: string): Call =>
    (path, options) =>
      send(method, path, undefined, options as CallOptions | undefined)
  const bodied =
    (method: string): Call =>
    (path, body, options) =>
      send(method, path, body, options)
  return { get: bare('GET'), delete: bare('DELETE'), post: bodied('POST'), put: bodied('PUT') }

  async function send(method: string, path: string, body: unknown, options: CallOptions = {}): Promise<Answer> {
    const target = BASE + path
    const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const timestamp = Math.floor(clock.now() / 1000)
    const { onBehalfOf } = options
    const idempotencyKey = options.idempotencyKey === true ? randomUUID() : options.idempotencyKey
    const headers: Record<string, string | undefined> = {
      'x-api-key': key.keyId,
      'x-timestamp': String(timestamp),
      'x-signature': await sign({
        secret: key.secret,
        timestamp,
        method,
        target,
        onBehalfOf,
        idempotencyKey,
        body: text,
      }),
      'content-type': text === undefined ? undefined : 'application/json',
      'x-on-behalf-of': onBehalfOf,
      'idempotency-key': idempotencyKey,
      ...options.headers,
    }
    const response = await fetch(url + target, {
      method,
      headers: Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined),
      body: text ?? null,
    })
    const answer = await response.text()
    return { status: response.status, headers: response.headers, body: parse(answer) }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
