import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { problem } from './problem.ts'

export const BODY_LIMIT = 262_144

export const NO_BODY = Buffer.alloc(0)

export function hasBody({ headers }: IncomingMessage): boolean {
  const declared = headers['content-length']
  return declared === undefined ? headers['transfer-encoding'] !== undefined : declared !== '0'
}

/** The raw bytes of the body, which signatures are made over; refused when too large, then when not JSON. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const { headers } = request
  const declared = headers['content-length']
  if (!hasBody(request)) return NO_BODY
  if (declared !== undefined && Number(declared) > BODY_LIMIT) throw tooLarge()
  const body = await collect(request, BODY_LIMIT)
  if (body.length > 0) requireJson(headers)
  return body
}

/** The raw bytes of a body of any kind, for those who call us in their own way. */
export async function readRawBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  if (!hasBody(request)) return NO_BODY
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  return collect(request, limit)
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const chunks: Buffer[] = []
  let length = 0
  request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  return promise

  function onData(chunk: Buffer) {
    length += chunk.length
    chunks.push(chunk)
    if (length > limit) settle(() => reject(tooLarge(limit)))
  }
  function onEnd() {
    settle(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, length)))
  }
  function onGone() {
    settle(() => reject(problem('VALIDATION_FAILED', 'The body ended before its declared length.')))
  }
  function settle(end: () => void) {
    request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
    end()
  }
}

function tooLarge(limit = BODY_LIMIT) {
  return problem('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes (${Math.floor(limit / 1024)} KB).`)
}

const JSON_TYPE = /^application\/json\s*(;|$)/i
const OTHER_CHARSET = /;\s*charset\s*=\s*(?!"?utf-8"?\s*(;|$))/i

function requireJson(headers: IncomingHttpHeaders) {
  const type = headers['content-type']
  if (type === undefined || !JSON_TYPE.test(type) || OTHER_CHARSET.test(type)) {
    throw problem('UNSUPPORTED_MEDIA_TYPE', 'A body must be sent with Content-Type: application/json (UTF-8).')
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw problem('UNSUPPORTED_MEDIA_TYPE', 'A body must be sent without Content-Encoding.')
  }
}
