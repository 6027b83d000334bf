import { APART, type Tokens } from '../text/tokens.ts'
import type { Trie } from './mention-tables.ts'

/**
 * Names that hold a comma, a colon or a bracket: "Jam, jelly and squash making", "1:2:4 mix". In a text such a sign ends a name,
 * unless the name itself has one in that place.
 */
export class MentionWalls {
  /** By label: bit i is set when a sign stands before its word i. */
  private readonly marks: Uint16Array
  private readonly any: boolean

  constructor(marks: Uint16Array) {
    this.marks = marks
    this.any = marks.some((mark) => mark !== 0)
  }

  /**
   * Goes on from a node and the word at `at`, before which a sign stands. The label that ends farthest and where; a label that
   * begins with the word at `from`.
   */
  walk(text: string, tokens: Tokens, row: Int32Array, trie: Trie, from: number, at: number, node: number): Over | null {
    if (!this.any || row[at]! < 0 || !trie.mayStep(node, row[at]!)) return null
    const { gaps, count, starts, ends } = tokens
    const { marks } = this
    let crossed = 0
    let over: Over | null = null
    for (let next = at; node !== 0 && next < count; ) {
      if (gaps[next] === APART) {
        if (next - from > MOST_WORDS || !isOneLine(text, ends[next - 1]!, starts[next]!)) break
        crossed |= 1 << (next - from)
      }
      const slot = row[next]! < 0 ? -1 : trie.step(node, row[next]!)
      if (slot < 0) break
      next++
      const label = trie.labelAt(slot)
      if (label >= 0 && label < marks.length && (crossed & ~marks[label]!) === 0) over = { label, end: next }
      node = trie.nodeAt(slot)
    }
    return over
  }
}

export interface Over {
  label: number
  /** The word behind its last. */
  end: number
}

/** As many as a mark has bits for, without the first word. */
const MOST_WORDS = 15

function isOneLine(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (text[at] === '\n' || text[at] === '\r') return false
  return true
}
