import { COMMA_GAP, SENTENCE_GAP } from '../../server/catalogue/index/extract/spans/token-context.ts'
import {
  markLabels,
  readGapKinds,
  visitTokenFeatures,
} from '../../server/catalogue/index/extract/spans/token-features.ts'
import type { SkillIndex } from '../../server/catalogue/index/skill-index.ts'
import { Tokens } from '../../server/catalogue/index/text/tokens.ts'
import type { WordVectors } from '../vectors/glove.ts'
import type { LabelledSentence } from './corpus.ts'
import type { Example } from './crf.ts'

/**
 * The number of rows of the weight table, as a power of two. The features of words have as many rows of their own, which follow the
 * others.
 */
export const ROW_BITS = 17
export const ROW_COUNT = 2 ** ROW_BITS

/** Bit sets of allowed labels. */
const OUTSIDE = 1
const BEGIN = 2
const INSIDE = 4
const ANY_LABEL = 7

/** An advertisement with the numbers of the skills that it requires, and of those that it excludes. */
export interface LabelledAdvertisement {
  text: string
  requiredNumbers: ReadonlySet<number>
  excludedNumbers: ReadonlySet<number>
}

/** Converts a sentence to an example. `index` marks the labels of its catalogue; undefined for no catalogue. */
export function sentenceExample(
  { text, spans }: Pick<LabelledSentence, 'text' | 'spans'>,
  index: SkillIndex | undefined,
  vectors: WordVectors,
): Example {
  const { example, tokens } = readExample(text, index, vectors)
  example.allowed = spans.map((typeSpans) => {
    const allowed = new Uint8Array(example.count).fill(OUTSIDE)
    for (const { start, end } of typeSpans) {
      let isFirst = true
      for (let at = 0; at < example.count; at++) {
        if (tokens.starts[at]! < start || tokens.ends[at]! > end) continue
        allowed[at] = isFirst || example.gapKinds[at]! >= COMMA_GAP ? BEGIN : INSIDE
        isFirst = false
      }
    }
    return allowed
  })
  return example
}

/**
 * Converts an advertisement to an example. Only its skills are labelled, not its spans: a mention of a required skill is a span of
 * knowledge, a mention of a skill that is neither required nor excluded is outside of spans, and the labels of all other words are
 * unknown.
 */
export function advertisementExample(
  { text, requiredNumbers, excludedNumbers }: LabelledAdvertisement,
  index: SkillIndex,
  vectors: WordVectors,
): Example {
  const { example } = readExample(text, index, vectors)
  const knowledge = new Uint8Array(example.count).fill(ANY_LABEL)
  for (const { from, to, entryIndex } of index.labelsIn(text)) {
    const number = index.numberOf(entryIndex)
    if (excludedNumbers.has(number)) continue
    for (let at = from; at < to; at++)
      knowledge[at] = !requiredNumbers.has(number)
        ? OUTSIDE
        : at === from || example.gapKinds[at]! >= COMMA_GAP
          ? BEGIN
          : INSIDE
  }
  example.allowed = [new Uint8Array(example.count).fill(ANY_LABEL), knowledge]
  return example
}

function readExample(text: string, index: SkillIndex | undefined, wordVectors: WordVectors) {
  const tokens = new Tokens().read(text)
  const { count } = tokens
  const marks = new Uint8Array(count + 1)
  markLabels(index?.labelsIn(text) ?? [], count, marks)
  const gapKinds = new Uint8Array(count + 1)
  readGapKinds(text, tokens, gapKinds)
  const rowLists: number[][] = Array.from({ length: count }, () => [])
  const valueLists: number[][] = Array.from({ length: count }, () => [])
  visitTokenFeatures(tokens, marks, gapKinds, (at, feature, value, isWord) => {
    rowLists[at]!.push((feature >>> (32 - ROW_BITS)) + (isWord ? ROW_COUNT : 0))
    valueLists[at]!.push(value)
  })
  const rowStarts = new Int32Array(count + 1)
  for (let at = 0; at < count; at++) rowStarts[at + 1] = rowStarts[at]! + rowLists[at]!.length
  const sentenceStarts = new Int32Array(count)
  const sentenceEnds = new Int32Array(count)
  for (let at = 0; at < count; at++)
    sentenceStarts[at] = at > 0 && gapKinds[at] !== SENTENCE_GAP ? sentenceStarts[at - 1]! : at
  for (let at = count - 1; at >= 0; at--)
    sentenceEnds[at] = gapKinds[at + 1] === SENTENCE_GAP ? at + 1 : sentenceEnds[at + 1]!
  const example: Example = {
    count,
    rowStarts,
    rows: Int32Array.from(rowLists.flat()),
    values: Float32Array.from(valueLists.flat()),
    vectors: Int32Array.from({ length: count }, (_, at) => wordVectors.numberOf(tokens.word(at))),
    gapKinds,
    sentenceStarts,
    sentenceEnds,
    allowed: [],
  }
  return { example, tokens }
}

/** Removes the features of rows that fewer than `minCount` tokens of the examples have. */
export function pruneRareRows(examples: readonly Example[], minCount: number): void {
  const counts = new Uint32Array(2 * ROW_COUNT)
  for (const { rows } of examples) for (const row of rows) counts[row]!++
  for (const example of examples) {
    const { rowStarts, rows, values } = example
    const newStarts = new Int32Array(rowStarts.length)
    let kept = 0
    for (let at = 0; at < example.count; at++) {
      for (let k = rowStarts[at]!; k < rowStarts[at + 1]!; k++) {
        if (counts[rows[k]!]! < minCount) continue
        rows[kept] = rows[k]!
        values[kept++] = values[k]!
      }
      newStarts[at + 1] = kept
    }
    example.rowStarts = newStarts
    example.rows = rows.slice(0, kept)
    example.values = values.slice(0, kept)
  }
}
