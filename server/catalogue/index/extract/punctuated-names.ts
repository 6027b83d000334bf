import { GAP_BREAK, type Tokens } from '../text/tokens.ts'
import type { Trie } from './mention-tables.ts'

/**
 * Names that contain a comma, a colon or a bracket: "Jam, jelly and squash making", "1:2:4 mix". In a text such a sign ends a
 * name, unless the name itself has one at that position.
 */
export class PunctuatedNames {
  /** By label: bit i is set if a sign precedes its word i. */
  private readonly signPositions: Uint16Array
  private readonly hasAny: boolean

  constructor(signPositions: Uint16Array) {
    this.signPositions = signPositions
    this.hasAny = signPositions.some((positions) => positions !== 0)
  }

  /**
   * Continues from a trie node across the sign before the word at `at`, for a label that begins with the word at `from`. Returns
   * the longest label, or null.
   */
  find(
    text: string,
    tokens: Tokens,
    numbers: Int32Array,
    trie: Trie,
    from: number,
    at: number,
    node: number,
  ): PunctuatedName | null {
    if (!this.hasAny || numbers[at]! < 0 || !trie.mayHaveEdge(node, numbers[at]!)) return null
    const { gaps, count, starts, ends } = tokens
    const { signPositions } = this
    let crossedSigns = 0
    let longestName: PunctuatedName | null = null
    for (let next = at; node !== 0 && next < count; ) {
      if (gaps[next] === GAP_BREAK) {
        if (next - from > MAX_SIGN_POSITION || !isOneLine(text, ends[next - 1]!, starts[next]!)) break
        crossedSigns |= 1 << (next - from)
      }
      const edge = numbers[next]! < 0 ? -1 : trie.findEdge(node, numbers[next]!)
      if (edge < 0) break
      next++
      const label = trie.labelAt(edge)
      if (label >= 0 && label < signPositions.length && (crossedSigns & ~signPositions[label]!) === 0)
        longestName = { label, end: next }
      node = trie.nodeAt(edge)
    }
    return longestName
  }
}

export interface PunctuatedName {
  label: number
  /** Index of the word after the last word of the name. */
  end: number
}

/** Highest bit of an entry of `signPositions`. */
const MAX_SIGN_POSITION = 15

function isOneLine(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text[at] === '\n' || text[at] === '\r') return false
  return true
}
