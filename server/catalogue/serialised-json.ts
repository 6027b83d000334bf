import { isAscii } from 'node:buffer'
import type { FastifyReply } from 'fastify'

/**
 * JSON in UTF-8, stored as a Latin-1 string with one character per byte. Skills do not change within a snapshot, and serialising
 * them is slower than finding them, so each skill is serialised once, on first use. Such strings can be concatenated and converted
 * to bytes without encoding them again, which text beyond Latin-1 would need on every response.
 */
export interface SerialisedJson {
  bytes: string
  /** All bytes are ASCII, so the string can be sent as text. */
  ascii: boolean
}

export function serialiseJson(record: object): SerialisedJson {
  const bytes = Buffer.from(JSON.stringify(record))
  return { bytes: bytes.toString('latin1'), ascii: isAscii(bytes) }
}

/**
 * Returns a JSON array of the items between two ASCII texts. An ASCII result stays a string, which Node sends with the headers in one
 * write; a buffer needs a second write.
 */
export function joinJson(before: string, items: SerialisedJson[], after: string): string | Buffer {
  if (items.length === 0) return `${before}[]${after}`
  // Adds the surrounding text to the first and last items, to avoid copying the whole text once more.
  const parts = items.map(({ bytes }) => bytes)
  parts[0] = `${before}[${parts[0]}`
  parts[parts.length - 1] += `]${after}`
  const bytes = parts.join(',')
  return items.every(({ ascii }) => ascii) ? bytes : Buffer.from(bytes, 'latin1')
}

export function sendJson(reply: FastifyReply, json: string | Buffer): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(json)
}
