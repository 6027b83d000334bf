import { createWriteStream } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import { seconds } from '../clock.ts'

export const BODY_LIMIT = 262_144

export const NO_BODY = Buffer.alloc(0)

/** For calls that take nothing: an empty object, or no body at all. */
export const NoBody = Type.Object({}, { additionalProperties: false, default: {} })

/** Milliseconds that a body may take to arrive. Tests wait less long. */
export const bodyTime = { whole: 30_000, upload: 240_000 }

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

/** Writes a body of any kind to a file as it comes in. The request itself is never torn down, so that a refusal is heard. */
export async function saveBody(request: IncomingMessage, path: string, limit: number): Promise<void> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  const file = createWriteStream(path)
  const written = finished(file)
  written.catch(() => {}) // told below, where it is waited for
  try {
    const received = receive(request, limit, bodyTime.upload, (chunk) => {
      if (file.write(chunk)) return
      request.pause()
      file.once('drain', () => request.resume())
    })
    await Promise.race([received, written])
    file.end()
    await written
  } catch (error) {
    file.destroy()
    throw error
  }
}

async function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  await receive(request, limit, bodyTime.whole, (chunk) => chunks.push(chunk))
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function receive(request: IncomingMessage, limit: number, time: number, take: (chunk: Buffer) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let length = 0
  const timer = setTimeout(() => settle(() => reject(tooSlow(time))), time)
  request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  return promise

  function onData(chunk: Buffer) {
    length += chunk.length
    if (length > limit) settle(() => reject(tooLarge(limit)))
    else take(chunk)
  }
  function onEnd() {
    settle(resolve)
  }
  function onGone() {
    settle(() => reject(problem('VALIDATION_FAILED', 'The body ended before its declared length.')))
  }
  function settle(end: () => void) {
    clearTimeout(timer)
    request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
    end()
  }
}

function tooSlow(time: number) {
  return problem('VALIDATION_FAILED', `The body did not arrive within ${seconds(time / 1000)}.`, { status: 408 })
}

function tooLarge(limit = BODY_LIMIT) {
  const size = limit < 1_048_576 ? `${Math.floor(limit / 1024)} KB` : `${Math.floor(limit / 1_048_576)} MB`
  return problem('PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes (${size}).`)
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
