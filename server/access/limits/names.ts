import { createHash } from 'node:crypto'

export const MAX_NAME_LENGTH = 128

/** Shortens a name sent by a caller for use in a Redis key or a database row. Names of valid length are not changed. */
export function shortenName(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : hashName(name)
}

export function hashName(name: string): string {
  return createHash('sha256').update(name).digest('base64url')
}
