import { randomBytes, randomFillSync } from 'node:crypto'
import { monotonicFactory } from 'ulid'

// Random bytes are fetched many at a time: one at a time they cost more than everything else about an id.
const pool = new Uint32Array(1024)
let used = pool.length

function random(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool[used++]! / 0x1_0000_0000
}

const nextUlid = monotonicFactory(random)

/** A prefix and a ULID: sortable by the time of creation, unique without asking the database. */
export function newId<Prefix extends string>(prefix: Prefix, now: number): `${Prefix}${string}` {
  return `${prefix}${nextUlid(now)}`
}

/** URL-safe text of `bytes` random bytes, for tokens and secrets. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}

const UPPER = 'ABCDEFGHJKMNPQRSTVWXYZ0123456789'

/** Upper-case letters and digits, five random bits each: easy to read aloud and to select with a double click. */
export function randomCode(length: number): string {
  let code = ''
  for (const byte of randomBytes(length)) code += UPPER[byte & 31]
  return code
}
