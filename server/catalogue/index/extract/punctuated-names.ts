import { GAP_BREAK, type Tokens } from '../text/tokens.ts'
import type { Trie } from './mention-tables.ts'

/**
 * Finds names that contain punctuation, such as a comma, a colon or a bracket: "Jam, jelly and squash making", "1:2:4 mix".
 * Punctuation in a text ends a name, unless the name has punctuation before the same word.
 */
export class PunctuatedNames {
  /** By label: a bit set, in which bit i means that punctuation precedes word i of the label. */
  private readonly punctuationPositions: Uint16Array
  private readonly hasPunctuation: boolean

  constructor(punctuationPositions: Uint16Array) {
    this.punctuationPositions = punctuationPositions
    this.hasPunctuation = punctuationPositions.some((positions) => positions !== 0)
  }

  /** Returns the arguments of the constructor. */
  storedParts(): ConstructorParameters<typeof PunctuatedNames> {
    return [this.punctuationPositions]
  }

  /**
   * Returns the longest label that begins with the word at `from` and continues after the punctuation before the word at `at`, or
   * null. `node` is the trie node of the words before `at`. `stemNumbers` has the stem number of each word of the text.
   */
  find(
    text: string,
    tokens: Tokens,
    stemNumbers: Int32Array,
    trie: Trie,
    from: number,
    at: number,
    node: number,
  ): PunctuatedName | null {
    if (!this.hasPunctuation || stemNumbers[at]! < 0 || !trie.mayHaveEdge(node, stemNumbers[at]!)) return null
    const { gaps, count, starts, ends } = tokens
    const { punctuationPositions } = this
    // A bit set like `punctuationPositions`, for the words of the text from `from` on.
    let positionsInText = 0
    let longestName: PunctuatedName | null = null
    for (let next = at; node !== 0 && next < count; ) {
      if (gaps[next] === GAP_BREAK) {
        if (next - from > MAX_PUNCTUATION_POSITION || !isOneLine(text, ends[next - 1]!, starts[next]!)) break
        positionsInText |= 1 << (next - from)
      }
      const edge = stemNumbers[next]! < 0 ? -1 : trie.findEdge(node, stemNumbers[next]!)
      if (edge < 0) break
      next++
      const label = trie.labelAt(edge)
      if (label >= 0 && label < punctuationPositions.length && (positionsInText & ~punctuationPositions[label]!) === 0)
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

/** Position of the last word that a 16-bit item of `punctuationPositions` can represent. */
const MAX_PUNCTUATION_POSITION = 15

function isOneLine(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text[at] === '\n' || text[at] === '\r') return false
  return true
}
