import { hash, timingSafeEqual } from 'node:crypto'

const BLOCK = 64
const DIGEST = 32

/**
 * HMAC-SHA256 (RFC 2104) with one key, out of two one-shot hashes. Node's own `Hmac` is an object with a handle into C++ for
 * every message; making and collecting it costs three times as much as the two hashes, and every partner call needs one.
 */
export class HmacKey {
  readonly #inner = Buffer.alloc(BLOCK, 0x36)
  readonly #outer = Buffer.alloc(BLOCK + DIGEST, 0x5c)

  constructor(secret: Uint8Array) {
    const key = secret.length > BLOCK ? hash('sha256', secret, 'buffer') : secret
    for (const [at, byte] of key.entries()) {
      this.#inner[at]! ^= byte
      this.#outer[at]! ^= byte
    }
  }

  /** The code of a text, each of whose characters stands for one byte. */
  sign(latin1: string): Buffer {
    const length = BLOCK + latin1.length
    const message = length <= scratch.length ? scratch : Buffer.allocUnsafe(length)
    this.#inner.copy(message)
    message.write(latin1, BLOCK, 'latin1')
    hash('sha256', message.subarray(0, length), 'buffer').copy(this.#outer, BLOCK)
    return hash('sha256', this.#outer, 'buffer')
  }

  /** Compares in constant time. */
  verifies(latin1: string, code: Uint8Array): boolean {
    return timingSafeEqual(this.sign(latin1), code)
  }
}

const scratch = Buffer.allocUnsafe(4096)
