import { hash, timingSafeEqual } from 'node:crypto'

/** Compares two secrets by their digests, so that the duration does not depend on the input. */
export function secretsEqual(actual: string, expected: string): boolean {
  const digestOf = (text: string) => hash('sha256', text, 'buffer')
  return timingSafeEqual(digestOf(actual), digestOf(expected))
}
