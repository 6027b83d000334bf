import { createHmac } from 'node:crypto'
import { SECOND } from '../../platform/clock.ts'
import { secretsEqual } from '../../platform/secret-comparison.ts'

/** Time-based one-time passwords (RFC 6238) with the parameters that all authenticator apps support: SHA-1, 6 digits, 30 seconds. */
const STEP_MS = 30 * SECOND
const DIGITS = 6
/** Accepts the codes of the previous and the next step, because clocks differ. */
const ALLOWED_STEPS = 1

/** Returns the time step of the code, or undefined if the code is wrong. */
export function findTotpStep(secret: Buffer, code: string, now: number): number | undefined {
  const currentStep = Math.floor(now / STEP_MS)
  for (let step = currentStep - ALLOWED_STEPS; step <= currentStep + ALLOWED_STEPS; step++)
    if (secretsEqual(totpCode(secret, step), code)) return step
  return undefined
}

/** Returns the code at a time in epoch milliseconds. */
export function totpAt(secret: Buffer, now: number): string {
  return totpCode(secret, Math.floor(now / STEP_MS))
}

function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', secret).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0xf
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0')
}

const BASE32_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function encodeBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => BASE32_ALPHABET[Number.parseInt(group.padEnd(5, '0'), 2)])
    .join('')
}
