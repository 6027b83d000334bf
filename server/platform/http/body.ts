import { createWriteStream } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'
import { Type } from 'typebox'
import { Problem, problem } from '../../api/problem.ts'
import { formatSeconds } from '../clock.ts'

export const MAX_BODY_BYTES = 262_144

export const EMPTY_BODY = Buffer.alloc(0)

/** Schema of endpoints without input: no body, or an empty object. */
export const NoBody = Type.Object({}, { additionalProperties: false, default: {} })

/** Bodies up to this size must arrive sooner. */
const MAX_SMALL_BODY_BYTES = 64 * 1024

/**
 * How long a body may take to arrive if its caller will be rejected, if it is small, if it is read into memory, if it contains a file, or if
 * it is saved to a file. Tests shorten these timeouts.
 */
export const bodyTimeoutMs = { rejected: 2_000, small: 10_000, inMemory: 30_000, withFile: 180_000, toFile: 240_000 }

export function hasBody({ headers }: IncomingMessage): boolean {
  const declaredLength = headers['content-length']
  return declaredLength === undefined ? headers['transfer-encoding'] !== undefined : declaredLength !== '0'
}

/** Reads the raw body, which signatures cover. Rejects a body that is too large, then one that is not JSON. */
export async function readBody(
  request: IncomingMessage,
  maxBytes = MAX_BODY_BYTES,
  timeoutMs = timeoutFor(maxBytes),
): Promise<Buffer> {
  if (!hasBody(request)) return EMPTY_BODY
  requireDeclaredLength(request, maxBytes)
  const body = await collectBody(request, maxBytes, timeoutMs)
  if (body.length > 0) requireJson(request.headers)
  return body
}

/**
 * Rejects a body that is too large, then one that is not JSON, like `readBody`, for a caller who will be rejected anyway. Does not wait
 * for a body whose length is declared, and reads no more than a normal body, and not for long, otherwise, so that callers without a key
 * cannot occupy connections or memory.
 */
export async function checkBodyOfRejectedCaller(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<void> {
  if (!hasBody(request)) return
  if (request.headers['content-length'] === undefined) {
    try {
      await readBody(request, Math.min(maxBytes, MAX_BODY_BYTES), bodyTimeoutMs.rejected)
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== REQUEST_TIMEOUT) throw error
    }
  } else checkDeclaredBody(request, maxBytes)
}

/** Rejects a body that is too large, then one that is not JSON, by its headers alone. */
export function checkDeclaredBody(request: IncomingMessage, maxBytes: number): void {
  if (!hasBody(request)) return
  requireDeclaredLength(request, maxBytes)
  requireJson(request.headers)
}

/** Reads a raw body of any media type, such as a provider's callback. */
export async function readRawBody(
  request: IncomingMessage,
  maxBytes: number,
  timeoutMs = timeoutFor(maxBytes),
): Promise<Buffer> {
  if (!hasBody(request)) return EMPTY_BODY
  requireDeclaredLength(request, maxBytes)
  return collectBody(request, maxBytes, timeoutMs)
}

/** Streams a body of any media type to a file. The request is not destroyed on errors, so that the client receives the response. */
export async function saveBody(request: IncomingMessage, path: string, maxBytes: number): Promise<void> {
  requireDeclaredLength(request, maxBytes)
  const file = createWriteStream(path)
  const fileWritten = finished(file)
  fileWritten.catch(() => {}) // handled below, when it is awaited
  try {
    const bodyReceived = receiveBody(request, maxBytes, bodyTimeoutMs.toFile, (chunk) => {
      if (file.write(chunk)) return
      request.pause()
      file.once('drain', () => request.resume())
    })
    await Promise.race([bodyReceived, fileWritten])
    file.end()
    await fileWritten
  } catch (error) {
    file.destroy()
    throw error
  }
}

function requireDeclaredLength({ headers }: IncomingMessage, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLargeProblem(maxBytes)
}

function timeoutFor(maxBytes: number): number {
  return maxBytes <= MAX_SMALL_BODY_BYTES ? bodyTimeoutMs.small : bodyTimeoutMs.inMemory
}

async function collectBody(request: IncomingMessage, maxBytes: number, timeoutMs: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  await receiveBody(request, maxBytes, timeoutMs, (chunk) => chunks.push(chunk))
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function receiveBody(
  request: IncomingMessage,
  maxBytes: number,
  timeoutMs: number,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let length = 0
  const timer = setTimeout(() => settle(() => reject(bodyTimeoutProblem(timeoutMs))), timeoutMs)
  request.on('data', onData).on('end', onEnd).on('error', onAborted).on('close', onAborted)
  if (request.destroyed) onAborted() // closed before the listeners were added: there are no further events
  return promise

  function onData(chunk: Buffer) {
    length += chunk.length
    if (length > maxBytes) settle(() => reject(bodyTooLargeProblem(maxBytes)))
    else onChunk(chunk)
  }
  function onEnd() {
    settle(resolve)
  }
  function onAborted() {
    settle(() => reject(problem('VALIDATION_FAILED', 'The connection was closed before the whole body arrived.')))
  }
  function settle(finish: () => void) {
    clearTimeout(timer)
    request.off('data', onData).off('end', onEnd).off('error', onAborted).off('close', onAborted)
    finish()
  }
}

const REQUEST_TIMEOUT = 408

function bodyTimeoutProblem(timeoutMs: number) {
  return problem('VALIDATION_FAILED', `The body did not arrive within ${formatSeconds(timeoutMs / 1000)}.`, {
    status: REQUEST_TIMEOUT,
  })
}

function bodyTooLargeProblem(maxBytes: number) {
  const size = maxBytes < 1_048_576 ? `${Math.floor(maxBytes / 1024)} KB` : `${Math.floor(maxBytes / 1_048_576)} MB`
  return problem('PAYLOAD_TOO_LARGE', `The body is larger than ${maxBytes} bytes (${size}).`)
}

const JSON_TYPE_PATTERN = /^application\/json\s*(;|$)/i
const OTHER_CHARSET_PATTERN = /;\s*charset\s*=\s*(?!"?utf-8"?\s*(;|$))/i

function requireJson(headers: IncomingHttpHeaders) {
  const contentType = headers['content-type']
  if (contentType === undefined || !JSON_TYPE_PATTERN.test(contentType) || OTHER_CHARSET_PATTERN.test(contentType)) {
    throw problem(
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be sent with Content-Type: application/json, encoded as UTF-8.',
    )
  }
  const contentEncoding = headers['content-encoding']
  if (contentEncoding !== undefined && contentEncoding !== 'identity') {
    throw problem(
      'UNSUPPORTED_MEDIA_TYPE',
      `The body must not be compressed; got Content-Encoding: ${contentEncoding.slice(0, 40)}.`,
    )
  }
}
