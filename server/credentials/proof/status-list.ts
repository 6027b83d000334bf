import { gunzipSync, gzipSync } from 'node:zlib'
import type { JsonObject } from '../../platform/json.ts'
import { CREDENTIALS_CONTEXT } from './contexts.ts'

/** Minimum number of entries that the Bitstring Status List specification requires: one entry says nothing about the others. */
export const MIN_STATUS_LIST_SIZE = 131_072

/** Maximum number of bytes of a decompressed list: 8 million entries. A small gzip file could expand to gigabytes. */
const MAX_LIST_BYTES = 1024 * 1024

/** Returns an empty list of the minimum size. A list is a sequence of bits; the first one is the highest bit of the first byte. */
export function createStatusList(): Uint8Array {
  return new Uint8Array(MIN_STATUS_LIST_SIZE / 8)
}

/** Returns whether the status of the entry is set. Throws a RangeError if the list has no such entry. */
export function isStatusSet(bits: Uint8Array, index: number): boolean {
  assertIndex(bits, index)
  return (bits[index >> 3]! & (0x80 >> (index & 7))) !== 0
}

/** Sets the status of the entry, in place. */
export function setStatus(bits: Uint8Array, index: number): void {
  assertIndex(bits, index)
  bits[index >> 3]! |= 0x80 >> (index & 7)
}

function assertIndex(bits: Uint8Array, index: number) {
  if (!Number.isInteger(index) || index < 0 || index >= bits.length * 8)
    throw new RangeError(`The status list has ${bits.length * 8} entries and no entry ${index}.`)
}

/** Returns the compressed list as the `encodedList` of a status list credential. */
export function encodeStatusList(bits: Uint8Array): string {
  return `u${gzipSync(bits).toString('base64url')}`
}

/** Returns the list in an `encodedList`. Throws if the text is not a list or expands to more than the maximum. */
export function decodeStatusList(text: string): Uint8Array {
  if (!/^u[\w-]+$/.test(text)) throw new Error('The encoded status list must be base64url with the prefix "u".')
  return gunzipList(text.slice(1))
}

/** Returns the list in an `encodedList` of a StatusList2021, which has no prefix and, in older lists, the alphabet of base64. */
export function decodeStatusList2021(text: string): Uint8Array {
  if (!/^[\w+/-]+={0,2}$/.test(text)) throw new Error('The encoded status list must be base64url.')
  return gunzipList(text)
}

function gunzipList(text: string): Uint8Array {
  return new Uint8Array(gunzipSync(Buffer.from(text, 'base64url'), { maxOutputLength: MAX_LIST_BYTES }))
}

/** The data of a status list credential. */
export interface StatusList {
  /** URL of the list. */
  id: string
  did: string
  bits: Uint8Array
  validFrom: Date
}

/** Returns the unsigned credential of a list of revoked credentials. */
export function buildStatusListCredential({ id, did, bits, validFrom }: StatusList): JsonObject {
  return {
    '@context': [CREDENTIALS_CONTEXT],
    id,
    type: ['VerifiableCredential', 'BitstringStatusListCredential'],
    issuer: did,
    validFrom: validFrom.toISOString(),
    credentialSubject: {
      id: `${id}#list`,
      type: 'BitstringStatusList',
      statusPurpose: 'revocation',
      encodedList: encodeStatusList(bits),
    },
  }
}
