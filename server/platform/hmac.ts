import { hash, timingSafeEqual } from 'node:crypto'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** Maximum number of UTF-8 bytes per UTF-16 code unit. */
const MAX_UTF8_BYTES = 3

/**
 * HMAC-SHA256 (RFC 2104) with one key, computed from two one-shot hashes. Node's `createHmac` creates an object with a C++ handle for
 * every message; creating and collecting it costs three times as much as the two hashes. Every partner call and every address needs an HMAC.
 */
export class HmacKey {
  readonly #inner = Buffer.alloc(BLOCK_BYTES, 0x36)
  readonly #outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)

  constructor(secret: Uint8Array) {
    const key = secret.length > BLOCK_BYTES ? hash('sha256', secret, 'buffer') : secret
    for (const [index, byte] of key.entries()) {
      this.#inner[index]! ^= byte
      this.#outer[index]! ^= byte
    }
  }

  /** Returns the HMAC of a Latin-1 string: each character is one byte. */
  sign(latin1: string): Buffer {
    return Buffer.from(this.#sign(latin1, 'latin1', latin1.length), 'latin1')
  }

  /** Returns the HMAC of a text in UTF-8. */
  signText(text: string): Buffer {
    return Buffer.from(this.#sign(text, 'utf8', MAX_UTF8_BYTES * text.length), 'latin1')
  }

  /** Returns the HMAC as a binary string. */
  #sign(text: string, encoding: 'latin1' | 'utf8', maxBytes: number): string {
    const maxLength = BLOCK_BYTES + maxBytes
    const message = maxLength <= messageBuffer.length ? messageBuffer : Buffer.allocUnsafe(maxLength)
    this.#inner.copy(message)
    const length = BLOCK_BYTES + message.write(text, BLOCK_BYTES, encoding)
    // Returning a hash as a binary string takes a third of the time of returning a buffer, which Node.js allocates separately.
    this.#outer.write(hash('sha256', message.subarray(0, length), 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', this.#outer, 'binary')
  }

  /** Compares in constant time. */
  verify(latin1: string, mac: Uint8Array): boolean {
    expectedMac.write(this.#sign(latin1, 'latin1', latin1.length), 'latin1')
    return timingSafeEqual(expectedMac, mac)
  }
}

// Shared, because every use is synchronous.
const messageBuffer = Buffer.allocUnsafe(4096)
const expectedMac = Buffer.allocUnsafe(DIGEST_BYTES)
