/** A VC-JWT whose signature has not been checked yet. */
export interface ParsedJwt {
  header: Record<string, unknown>
  payload: Record<string, unknown>
  signedBytes: Uint8Array<ArrayBuffer>
  signature: Uint8Array<ArrayBuffer>
}

/** Parses a compact JWT; returns undefined if it is malformed. */
export function parseJwt(text: string): ParsedJwt | undefined {
  try {
    const parts = text.trim().split('.')
    if (parts.length !== 3) return undefined
    const [header, payload] = parts
      .slice(0, 2)
      .map((part) => JSON.parse(new TextDecoder().decode(decodeBase64Url(part))))
    return {
      header,
      payload,
      signedBytes: new TextEncoder().encode(`${parts[0]}.${parts[1]}`) as Uint8Array<ArrayBuffer>,
      signature: decodeBase64Url(parts[2]!),
    }
  } catch {
    return undefined
  }
}

export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replace(/-/g, '+').replace(/_/g, '/'))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
/** Multicodec prefix of Ed25519 public keys. */
const ED25519_PREFIX = [0xed, 0x01]
const ED25519_KEY_BYTES = 32

/** Returns the bytes of an Ed25519 key in Multikey encoding; undefined if it is another kind of key. */
export function decodeEd25519Multikey(multibase: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof multibase !== 'string' || !multibase.startsWith('z')) return undefined
  const bytes: number[] = []
  for (const character of multibase.slice(1)) {
    let carry = BASE58_ALPHABET.indexOf(character)
    if (carry < 0) return undefined
    for (let index = 0; index < bytes.length; index++) {
      carry += bytes[index]! * 58
      bytes[index] = carry & 0xff
      carry >>= 8
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff)
  }
  bytes.reverse()
  const isEd25519 =
    bytes.length === ED25519_KEY_BYTES + 2 && ED25519_PREFIX.every((byte, index) => bytes[index] === byte)
  return isEd25519 ? new Uint8Array(bytes.slice(2)) : undefined
}

/** Checks an Ed25519 signature. Returns undefined if this browser cannot check signatures. */
export async function verifyEd25519(
  publicKey: Uint8Array<ArrayBuffer>,
  { signature, signedBytes }: ParsedJwt,
): Promise<boolean | undefined> {
  // Browsers offer it only to pages from HTTPS or localhost.
  if (!globalThis.crypto?.subtle) return undefined
  try {
    const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
    return await crypto.subtle.verify('Ed25519', key, signature, signedBytes)
  } catch {
    // Browsers before 2025 have no Ed25519: load an implementation in JavaScript.
  }
  try {
    const { verify } = await import('@noble/ed25519')
    return await verify(signature, signedBytes, publicKey)
  } catch (error) {
    // The library throws an error for some malformed signatures. A failed import is a TypeError.
    return error instanceof TypeError ? undefined : false
  }
}
