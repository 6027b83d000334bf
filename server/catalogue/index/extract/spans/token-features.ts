import type { Tokens } from '../../text/tokens.ts'
import type { LabelMention } from '../label-mentions.ts'
import { gapKind, SENTENCE_GAP } from './token-context.ts'
import {
  CURRENT_WORD,
  mixFeature,
  pairFeature,
  ROLE_COUNT,
  SENTENCE_WORD,
  SHAPE_COUNT,
  visitAffixFeatures,
  wordFeature,
  wordShape,
} from './word-features.ts'

/**
 * Features of the tokens of a text for the span tagger: the features of the words (word-features.ts), pairs of words, the punctuation,
 * and the labels of the catalogue that the text contains. Training reads all features from here. `SpanTagger` computes the same sums
 * faster; span-tagger.test.ts compares both.
 */

/** Marks of a token: 0 if no label contains it, otherwise the class of the label and whether the token is its first word. */
export const MARK_COUNT = 16
const LONG_NAME_MARK = 1
const LONG_ALIAS_MARK = 2
const SINGLE_WORD_NAME_MARK = 3
const SINGLE_WORD_ALIAS_MARK = 4
const SHARED_WORD_MARK = 5
const VARIANT_MARK = 6
const UNLIKELY_MARK = 7

/** A mention with a lower score is marked as unlikely: the name of another language, a word about the employer. */
const MIN_LIKELY_SCORE = 0.25
/** Scores of label-mentions.ts that separate the classes. */
const MIN_NAME_SCORE = 0.8
const MIN_UNSHARED_WORD_SCORE = 0.6

/** Writes the mark of each token into `marks`. */
export function markLabels(mentions: readonly LabelMention[], count: number, marks: Uint8Array): void {
  marks.fill(0, 0, count)
  for (const mention of mentions) {
    const mark = markOf(mention) * 2
    marks[mention.from] = mark
    for (let at = mention.from + 1; at < mention.to; at++) marks[at] = mark + 1
  }
}

function markOf({ from, to, isVariant, isNegated, score }: LabelMention): number {
  if (score < MIN_LIKELY_SCORE && !isNegated) return UNLIKELY_MARK
  if (isVariant) return VARIANT_MARK
  if (to - from > 1) return isNegated || score < MIN_NAME_SCORE ? LONG_ALIAS_MARK : LONG_NAME_MARK
  if (score >= MIN_NAME_SCORE) return SINGLE_WORD_NAME_MARK
  return score >= MIN_UNSHARED_WORD_SCORE || isNegated ? SINGLE_WORD_ALIAS_MARK : SHARED_WORD_MARK
}

/** Kinds of features that are not about a single word; those of words are below 128. */
const PAIR_KIND = 200
const MARKS_KIND = 202
const MARK_SHAPE_KIND = 203
const GAPS_KIND = 204

/** Number of different values of `marksCode`. */
export const MARKS_CODE_COUNT = MARK_COUNT * 6

/** Returns a code of the marks of a token and its neighbours. */
export function marksCode(previousMark: number, mark: number, nextMark: number): number {
  const next = nextMark === 0 ? 0 : (nextMark & 1) === 0 ? 1 : 2
  return (mark * 2 + (previousMark === 0 ? 0 : 1)) * 3 + next
}

export const marksFeature = (code: number): number => mixFeature(MARKS_KIND, code)
export const markShapeFeature = (mark: number, shape: number): number =>
  mixFeature(MARK_SHAPE_KIND, mark * SHAPE_COUNT + shape)
export const gapsFeature = (gapBefore: number, gapAfter: number): number =>
  mixFeature(GAPS_KIND, gapBefore * 8 + gapAfter)
/** Feature of the pair (word, next word), for its first word. */
export const pairFirstFeature = (pair: number): number => mixFeature(PAIR_KIND, pair)
/** The same for its second word. */
export const pairSecondFeature = (pair: number): number => mixFeature(PAIR_KIND + 1, pair)

/** Writes the gap kind before each token, and SENTENCE_GAP after the last one, into `gapKinds`. */
export function readGapKinds(text: string, tokens: Tokens, gapKinds: Uint8Array): void {
  for (let at = 0; at < tokens.count; at++) gapKinds[at] = gapKind(text, tokens, at)
  gapKinds[tokens.count] = SENTENCE_GAP
}

/**
 * Visits all features of all tokens. `weight` is 1, except for the words of the sentence, whose features are divided by the square root
 * of their number.
 */
export function visitTokenFeatures(
  tokens: Tokens,
  marks: Uint8Array,
  gapKinds: Uint8Array,
  visit: (at: number, feature: number, weight: number, isWord: boolean) => void,
): void {
  const { count, hashes, chars, charStarts, starts, ends } = tokens
  let sentenceStart = 0
  for (let at = 0; at < count; at++) {
    if (gapKinds[at] === SENTENCE_GAP) sentenceStart = at
    let sentenceEnd = at + 1
    while (gapKinds[sentenceEnd] !== SENTENCE_GAP) sentenceEnd++
    const sentenceWeight = 1 / Math.sqrt(sentenceEnd - sentenceStart)
    const shape = wordShape(tokens.units, starts[at]!, ends[at]!)
    const visitRole = (role: number, feature: number, isWord = false) => {
      if (role === SENTENCE_WORD)
        for (let target = sentenceStart; target < sentenceEnd; target++) visit(target, feature, sentenceWeight, isWord)
      else {
        const target = at + CURRENT_WORD - role
        if (target >= sentenceStart && target < sentenceEnd) visit(target, feature, 1, isWord)
      }
    }
    for (let role = 0; role < ROLE_COUNT; role++) visitRole(role, wordFeature(role, hashes[at]!), true)
    visitAffixFeatures(chars, charStarts[at]!, charStarts[at + 1]!, shape, visitRole)
    if (at + 1 < sentenceEnd) {
      const pair = pairFeature(hashes[at]!, hashes[at + 1]!)
      visit(at, pairFirstFeature(pair), 1, false)
      visit(at + 1, pairSecondFeature(pair), 1, false)
    }
    const mark = marks[at]!
    const previousMark = at > sentenceStart ? marks[at - 1]! : 0
    const nextMark = at + 1 < sentenceEnd ? marks[at + 1]! : 0
    visit(at, marksFeature(marksCode(previousMark, mark, nextMark)), 1, false)
    visit(at, markShapeFeature(mark, shape), 1, false)
    visit(at, gapsFeature(gapKinds[at]!, gapKinds[at + 1]!), 1, false)
  }
}
