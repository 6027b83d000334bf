import { hash } from 'node:crypto'
import type { HmacKey } from '../platform/hmac.ts'

/** Parts of a request that the signature covers, as received. */
export interface SignedRequest {
  timestamp: string
  method: string
  /** Path and query exactly as sent. */
  target: string
  onBehalfOf: string
  idempotencyKey: string
  body: Buffer
}

const EMPTY_BODY_DIGEST = hash('sha256', '')

/** Returns the string to sign: seven lines, of which the last is the SHA-256 of the body. */
export function stringToSign({ timestamp, method, target, onBehalfOf, idempotencyKey, body }: SignedRequest): string {
  const digest = body.length === 0 ? EMPTY_BODY_DIGEST : hash('sha256', body)
  return `VFN1\n${timestamp}\n${method}\n${target}\n${onBehalfOf}\n${idempotencyKey}\n${digest}`
}

const SIGNATURE_PATTERN = /^v1=[0-9a-f]{64}$/

export function isWellFormedSignature(signature: string): boolean {
  return SIGNATURE_PATTERN.test(signature)
}

const PLACEHOLDER_SIGNATURE = Buffer.alloc(32)

/**
 * Checks the signature against every valid secret, in constant time. Node decodes headers and URLs as Latin-1, so encoding them as
 * Latin-1 restores the bytes that were sent.
 */
export function isSignatureValid(signedText: string, signature: string, secrets: HmacKey[]): boolean {
  const isWellFormed = isWellFormedSignature(signature)
  const receivedSignature = isWellFormed ? Buffer.from(signature.slice(3), 'hex') : PLACEHOLDER_SIGNATURE
  let anySecretMatches = false
  for (const secret of secrets) anySecretMatches = secret.verify(signedText, receivedSignature) || anySecretMatches
  return anySecretMatches && isWellFormed
}

/** Maximum difference between the clocks of the caller and the server, in either direction. */
export const CLOCK_WINDOW_SECONDS = 300

/** Returns by how many seconds the caller's clock is behind the server's, or undefined if the header is not a number. */
export function clockDifference(timestamp: string, now: number): number | undefined {
  return /^\d{1,12}$/.test(timestamp) ? Math.floor(now / 1000) - Number(timestamp) : undefined
}
