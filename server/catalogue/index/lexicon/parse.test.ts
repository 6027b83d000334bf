import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseListsWithHeadings, parseMapping, parseWordGroups, parseWordList } from './parse.ts'

const assertThrowsLines = (parse: () => unknown, ...lines: string[]) =>
  assert.throws(parse, { message: lines.join('\n') })

test('comments and empty lines are ignored, and entries may span several lines', () => {
  assert.deepEqual(parseWordList('x.txt', '# words\n\ngo; less\r\n  rest\n'), ['go', 'less', 'rest'])
})

test('entries lose case, accents and Devanagari signs, like the texts that they are compared with', () => {
  assert.deepEqual(parseWordList('x.txt', 'Crème; कन्नड़; पाँच'), ['creme', 'कन्नड', 'पांच'])
  assert.deepEqual(
    [...parseMapping('x.txt', 'R&D = Research and Development', { maxKeyWords: 3, maxValueWords: 3, maxValues: 1 })],
    [['r and d', ['research and development']]],
  )
})

test('each heading starts a list', () => {
  assert.deepEqual(
    parseListsWithHeadings('x.txt', '[always]\nhonest; loyal\n\n[pairs]\nfull time\n', { always: 1, pairs: 2 }),
    {
      always: ['honest', 'loyal'],
      pairs: ['full time'],
    },
  )
})

test('a mapping has one or more values per key', () => {
  const mapping = parseMapping('x.txt', 'tyre = tire\nfitter = fiter; fittar', {
    maxKeyWords: 1,
    maxValueWords: 1,
    maxValues: 9,
  })
  assert.deepEqual(
    [...mapping],
    [
      ['tyre', ['tire']],
      ['fitter', ['fiter', 'fittar']],
    ],
  )
})

test('a group is a line of two or more words', () => {
  assert.deepEqual(parseWordGroups('x.txt', 'truck; lorry\ncar; auto; motor'), [
    ['truck', 'lorry'],
    ['car', 'auto', 'motor'],
  ])
  assertThrowsLines(
    () => parseWordGroups('x.txt', '# groups\ntruck'),
    'data/lexicon/x.txt:2: expected "word; word", got "truck"',
  )
})

test('an entry with too many words is reported with its line', () => {
  assertThrowsLines(
    () => parseWordList('x.txt', '# words\ngo; less is more'),
    'data/lexicon/x.txt:2: expected a single word, got "less is more"',
  )
  assertThrowsLines(
    () => parseListsWithHeadings('x.txt', '[pairs]\nready to relocate', { pairs: 2 }),
    'data/lexicon/x.txt:2: expected at most 2 words, got "ready to relocate"',
  )
})

test('an empty entry is reported with its line', () => {
  for (const line of ['go;; less', 'go; less;', '; go', 'go; —'])
    assertThrowsLines(
      () => parseWordList('x.txt', `\n${line}`),
      `data/lexicon/x.txt:2: expected entries separated by single semicolons, got "${line}"`,
    )
})

test('a repeated entry is reported with both lines', () => {
  assertThrowsLines(() => parseWordList('x.txt', 'go\nless\nGo'), 'data/lexicon/x.txt:3: "Go" is already on line 1')
  assertThrowsLines(
    () => parseMapping('x.txt', 'tyre = tire\ntyre = tir', { maxKeyWords: 1, maxValueWords: 1, maxValues: 1 }),
    'data/lexicon/x.txt:2: "tyre" is already on line 1',
  )
  assert.deepEqual(parseListsWithHeadings('x.txt', '[a]\ngo\n[b]\ngo', { a: 1, b: 1 }), { a: ['go'], b: ['go'] })
})

test('a mapping line without exactly one equals sign, or with too many values, is reported', () => {
  const limits = { maxKeyWords: 1, maxValueWords: 2, maxValues: 1 }
  assertThrowsLines(
    () => parseMapping('x.txt', 'ai | artificial intelligence\na = b = c\nml = machine learning; maths', limits),
    'data/lexicon/x.txt:1: expected "key = value", got "ai | artificial intelligence"',
    'data/lexicon/x.txt:2: expected "key = value", got "a = b = c"',
    'data/lexicon/x.txt:3: expected "key = value", got 2 values in "ml = machine learning; maths"',
  )
})

test('unknown, repeated, missing and empty headings are reported', () => {
  assertThrowsLines(
    () =>
      parseListsWithHeadings('x.txt', 'go\n[alwais]\nhonest\n[pairs]\nfull time\n[pairs]\npart time', {
        always: 1,
        pairs: 2,
      }),
    'data/lexicon/x.txt:1: expected one of [always], [pairs] before the first entry, got "go"',
    'data/lexicon/x.txt:2: expected one of [always], [pairs], got [alwais]',
    'data/lexicon/x.txt:6: [pairs] must occur once',
    'data/lexicon/x.txt: [always] has no entries',
  )
})
