import { createHash } from 'node:crypto'

export const LONGEST_NAME = 128

/** A name that callers send, short enough to be a key of Redis or of a row. Those within the rules stay as they are. */
export function shortName(name: string): string {
  return name.length <= LONGEST_NAME ? name : digestOf(name)
}

export function digestOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url')
}
