import { timingSafeEqual } from 'node:crypto'
import type { Vault } from '../vault.ts'
import { invalid } from './validation.ts'

/**
 * A place in a list, for the caller to hand back. It is stamped together with the list's name (and whatever narrows the
 * list), so that it cannot be altered or used in another list.
 */
export function writeCursor(vault: Vault, list: string, position: unknown): string {
  const text = JSON.stringify(position)
  return Buffer.concat([vault.stamp(text, purpose(list)), Buffer.from(text)]).toString('base64url')
}

/** What `writeCursor` was given, or undefined without a cursor; anything else is refused at `query.cursor`. */
export function readCursor<Position>(vault: Vault, list: string, cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  const text = bytes.subarray(STAMP).toString()
  // The decoder skips what it does not know; only the very text that was handed out is taken back.
  if (bytes.length > STAMP && bytes.toString('base64url') === cursor) {
    if (timingSafeEqual(bytes.subarray(0, STAMP), vault.stamp(text, purpose(list)))) return JSON.parse(text) as Position
  }
  throw invalid([{ path: 'query.cursor', message: 'must be a next_cursor of this list, with the same filters' }])
}

const STAMP = 16

function purpose(list: string) {
  return `cursor of ${list}`
}
