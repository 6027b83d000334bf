import { randomUUID } from 'node:crypto'
import { sign } from '../../sdk/index.ts'
import type { Mode } from '../../server/access/keys.ts'
import { parseJsonOrUndefined } from '../../server/platform/json.ts'
import type { TestClock } from './clock.ts'

export interface TestKey {
  orgId: string
  mode: Mode
  keyId: string
  secret: string
}

interface CallOptions {
  onBehalfOf?: string
  /** The idempotency key; `true` generates one. */
  idempotencyKey?: string | true
  /** Headers that are added to a valid call or replace its headers; `undefined` removes a header. */
  headers?: Record<string, string | undefined>
}

export interface TestResponse {
  status: number
  headers: Headers
  body: any
}

export type Call = (path: string, bodyOrOptions?: unknown, options?: CallOptions) => Promise<TestResponse>

const PARTNER_API = '/api/v1/partner'

/**
 * Returns functions for signed calls of the partner API: `get` and `delete` take (path, options), `post`, `put` and `patch` (path, body,
 * options).
 */
export function createPartnerCalls(
  url: string,
  key: TestKey,
  clock: TestClock,
): Record<'get' | 'post' | 'put' | 'patch' | 'delete', Call> {
  const createCallWithoutBody =
    (method: string): Call =>
    (path, options) =>
      send(method, path, undefined, options as CallOptions | undefined)
  const createCallWithBody =
    (method: string): Call =>
    (path, body, options) =>
      send(method, path, body, options)
  return {
    get: createCallWithoutBody('GET'),
    delete: createCallWithoutBody('DELETE'),
    post: createCallWithBody('POST'),
    put: createCallWithBody('PUT'),
    patch: createCallWithBody('PATCH'),
  }

  async function send(method: string, path: string, body: unknown, options: CallOptions = {}): Promise<TestResponse> {
    const target = PARTNER_API + path
    const bodyText = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
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
        body: bodyText,
      }),
      'content-type': bodyText === undefined ? undefined : 'application/json',
      'x-on-behalf-of': onBehalfOf,
      'idempotency-key': idempotencyKey,
      ...options.headers,
    }
    const response = await fetch(url + target, {
      method,
      headers: Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined),
      body: bodyText ?? null,
    })
    const responseText = await response.text()
    return { status: response.status, headers: response.headers, body: parseBody(responseText) }
  }
}

/** Parses a response body as JSON; returns it as text if it is not JSON. */
export function parseBody(text: string): unknown {
  const json = parseJsonOrUndefined(text)
  return json === undefined ? text : json
}
