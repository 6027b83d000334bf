import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkHash, GAP_BREAK, GAP_JOINER, GAP_NONE, GAP_SPACE, Tokens, tokenize, wordHash } from './tokens.ts'

test('case, accents, width and ligatures are folded', () => {
  assert.deepEqual(tokenize('Crème BRÛLÉE e\u0301clair Ｗｅｌｄ ﬁtter Łódź'), [
    'creme',
    'brulee',
    'eclair',
    'weld',
    'fitter',
    'lodz',
  ])
})

test('names of programming languages keep +, # and a leading dot', () => {
  assert.deepEqual(tokenize('C, C++, C#, F# and .NET; ASP.NET, Node.js'), [
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
  assert.deepEqual(tokenize('R&D and a+b'), ['r', 'and', 'd', 'and', 'a', 'b'])
})

test('single letters with dots are one word', () => {
  assert.deepEqual(tokenize('A.C. and C.N.C operator, M.S. Office, e.g. I.T.I.'), [
    'ac',
    'and',
    'cnc',
    'operator',
    'ms',
    'office',
    'eg',
    'iti',
  ])
  assert.deepEqual(tokenize('B.Sc. x.y1 1.5 a. b vitamin C. Then'), [
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
  assert.deepEqual(sliceWords(text, tokens), ['An', 'A.C.', 'mechanic', 'He'])
  assert.deepEqual(Array.from(tokens.gaps.subarray(0, 4)), [GAP_BREAK, GAP_SPACE, GAP_SPACE, GAP_BREAK])
  assert.equal(tokens.hashes[1], wordHash('ac'))
  assert.equal(tokens.checkHashes[1], checkHash('ac'))
})

test('an apostrophe inside a word belongs to it, quotation marks around it do not', () => {
  const text = "the driver's 'licence'"
  const tokens = new Tokens().read(text)
  assert.deepEqual(sliceWords(text, tokens), ['the', "driver's", 'licence'])
  assert.deepEqual(tokenize(text), ['the', 'drivers', 'licence'])
})

test('Devanagari keeps its vowel signs, loses nukta and joiners, and chandrabindu equals anusvara', () => {
  assert.deepEqual(tokenize('राजमिस्त्री, क़लम।'), ['राजमिस्त्री', 'कलम'])
  assert.deepEqual(tokenize('पाँच'), tokenize('पांच'))
  assert.deepEqual(tokenize('५ क्\u200dष'), ['5', 'क्ष'])
})

test('offsets count UTF-16 units of the original text', () => {
  const text = '👷‍♂️ e\u0301lectricien 🔧वेल्डिंग😀x'
  assert.deepEqual(sliceWords(text, new Tokens().read(text)), ['e\u0301lectricien', 'वेल्डिंग', 'x'])
})

test('the gap before a word distinguishes compounds, phrases and separate sentences', () => {
  const gapBeforeSecondWord = (text: string) => Array.from(new Tokens().read(text).gaps.subarray(1, 2))
  assert.deepEqual(gapBeforeSecondWord('data entry'), [GAP_SPACE])
  assert.deepEqual(gapBeforeSecondWord('data-entry'), [GAP_JOINER])
  assert.deepEqual(gapBeforeSecondWord('Node.js'), [GAP_JOINER])
  assert.deepEqual(gapBeforeSecondWord('R&D'), [GAP_NONE])
  for (const text of ['data, entry', 'data. Entry', 'data - entry', 'data\nentry', 'data (entry)', 'data • entry'])
    assert.deepEqual(gapBeforeSecondWord(text), [GAP_BREAK], text)
})

test('the hashes of a token equal those of its folded word', () => {
  const tokens = new Tokens().read('Höhe & ﬁt .NET C#')
  for (let i = 0; i < tokens.count; i++) {
    assert.equal(tokens.hashes[i], wordHash(tokens.word(i)), tokens.word(i))
    assert.equal(tokens.checkHashes[i], checkHash(tokens.word(i)), tokens.word(i))
  }
})

test('a text without letters or digits has no words', () => {
  for (const text of ['', ' \t\n', '😀👍🏽', '\ud800\udc00\udfff', '!?…—'])
    assert.deepEqual(tokenize(text), [], JSON.stringify(text))
  assert.deepEqual(tokenize('a\ud83d weld'), ['a', 'weld'])
})

test('a tokenizer can be reused for longer and shorter texts', () => {
  const tokens = new Tokens()
  assert.equal(tokens.read('weld '.repeat(10_000)).count, 10_000)
  assert.equal(tokens.read('weld').count, 1)
  assert.equal(tokens.read('ﬃ'.repeat(5000)).word(0).length, 15_000)
})

function sliceWords(text: string, tokens: Tokens): string[] {
  return Array.from({ length: tokens.count }, (_, i) => text.slice(tokens.starts[i], tokens.ends[i]))
}
