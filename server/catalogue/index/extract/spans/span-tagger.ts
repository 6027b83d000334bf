import type { Tokens } from '../../text/tokens.ts'
import { type SpanModel, WEIGHTS_PER_ROW } from './span-model.ts'
import { COMMA_GAP, GAP_KIND_COUNT, SENTENCE_GAP } from './token-context.ts'
import {
  gapsFeature,
  MARK_COUNT,
  MARKS_CODE_COUNT,
  markShapeFeature,
  marksCode,
  marksFeature,
  pairFirstFeature,
  pairSecondFeature,
} from './token-features.ts'
import { pairFeature, SENTENCE_WORD, SHAPE_COUNT, wordShape } from './word-features.ts'
import { MAX_SENTENCE_WORDS, WordRows } from './word-rows.ts'

/** Types of spans, which are the chains of the model: a clause such as "coordinate developers", and a name such as "Java". */
const SKILL_SPAN = 0
export const KNOWLEDGE_SPAN = 1

/** Labels of a token: outside of a span, its first word, a further word of it. */
const OUTSIDE = 0
const BEGIN = 1
const INSIDE = 2

export interface TaggedSpan {
  /** SKILL_SPAN or KNOWLEDGE_SPAN. */
  type: number
  /** Index of the first word, and index after the last word. */
  from: number
  to: number
}

/**
 * Finds the spans of a text that describe skills, with a linear-chain conditional random field. Each token has a score for each label,
 * the sum of the weights of its features (token-features.ts). The labels with the highest total are found by the Viterbi algorithm, for
 * each sentence and type of span. All scores are integers.
 */
export class SpanTagger {
  private readonly model: SpanModel
  private readonly wordRows: WordRows
  /** Weights of the features with few values, by value. */
  private readonly marksRows: Int16Array
  private readonly markShapeRows: Int16Array
  private readonly gapsRows: Int16Array
  /** By token of the sentence: the index of its weights in `wordRows`. */
  private readonly wordIndexes = new Int32Array(MAX_SENTENCE_WORDS)
  private readonly shapes = new Uint8Array(MAX_SENTENCE_WORDS)
  /** By token of the text: the scores of B and I of the two chains. */
  private scores = new Int32Array(0)
  /** By token of the text: the best previous label for each label, two bits each. */
  private backPointers = [new Uint8Array(0), new Uint8Array(0)]
  private gapKinds: Uint8Array = new Uint8Array(0)

  constructor(model: SpanModel) {
    this.model = model
    this.wordRows = new WordRows(model)
    this.marksRows = this.rowsOf(MARKS_CODE_COUNT, marksFeature)
    this.markShapeRows = this.rowsOf(MARK_COUNT * SHAPE_COUNT, (i) =>
      markShapeFeature(Math.floor(i / SHAPE_COUNT), i % SHAPE_COUNT),
    )
    this.gapsRows = this.rowsOf(GAP_KIND_COUNT * GAP_KIND_COUNT, (i) =>
      gapsFeature(Math.floor(i / GAP_KIND_COUNT), i % GAP_KIND_COUNT),
    )
  }

  private rowsOf(count: number, feature: (value: number) => number): Int16Array {
    const { rows, rowShift } = this.model
    const table = new Int16Array(count * WEIGHTS_PER_ROW)
    for (let value = 0; value < count; value++) {
      const row = (feature(value) >>> rowShift) * WEIGHTS_PER_ROW
      for (let i = 0; i < WEIGHTS_PER_ROW; i++) table[value * WEIGHTS_PER_ROW + i] = rows[row + i]!
    }
    return table
  }

  /**
   * Returns the spans of the text in the order of its sentences. `marks` has the marks of the labels in the text (token-features.ts),
   * `gapKinds` the kind of the gap before each token, and SENTENCE_GAP after the last one.
   */
  tag(text: string, tokens: Tokens, marks: Uint8Array, gapKinds: Uint8Array): TaggedSpan[] {
    const { count } = tokens
    if (this.backPointers[0]!.length < count) {
      this.scores = new Int32Array(count * 2 * WEIGHTS_PER_ROW)
      this.backPointers = [new Uint8Array(count * 2), new Uint8Array(count * 2)]
    }
    this.gapKinds = gapKinds
    const spans: TaggedSpan[] = []
    for (let from = 0; from < count; ) {
      let to = from + 1
      while (gapKinds[to] !== SENTENCE_GAP && to - from < MAX_SENTENCE_WORDS) to++
      this.scoreSentence(text, tokens, from, to, marks)
      this.decode(SKILL_SPAN, from, to, spans)
      this.decode(KNOWLEDGE_SPAN, from, to, spans)
      from = to
    }
    return spans
  }

  /**
   * Returns how much more likely the words `from` up to `to` are a span than outside of spans, as a log-odds ratio per word. Reads the
   * scores of the text that was tagged last.
   */
  spanMargin(type: number, from: number, to: number): number {
    const { scores, gapKinds } = this
    const { transitions, scale } = this.model
    const transition = (at: number, previous: number, label: number) =>
      transitions[
        ((type * GAP_KIND_COUNT + gapKinds[at]!) * 3 + (gapKinds[at] === SENTENCE_GAP ? 0 : previous)) * 3 + label
      ]!
    let margin = 0
    for (let at = from; at < to; at++) {
      const label = at === from ? BEGIN : INSIDE
      margin += scores[at * WEIGHTS_PER_ROW + type * 2 + label - 1]!
      margin +=
        transition(at, at === from ? OUTSIDE : at === from + 1 ? BEGIN : INSIDE, label) -
        transition(at, OUTSIDE, OUTSIDE)
    }
    if (gapKinds[to] !== SENTENCE_GAP)
      margin += transition(to, to - from > 1 ? INSIDE : BEGIN, OUTSIDE) - transition(to, OUTSIDE, OUTSIDE)
    return margin / scale / (to - from)
  }

  /** Returns the scores of the text that was tagged last, for tests: four per token. */
  get tokenScores(): Int32Array {
    return this.scores
  }

  private scoreSentence(text: string, tokens: Tokens, from: number, to: number, marks: Uint8Array): void {
    const { wordRows, wordIndexes, shapes, scores, marksRows, markShapeRows, gapsRows, gapKinds } = this
    const { rows, rowShift } = this.model
    const { starts, ends, hashes } = tokens
    const length = to - from
    wordRows.reserve(length)
    let [sentence0, sentence1, sentence2, sentence3] = [0, 0, 0, 0]
    const { weights } = wordRows
    for (let i = 0; i < length; i++) {
      const shape = wordShape(text, starts[from + i]!, ends[from + i]!)
      shapes[i] = shape
      const index = wordRows.indexOf(tokens, from + i, shape)
      wordIndexes[i] = index
      const row = index + SENTENCE_WORD * WEIGHTS_PER_ROW
      sentence0 += weights[row]!
      sentence1 += weights[row + 1]!
      sentence2 += weights[row + 2]!
      sentence3 += weights[row + 3]!
    }
    const sentenceWeight = 1 / Math.sqrt(length)
    sentence0 = Math.round(sentence0 * sentenceWeight)
    sentence1 = Math.round(sentence1 * sentenceWeight)
    sentence2 = Math.round(sentence2 * sentenceWeight)
    sentence3 = Math.round(sentence3 * sentenceWeight)
    let previousPair = 0
    for (let i = 0; i < length; i++) {
      const at = from + i
      const mark = marks[at]!
      const code = marksCode(i > 0 ? marks[at - 1]! : 0, mark, i + 1 < length ? marks[at + 1]! : 0) * WEIGHTS_PER_ROW
      const markShape = (mark * SHAPE_COUNT + shapes[i]!) * WEIGHTS_PER_ROW
      const gaps = (gapKinds[at]! * GAP_KIND_COUNT + gapKinds[at + 1]!) * WEIGHTS_PER_ROW
      const word = wordIndexes[i]! + 2 * WEIGHTS_PER_ROW
      let score0 = sentence0 + marksRows[code]! + markShapeRows[markShape]! + gapsRows[gaps]! + weights[word]!
      let score1 =
        sentence1 + marksRows[code + 1]! + markShapeRows[markShape + 1]! + gapsRows[gaps + 1]! + weights[word + 1]!
      let score2 =
        sentence2 + marksRows[code + 2]! + markShapeRows[markShape + 2]! + gapsRows[gaps + 2]! + weights[word + 2]!
      let score3 =
        sentence3 + marksRows[code + 3]! + markShapeRows[markShape + 3]! + gapsRows[gaps + 3]! + weights[word + 3]!
      if (i > 0) {
        const before = wordIndexes[i - 1]! + WEIGHTS_PER_ROW
        const pair = (pairSecondFeature(previousPair) >>> rowShift) * WEIGHTS_PER_ROW
        score0 += weights[before]! + rows[pair]!
        score1 += weights[before + 1]! + rows[pair + 1]!
        score2 += weights[before + 2]! + rows[pair + 2]!
        score3 += weights[before + 3]! + rows[pair + 3]!
      }
      if (i > 1) {
        const before = wordIndexes[i - 2]!
        score0 += weights[before]!
        score1 += weights[before + 1]!
        score2 += weights[before + 2]!
        score3 += weights[before + 3]!
      }
      if (i + 1 < length) {
        const after = wordIndexes[i + 1]! + 3 * WEIGHTS_PER_ROW
        previousPair = pairFeature(hashes[at]!, hashes[at + 1]!)
        const pair = (pairFirstFeature(previousPair) >>> rowShift) * WEIGHTS_PER_ROW
        score0 += weights[after]! + rows[pair]!
        score1 += weights[after + 1]! + rows[pair + 1]!
        score2 += weights[after + 2]! + rows[pair + 2]!
        score3 += weights[after + 3]! + rows[pair + 3]!
      }
      if (i + 2 < length) {
        const after = wordIndexes[i + 2]! + 4 * WEIGHTS_PER_ROW
        score0 += weights[after]!
        score1 += weights[after + 1]!
        score2 += weights[after + 2]!
        score3 += weights[after + 3]!
      }
      const out = at * WEIGHTS_PER_ROW
      scores[out] = score0
      scores[out + 1] = score1
      scores[out + 2] = score2
      scores[out + 3] = score3
    }
  }

  /** Finds the best labels of a sentence for one type, and adds its spans. */
  private decode(type: number, from: number, to: number, spans: TaggedSpan[]): void {
    const { scores, gapKinds } = this
    const { transitions } = this.model
    const backPointers = this.backPointers[type]!
    let outside = 0
    let begin = UNREACHABLE
    let inside = UNREACHABLE
    let hasSpan = false
    for (let at = from; at < to; at++) {
      const gap = gapKinds[at]!
      const table = (type * GAP_KIND_COUNT + gap) * 9
      const scoreOfBegin = scores[at * WEIGHTS_PER_ROW + type * 2]!
      let pointers = 0
      let newOutside = outside + transitions[table]!
      let newBegin = outside + transitions[table + 1]!
      let newInside = UNREACHABLE
      if (begin + transitions[table + 3]! > newOutside) {
        newOutside = begin + transitions[table + 3]!
        pointers = BEGIN
      }
      if (inside + transitions[table + 6]! > newOutside) {
        newOutside = inside + transitions[table + 6]!
        pointers = INSIDE
      }
      if (begin + transitions[table + 4]! > newBegin) {
        newBegin = begin + transitions[table + 4]!
        pointers = (pointers & 3) | (BEGIN << 2)
      }
      if (inside + transitions[table + 7]! > newBegin) {
        newBegin = inside + transitions[table + 7]!
        pointers = (pointers & 3) | (INSIDE << 2)
      }
      if (gap < COMMA_GAP) {
        newInside = begin + transitions[table + 5]!
        pointers |= BEGIN << 4
        if (inside + transitions[table + 8]! > newInside) {
          newInside = inside + transitions[table + 8]!
          pointers = (pointers & 15) | (INSIDE << 4)
        }
        newInside += scores[at * WEIGHTS_PER_ROW + type * 2 + 1]!
      }
      backPointers[at] = pointers
      outside = newOutside
      begin = newBegin + scoreOfBegin
      inside = newInside
      if ((pointers & 3) !== OUTSIDE) hasSpan = true
    }
    let label = begin > outside ? (inside > begin ? INSIDE : BEGIN) : inside > outside ? INSIDE : OUTSIDE
    if (label === OUTSIDE && !hasSpan) return
    let end = -1
    for (let at = to - 1; at >= from; at--) {
      if (label !== OUTSIDE && end < 0) end = at + 1
      if (label === BEGIN) {
        spans.push({ type, from: at, to: end })
        end = -1
      }
      label = (backPointers[at]! >> (label * 2)) & 3
    }
  }
}

/** Score of a label that is not possible. */
const UNREACHABLE = -1_000_000_000
