/**
 * Weights in the form in which the tagger adds them: the two weights of a chain, for B and I, in the low and the high half of one integer. The
 * sum of such integers has the sums of both halves, as long as each sum fits into 16 bits. Sums of the tagger are below 6,000: a token has
 * at most 19 weights of 8 bits and the words of the sentence, whose sum is divided by the square root of their number.
 */

export function packWeights(low: number, high: number): number {
  return (low + (high << 16)) | 0
}

export function lowWeight(packed: number): number {
  return (packed << 16) >> 16
}

export function highWeight(packed: number): number {
  return (packed + 0x8000) >> 16
}

/** Each byte of a packed row is a weight plus 128. */
const BYTE_BIAS = 128
/** The bias in both halves of `skillWeights` and `knowledgeWeights`. */
export const PACKED_BIAS = packWeights(BYTE_BIAS, BYTE_BIAS)
const HALF_BYTES = 0x00ff00ff

/** Packs rows of four 8-bit weights, B and I of both chains, into one integer each. */
export function packRows(rows: Int8Array): Int32Array {
  const byte = (at: number) => rows[at]! + BYTE_BIAS
  return Int32Array.from(
    { length: rows.length / 4 },
    (_, i) => byte(i * 4) | (byte(i * 4 + 2) << 8) | (byte(i * 4 + 1) << 16) | (byte(i * 4 + 3) << 24),
  )
}

/** Returns the weights of the skill chain of a packed row, each plus 128: subtract PACKED_BIAS. */
export function skillWeights(packedRow: number): number {
  return packedRow & HALF_BYTES
}

/** Returns the weights of the knowledge chain of a packed row, each plus 128: subtract PACKED_BIAS. */
export function knowledgeWeights(packedRow: number): number {
  return (packedRow >>> 8) & HALF_BYTES
}
