import { createHash } from 'node:crypto'

const LONGEST = 128

/**
 * A name that callers send, short enough to be a key of Redis or of a row, and without the brace that would end a
 * hash tag. All but the oddest names stay as they are.
 */
export function shortName(name: string): string {
  if (name.length <= LONGEST && !name.includes('}')) return name
  return createHash('sha256').update(name).digest('base64url')
}
