import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto'

/** What a partner's signature covers, as the server read it. */
export interface SignedRequest {
  timestamp: string
  method: string
  /** Path and query exactly as sent. */
  target: string
  onBehalfOf: string
  idempotencyKey: string
  body: Buffer
}

const NO_BODY = hash('sha256', '')

/** The seven lines that are signed. */
export function linesToSign({ timestamp, method, target, onBehalfOf, idempotencyKey, body }: SignedRequest): string {
  const digest = body.length === 0 ? NO_BODY : hash('sha256', body)
  return `VFN1\n${timestamp}\n${method}\n${target}\n${onBehalfOf}\n${idempotencyKey}\n${digest}`
}

const SIGNATURE = /^v1=[0-9a-f]{64}$/

/**
 * Compares in constant time, against every secret that is valid. Node hands headers and addresses over as Latin-1, so
 * writing them back as Latin-1 restores the very bytes that were sent.
 */
export function isSigned(lines: string, signature: string, secrets: KeyObject[]): boolean {
  const given = SIGNATURE.test(signature) ? Buffer.from(signature.slice(3), 'hex') : Buffer.alloc(32)
  let matches = false
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(lines, 'latin1').digest()
    matches = timingSafeEqual(given, expected) || matches
  }
  return matches && SIGNATURE.test(signature)
}

/** Clocks may differ by this many seconds, to either side. */
export const CLOCK_WINDOW = 300

/** How far the caller's clock is behind ours, in seconds; undefined when the header is no time. */
export function clockDifference(timestamp: string, now: number): number | undefined {
  return /^\d{1,12}$/.test(timestamp) ? Math.floor(now / 1000) - Number(timestamp) : undefined
}
