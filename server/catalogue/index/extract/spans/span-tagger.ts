import type { Tokens } from '../../text/tokens.ts'
import {
  highWeight,
  knowledgeWeights,
  lowWeight,
  PACKED_BIAS,
  packRows,
  packWeights,
  skillWeights,
} from './packed-weights.ts'
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
import { MAX_SENTENCE_WORDS, NO_WORD, PACKED_PER_ROW, WordRows } from './word-rows.ts'

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
  /** Packed weights (packed-weights.ts) of the features with few values, by value. */
  private readonly marksRows: Int32Array
  private readonly markShapeRows: Int32Array
  private readonly gapsRows: Int32Array
  /** All rows of the model, for pairs of words. */
  private readonly pairRows: Int32Array
  /** By token of the sentence, from WORDS_BEFORE on: the index of its weights in `wordRows`. NO_WORD before and after the sentence. */
  private readonly wordIndexes = new Int32Array(MAX_SENTENCE_WORDS + 2 * WORDS_BEFORE).fill(NO_WORD)
  private readonly shapes = new Uint8Array(MAX_SENTENCE_WORDS)
  /** By token of the text: the packed scores of B and I of the two chains. */
  private scores = new Int32Array(0)
  /** By token of the text: the best previous label for each label, two bits each. */
  private backPointers = [new Uint8Array(0), new Uint8Array(0)]
  private gapKinds: Uint8Array = new Uint8Array(0)

  constructor(model: SpanModel) {
    this.model = model
    this.wordRows = new WordRows(model)
    this.pairRows = packRows(model.rows)
    this.marksRows = this.rowsOf(MARKS_CODE_COUNT, marksFeature)
    this.markShapeRows = this.rowsOf(MARK_COUNT * SHAPE_COUNT, (i) =>
      markShapeFeature(Math.floor(i / SHAPE_COUNT), i % SHAPE_COUNT),
    )
    this.gapsRows = this.rowsOf(GAP_KIND_COUNT * GAP_KIND_COUNT, (i) =>
      gapsFeature(Math.floor(i / GAP_KIND_COUNT), i % GAP_KIND_COUNT),
    )
  }

  private rowsOf(count: number, feature: (value: number) => number): Int32Array {
    const { rows, rowShift } = this.model
    const table = new Int32Array(count * PACKED_PER_ROW)
    for (let value = 0; value < count; value++) {
      const row = (feature(value) >>> rowShift) * WEIGHTS_PER_ROW
      for (let i = 0; i < PACKED_PER_ROW; i++)
        table[value * PACKED_PER_ROW + i] = packWeights(rows[row + i * 2]!, rows[row + i * 2 + 1]!)
    }
    return table
  }

  /**
   * Returns the spans of a text in the order of its sentences. `marks` has the marks of the labels in the text (token-features.ts),
   * `gapKinds` the kind of the gap before each token, and SENTENCE_GAP after the last one.
   */
  tag(tokens: Tokens, marks: Uint8Array, gapKinds: Uint8Array): TaggedSpan[] {
    const { count } = tokens
    if (this.backPointers[0]!.length < count) {
      this.scores = new Int32Array(count * 2 * PACKED_PER_ROW)
      this.backPointers = [new Uint8Array(count * 2), new Uint8Array(count * 2)]
    }
    this.gapKinds = gapKinds
    const spans: TaggedSpan[] = []
    for (let from = 0; from < count; ) {
      let to = from + 1
      while (gapKinds[to] !== SENTENCE_GAP && to - from < MAX_SENTENCE_WORDS) to++
      this.scoreSentence(tokens, from, to, marks)
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
      const packed = scores[at * PACKED_PER_ROW + type]!
      margin += label === BEGIN ? lowWeight(packed) : highWeight(packed)
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
    return Int32Array.from({ length: this.scores.length * 2 }, (_, i) => {
      const packed = this.scores[i >> 1]!
      return i % 2 === 0 ? lowWeight(packed) : highWeight(packed)
    })
  }

  private scoreSentence(tokens: Tokens, from: number, to: number, marks: Uint8Array): void {
    const { wordRows, wordIndexes, shapes, scores, marksRows, markShapeRows, gapsRows, gapKinds, pairRows } = this
    const { rowShift } = this.model
    const { starts, ends, hashes, units } = tokens
    const length = to - from
    wordRows.reserve(length)
    const { weights } = wordRows
    let [sentence0, sentence1, sentence2, sentence3] = [0, 0, 0, 0]
    for (let i = 0; i < length; i++) {
      const shape = wordShape(units, starts[from + i]!, ends[from + i]!)
      shapes[i] = shape
      const index = wordRows.indexOf(tokens, from + i, shape)
      wordIndexes[i + WORDS_BEFORE] = index
      const skillRow = weights[index + SENTENCE_WORD * PACKED_PER_ROW]!
      const knowledgeRow = weights[index + SENTENCE_WORD * PACKED_PER_ROW + 1]!
      sentence0 += lowWeight(skillRow)
      sentence1 += highWeight(skillRow)
      sentence2 += lowWeight(knowledgeRow)
      sentence3 += highWeight(knowledgeRow)
    }
    wordIndexes[length + WORDS_BEFORE] = NO_WORD
    wordIndexes[length + WORDS_BEFORE + 1] = NO_WORD
    const sentenceWeight = 1 / Math.sqrt(length)
    const sentenceSkill = packWeights(Math.round(sentence0 * sentenceWeight), Math.round(sentence1 * sentenceWeight))
    const sentenceKnowledge = packWeights(
      Math.round(sentence2 * sentenceWeight),
      Math.round(sentence3 * sentenceWeight),
    )
    let [previousMark, mark] = [0, marks[from]!]
    // The weights of the pair of the previous word and this one.
    let [pairSkill, pairKnowledge] = [0, 0]
    for (let i = 0; i < length; i++) {
      const at = from + i
      const nextMark = i + 1 < length ? marks[at + 1]! : 0
      const code = marksCode(previousMark, mark, nextMark) * PACKED_PER_ROW
      const markShape = (mark * SHAPE_COUNT + shapes[i]!) * PACKED_PER_ROW
      const gaps = (gapKinds[at]! * GAP_KIND_COUNT + gapKinds[at + 1]!) * PACKED_PER_ROW
      const secondBefore = wordIndexes[i]!
      const before = wordIndexes[i + 1]! + PACKED_PER_ROW
      const word = wordIndexes[i + 2]! + 2 * PACKED_PER_ROW
      const after = wordIndexes[i + 3]! + 3 * PACKED_PER_ROW
      const secondAfter = wordIndexes[i + 4]! + 4 * PACKED_PER_ROW
      let skill =
        (sentenceSkill +
          marksRows[code]! +
          markShapeRows[markShape]! +
          gapsRows[gaps]! +
          weights[secondBefore]! +
          weights[before]! +
          weights[word]! +
          weights[after]! +
          weights[secondAfter]! +
          pairSkill) |
        0
      let knowledge =
        (sentenceKnowledge +
          marksRows[code + 1]! +
          markShapeRows[markShape + 1]! +
          gapsRows[gaps + 1]! +
          weights[secondBefore + 1]! +
          weights[before + 1]! +
          weights[word + 1]! +
          weights[after + 1]! +
          weights[secondAfter + 1]! +
          pairKnowledge) |
        0
      if (i + 1 < length) {
        const pair = pairFeature(hashes[at]!, hashes[at + 1]!)
        const first = pairRows[pairFirstFeature(pair) >>> rowShift]!
        const second = pairRows[pairSecondFeature(pair) >>> rowShift]!
        skill = (skill + skillWeights(first) - PACKED_BIAS) | 0
        knowledge = (knowledge + knowledgeWeights(first) - PACKED_BIAS) | 0
        pairSkill = (skillWeights(second) - PACKED_BIAS) | 0
        pairKnowledge = (knowledgeWeights(second) - PACKED_BIAS) | 0
      }
      scores[at * PACKED_PER_ROW] = skill
      scores[at * PACKED_PER_ROW + 1] = knowledge
      previousMark = mark
      mark = nextMark
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
      const packed = scores[at * PACKED_PER_ROW + type]!
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
        newInside += highWeight(packed)
      }
      backPointers[at] = pointers
      outside = newOutside
      begin = newBegin + lowWeight(packed)
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

/** Number of words before a token, and after it, whose weights contribute to its scores. */
const WORDS_BEFORE = 2
/** Score of a label that is not possible. */
const UNREACHABLE = -1_000_000_000
