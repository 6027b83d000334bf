import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../platform/http/server.ts'

/** Smaller bodies fit into one packet. */
const MIN_COMPRESSED_BYTES = 1024
/** Fast: a page of a list takes about a millisecond. */
const BROTLI_QUALITY = 4

const compressBrotli = promisify(brotliCompress)
const compressGzip = promisify(gzip)

/**
 * Adds an ETag to the responses of GET requests and compresses them. A poll of unchanged data gets a 304 response without a body.
 *
 * Compression does not reveal secrets here (BREACH): other sites cannot make the browser send the session cookie, which is
 * `SameSite=Strict`, so that they cannot measure responses to texts that they choose.
 */
export function encodeResponses(app: App): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || request.method !== 'GET') return payload
    if (reply.statusCode === 200) {
      const etag = `"${createHash('sha1').update(payload).digest('base64url')}"`
      reply.header('etag', etag)
      if (request.headers['if-none-match'] === etag) {
        reply.code(304).removeHeader('content-type')
        return ''
      }
    }
    return payload.length < MIN_COMPRESSED_BYTES ? payload : compressBody(request, reply, payload)
  })
}

async function compressBody({ headers }: FastifyRequest, reply: FastifyReply, body: string): Promise<string | Buffer> {
  reply.header('vary', 'accept-encoding')
  const acceptEncoding = String(headers['accept-encoding'] ?? '')
  if (/\bbr\b/.test(acceptEncoding)) {
    reply.header('content-encoding', 'br')
    return compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
  }
  if (/\bgzip\b/.test(acceptEncoding)) {
    reply.header('content-encoding', 'gzip')
    return compressGzip(body)
  }
  return body
}
