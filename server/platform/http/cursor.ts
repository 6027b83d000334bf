import { invalid } from '../../api/invalid.ts'
import type { Vault } from '../vault.ts'

/**
 * Encodes a position in a list for the caller to send back. It is authenticated together with the list's name and filters, so that
 * it cannot be altered or used with another list.
 */
export function writeCursor(vault: Vault, list: string, position: unknown): string {
  const positionJson = JSON.stringify(position)
  return Buffer.concat([vault.mac(positionJson, macPurpose(list)), Buffer.from(positionJson)]).toString('base64url')
}

/** Returns the position of a cursor that `writeCursor` created; throws a validation error at `query.cursor` for any other text. */
export function readCursor<Position>(vault: Vault, list: string, cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const bytes = Buffer.from(cursor, 'base64url')
  const positionJson = bytes.subarray(MAC_BYTES).toString()
  // The decoder ignores invalid characters, so compare: only the exact text that was returned is accepted.
  if (bytes.length > MAC_BYTES && bytes.toString('base64url') === cursor) {
    if (vault.verifyMac(bytes.subarray(0, MAC_BYTES), positionJson, macPurpose(list)))
      return JSON.parse(positionJson) as Position
  }
  throw invalid([
    { path: 'query.cursor', message: 'must be a `next_cursor` that this endpoint returned for the same filters' },
  ])
}

const MAC_BYTES = 16

function macPurpose(list: string) {
  return `cursor of ${list}`
}
