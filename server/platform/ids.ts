import { randomBytes, randomFillSync } from 'node:crypto'
import { monotonicFactory } from 'ulid'

// Random bytes are fetched in bulk: fetching them one at a time costs more than the rest of creating an ID.
const randomPool = new Uint32Array(1024)
let usedCount = randomPool.length

function nextRandom(): number {
  if (usedCount === randomPool.length) {
    randomFillSync(randomPool)
    usedCount = 0
  }
  return randomPool[usedCount++]! / 0x1_0000_0000
}

const nextUlid = monotonicFactory(nextRandom)

/** Returns a prefix and a ULID: sortable by creation time, and unique without a database query. */
export function newId<Prefix extends string>(prefix: Prefix, now: number): `${Prefix}${string}` {
  return `${prefix}${nextUlid(now)}`
}

/** Returns `bytes` random bytes as URL-safe text, for tokens and secrets. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

const CODE_ALPHABET = 'ABCDEFGHJKMNPQRSTVWXYZ0123456789'

/** Returns upper-case letters and digits, five random bits each: easy to read aloud and to select with a double click. */
export function randomCode(length: number): string {
  let code = ''
  for (const byte of randomBytes(length)) code += CODE_ALPHABET[byte & 31]
  return code
}
