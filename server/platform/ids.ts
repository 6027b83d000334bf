import { randomFillSync } from 'node:crypto'
import { monotonicFactory, type ULIDFactory } from 'ulid'
import { randomBytes } from './random.ts'

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

/**
 * A factory for each of the last milliseconds. One factory for all would use the latest time that it has seen, also for a caller that
 * read the clock earlier: the order of IDs would then differ from the order of the creation times that are stored and shown.
 */
const factories = new Map<number, ULIDFactory>()
const MAX_FACTORIES = 100

/**
 * Returns a prefix and a ULID: unique without a database query, and sortable by exactly this time. IDs with the same time increase in
 * the order of the calls.
 */
export function newId<Prefix extends string>(prefix: Prefix, now: number): `${Prefix}${string}` {
  let nextUlid = factories.get(now)
  if (!nextUlid) {
    nextUlid = monotonicFactory(nextRandom)
    factories.set(now, nextUlid)
    if (factories.size > MAX_FACTORIES) factories.delete(factories.keys().next().value!)
  }
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
