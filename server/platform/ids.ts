import { randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'

const nextUlid = monotonicFactory()

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
