import { isAscii } from 'node:buffer'
import type { FastifyReply } from 'fastify'

/**
 * A JSON object, encoded in UTF-8 and stored as a Latin-1 string with one character per byte.
 *
 * Serialising a skill is slower than finding it. Skills do not change within a snapshot, so each skill is serialised once, on first
 * use. Latin-1 strings are fast to concatenate and to convert to bytes. A normal string with Hindi text would have to be encoded in
 * UTF-8 for every response.
 */
export interface SerialisedJson {
  bytes: string
  /** Whether all bytes are ASCII. Then the string is also the text itself and can be sent without a conversion. */
  ascii: boolean
}

export function serialiseJson(record: object): SerialisedJson {
  const bytes = Buffer.from(JSON.stringify(record))
  return { bytes: bytes.toString('latin1'), ascii: isAscii(bytes) }
}

/**
 * Returns a JSON array of the items, between the ASCII texts `before` and `after`. Returns a string if the result is ASCII, because
 * Node sends a string and the headers in one write. A buffer needs a second write.
 */
export function joinJson(before: string, items: SerialisedJson[], after: string): string | Buffer {
  if (items.length === 0) return `${before}[]${after}`
  // Adding `before` and `after` to the first and last items avoids another copy of the whole text.
  const parts = items.map(({ bytes }) => bytes)
  parts[0] = `${before}[${parts[0]}`
  parts[parts.length - 1] += `]${after}`
  const bytes = parts.join(',')
  return items.every(({ ascii }) => ascii) ? bytes : Buffer.from(bytes, 'latin1')
}

export function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json)
}
