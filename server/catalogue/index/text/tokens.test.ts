import assert from 'node:assert/strict'
import { test } from 'node:test'
import { APART, checkOf, hashOf, JOINED, NEXT, SPACED, Tokens, wordsOf } from './tokens.ts'

test('case, accents, width and ligatures do not matter', () => {
  assert.deepEqual(wordsOf('Crème BRÛLÉE e\u0301clair Ｗｅｌｄ ﬁtter Łódź'), [
    'creme',
    'brulee',
    'eclair',
    'weld',
    'fitter',
    'lodz',
  ])
})

test('names of languages keep their signs', () => {
  assert.deepEqual(wordsOf('C, C++, C#, F# and .NET; ASP.NET, Node.js'), [
    'c',
    'c++',
    'c#',
    'f#',
    'and',
    '.net',
    'asp',
    'net',
    'node',
    'js',
  ])
  assert.deepEqual(wordsOf('R&D and a+b'), ['r', 'and', 'd', 'and', 'a', 'b'])
})

test('single letters with dots are one word', () => {
  assert.deepEqual(wordsOf('A.C. and C.N.C operator, M.S. Office, e.g. I.T.I.'), [
    'ac',
    'and',
    'cnc',
    'operator',
    'ms',
    'office',
    'eg',
    'iti',
  ])
  assert.deepEqual(wordsOf('B.Sc. x.y1 1.5 a. b vitamin C. Then'), [
    'b',
    'sc',
    'x',
    'y1',
    '1',
    '5',
    'a',
    'b',
    'vitamin',
    'c',
    'then',
  ])
  const text = 'An A.C. mechanic. He'
  const tokens = new Tokens().read(text)
  assert.deepEqual(slices(text, tokens), ['An', 'A.C.', 'mechanic', 'He'])
  assert.deepEqual(Array.from(tokens.gaps.subarray(0, 4)), [APART, SPACED, SPACED, APART])
  assert.equal(tokens.hashes[1], hashOf('ac'))
  assert.equal(tokens.checks[1], checkOf('ac'))
})

test('an apostrophe belongs to its word, quotation marks do not', () => {
  const text = "the driver's 'licence'"
  const tokens = new Tokens().read(text)
  assert.deepEqual(slices(text, tokens), ['the', "driver's", 'licence'])
  assert.deepEqual(wordsOf(text), ['the', 'drivers', 'licence'])
})

test('Devanagari keeps its vowel signs and loses nukta, chandrabindu and joiners', () => {
  assert.deepEqual(wordsOf('राजमिस्त्री, क़लम।'), ['राजमिस्त्री', 'कलम'])
  assert.deepEqual(wordsOf('पाँच'), wordsOf('पांच'))
  assert.deepEqual(wordsOf('५ क्\u200dष'), ['5', 'क्ष'])
})

test('offsets are UTF-16 units of the text as it came', () => {
  const text = '👷‍♂️ e\u0301lectricien 🔧वेल्डिंग😀x'
  assert.deepEqual(slices(text, new Tokens().read(text)), ['e\u0301lectricien', 'वेल्डिंग', 'x'])
})

test('gaps tell words of one compound from words of two sentences', () => {
  const gaps = (text: string) => Array.from(new Tokens().read(text).gaps.subarray(1, 2))
  assert.deepEqual(gaps('data entry'), [SPACED])
  assert.deepEqual(gaps('data-entry'), [JOINED])
  assert.deepEqual(gaps('Node.js'), [JOINED])
  assert.deepEqual(gaps('R&D'), [NEXT])
  for (const text of ['data, entry', 'data. Entry', 'data - entry', 'data\nentry', 'data (entry)', 'data • entry'])
    assert.deepEqual(gaps(text), [APART], text)
})

test('the hashes of a word are those of its letters', () => {
  const tokens = new Tokens().read('Höhe & ﬁt .NET C#')
  for (let i = 0; i < tokens.count; i++) {
    assert.equal(tokens.hashes[i], hashOf(tokens.word(i)), tokens.word(i))
    assert.equal(tokens.checks[i], checkOf(tokens.word(i)), tokens.word(i))
  }
})

test('a text that is no text has no words', () => {
  for (const text of ['', ' \t\n', '😀👍🏽', '\ud800\udc00\udfff', '!?…—'])
    assert.deepEqual(wordsOf(text), [], JSON.stringify(text))
  assert.deepEqual(wordsOf('a\ud83d weld'), ['a', 'weld'])
})

test('short and long texts can follow each other', () => {
  const tokens = new Tokens()
  assert.equal(tokens.read('weld '.repeat(10_000)).count, 10_000)
  assert.equal(tokens.read('weld').count, 1)
  assert.equal(tokens.read('ﬃ'.repeat(5000)).word(0).length, 15_000)
})

function slices(text: string, tokens: Tokens): string[] {
  return Array.from({ length: tokens.count }, (_, i) => text.slice(tokens.starts[i], tokens.ends[i]))
}
