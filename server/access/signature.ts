import { hash } from 'node:crypto'
import type { HmacKey } from './hmac.ts'

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

export function isWellFormed(signature: string): boolean {
  return SIGNATURE.test(signature)
}

const NO_SIGNATURE = Buffer.alloc(32)

/**
 * Compares in constant time, against every secret that is valid. Node hands headers and addresses over as Latin-1, so
 * writing them back as Latin-1 restores the very bytes that were sent.
 */
export function isSigned(lines: string, signature: string, secrets: HmacKey[]): boolean {
  const wellFormed = isWellFormed(signature)
  const given = wellFormed ? Buffer.from(signature.slice(3), 'hex') : NO_SIGNATURE
  let matches = false
  for (const secret of secrets) matches = secret.verifies(lines, given) || matches
  return matches && wellFormed
}

/** Clocks may differ by this many seconds, to either side. */
export const CLOCK_WINDOW = 300

/** How far the caller's clock is behind ours, in seconds; undefined when the header is no time. */
export function clockDifference(timestamp: string, now: number): number | undefined {
  return /^\d{1,12}$/.test(timestamp) ? Math.floor(now / 1000) - Number(timestamp) : undefined
}
