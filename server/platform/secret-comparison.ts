import { hash, timingSafeEqual } from 'node:crypto'

/** Compares digests, so that the time does not depend on the input. */
export function secretsEqual(actual: string, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(actual), digest(expected))
}
