import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tokens } from '../../text/tokens.ts'
import { parseSpanModel, serialiseSpanModel, spanModel, WEIGHTS_PER_ROW, WEIGHTS_PER_WORD } from './span-model.ts'
import { SpanTagger } from './span-tagger.ts'
import { MARK_COUNT, readGapKinds, visitTokenFeatures } from './token-features.ts'
import { pairFeature, ROLE_COUNT, SENTENCE_WORD, visitAffixFeatures, wordFeature } from './word-features.ts'

const TEXTS = [
  'You will work collaboratively in brainstorming sessions and develop software with Java, C++ and SQL.',
  'TILE MISTRI CHAHIYE\nFloor tile laying (2 BHK); bathroom tiles: experience 3-5 years! वेल्डिंग का काम',
  'a',
  '',
]

test('the scores of the tagger equal the sums of the weights of all features', () => {
  const model = spanModel()
  const tagger = new SpanTagger(model)
  const wordNumbers = new Map(Array.from(model.wordHashes, (hash, i) => [hash, i]))
  for (const text of TEXTS) {
    const tokens = new Tokens().read(text)
    const { count, hashes } = tokens
    const marks = Uint8Array.from({ length: count + 1 }, (_, at) => (at * 7) % MARK_COUNT)
    const gapKinds = new Uint8Array(count + 1)
    readGapKinds(text, tokens, gapKinds)
    tagger.tag(tokens, marks, gapKinds)
    const sums = new Float64Array(count * WEIGHTS_PER_ROW)
    const wordRoles = new Map<number, number>()
    visitTokenFeatures(tokens, marks, gapKinds, (at, feature, weight, isWord) => {
      if (isWord) {
        wordRoles.set(at, (wordRoles.get(at) ?? 0) + weight)
        return
      }
      const row = (feature >>> model.rowShift) * WEIGHTS_PER_ROW
      for (let i = 0; i < WEIGHTS_PER_ROW; i++) sums[at * WEIGHTS_PER_ROW + i]! += weight * model.rows[row + i]!
    })
    let sentenceStart = 0
    for (let at = 0; at < count; at++) {
      if (gapKinds[at] === 6) sentenceStart = at
      let sentenceEnd = at + 1
      while (gapKinds[sentenceEnd] !== 6) sentenceEnd++
      const add = (other: number, role: number, weight: number) => {
        const word = wordNumbers.get(hashes[other]!)
        if (word === undefined) return
        for (let i = 0; i < WEIGHTS_PER_ROW; i++)
          sums[at * WEIGHTS_PER_ROW + i]! += weight * model.words[word * WEIGHTS_PER_WORD + role * WEIGHTS_PER_ROW + i]!
      }
      for (let role = 0; role < ROLE_COUNT - 1; role++) {
        const other = at + role - 2
        if (other >= sentenceStart && other < sentenceEnd) add(other, role, 1)
      }
      for (let other = sentenceStart; other < sentenceEnd; other++)
        add(other, SENTENCE_WORD, 1 / Math.sqrt(sentenceEnd - sentenceStart))
    }
    for (let i = 0; i < sums.length; i++)
      assert.ok(Math.abs(sums[i]! - tagger.tokenScores[i]!) <= 1, `${text}: score ${i} is ${tagger.tokenScores[i]}`)
  }
})

test('features have the numbers that the weights were trained with', () => {
  const letters = Uint16Array.from('welding', (letter) => letter.charCodeAt(0))
  const featuresOf = (length: number, shape: number) => {
    const features: [number, number][] = []
    visitAffixFeatures(letters, 0, length, shape, (role, feature) => features.push([role, feature]))
    return features
  }
  assert.deepEqual(featuresOf(7, 1), [
    [1, 1138127201],
    [1, 1183453680],
    [2, 1290972910],
    [2, 1856281266],
    [3, -1093947509],
    [3, -1600121557],
    [2, 454363316],
    [2, -1445575915],
    [2, 518985033],
  ])
  assert.deepEqual(featuresOf(3, 2), [
    [1, 612398379],
    [2, 152476140],
    [3, 1741581072],
  ])
  assert.deepEqual([wordFeature(2, 12345), pairFeature(12345, 678)], [1849932960, 1374760867])
})

test('clauses and names are tagged as spans', () => {
  const text = 'You will develop software with Java'
  const tokens = new Tokens().read(text)
  const gapKinds = new Uint8Array(tokens.count + 1)
  readGapKinds(text, tokens, gapKinds)
  const spans = new SpanTagger(spanModel()).tag(tokens, new Uint8Array(tokens.count + 1), gapKinds)
  assert.ok(spans.some(({ from, to }) => text.slice(tokens.starts[from], tokens.ends[to - 1]) === 'Java'))
})

test('a damaged model is rejected', () => {
  const bytes = serialiseSpanModel(spanModel())
  assert.deepEqual(parseSpanModel(bytes).transitions, spanModel().transitions)
  assert.throws(() => parseSpanModel(bytes.subarray(0, 1000)), /must have \d+ bytes; got 1000/)
  assert.throws(() => parseSpanModel(new TextEncoder().encode('another file')), /must be a model of version 1/)
})
