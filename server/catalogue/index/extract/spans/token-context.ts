import { GAP_BREAK, type Tokens } from '../../text/tokens.ts'

/**
 * Kinds of the characters before a word, for the span tagger: the three kinds of gaps without punctuation (tokens.ts), and the kinds of
 * punctuation. A span does not continue after a kind from COMMA_GAP on.
 */
const BRACKET_GAP = 3
const OTHER_GAP = 4
export const COMMA_GAP = 5
export const SENTENCE_GAP = 6
export const GAP_KIND_COUNT = 8

/** By UTF-16 unit below 0x80: the kind of gap that contains it. */
const KINDS = new Uint8Array(0x80)
for (const sign of '()[]') KINDS[sign.charCodeAt(0)] = BRACKET_GAP
for (const sign of ',;:|') KINDS[sign.charCodeAt(0)] = COMMA_GAP
for (const sign of '.!?\n\r') KINDS[sign.charCodeAt(0)] = SENTENCE_GAP
/** Signs of other blocks that end a sentence or begin a list item: the danda, bullets. */
const SENTENCE_SIGNS = new Set([0x964, 0x2022, 0x25cf, 0x25aa, 0x2013, 0x2014, 0x95])

/** Returns the kind of the gap before the word at `at`. */
export function gapKind(text: string, { gaps, starts, ends }: Tokens, at: number): number {
  const gap = gaps[at]!
  if (gap !== GAP_BREAK) return gap
  if (at === 0) return SENTENCE_GAP
  let kind = OTHER_GAP
  for (let i = ends[at - 1]!; i < starts[at]!; i++) {
    const unit = text.charCodeAt(i)
    const unitKind = unit < 0x80 ? KINDS[unit]! : SENTENCE_SIGNS.has(unit) ? SENTENCE_GAP : 0
    if (unitKind === BRACKET_GAP ? kind === OTHER_GAP : unitKind > kind) kind = unitKind
  }
  return kind
}
