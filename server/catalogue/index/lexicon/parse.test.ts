import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseGroups, parseList, parseLists, parseMapping } from './parse.ts'

const throwsLines = (parse: () => unknown, ...lines: string[]) => assert.throws(parse, { message: lines.join('\n') })

test('comments and empty lines are ignored, and entries may span several lines', () => {
  assert.deepEqual(parseList('x.txt', '# words\n\ngo; less\r\n  rest\n'), ['go', 'less', 'rest'])
})

test('entries are folded like the texts that they are compared with', () => {
  assert.deepEqual(parseList('x.txt', 'Crème; कन्नड़; पाँच'), ['creme', 'कन्नड', 'पांच'])
  assert.deepEqual(
    [...parseMapping('x.txt', 'R&D = Research and Development', { keyWords: 3, valueWords: 3, values: 1 })],
    [['r and d', ['research and development']]],
  )
})

test('lists have headings', () => {
  assert.deepEqual(parseLists('x.txt', '[always]\nhonest; loyal\n\n[pairs]\nfull time\n', { always: 1, pairs: 2 }), {
    always: ['honest', 'loyal'],
    pairs: ['full time'],
  })
})

test('a mapping has one or more values per key', () => {
  const mapping = parseMapping('x.txt', 'tyre = tire\nfitter = fiter; fittar', {
    keyWords: 1,
    valueWords: 1,
    values: 9,
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
  assert.deepEqual(parseGroups('x.txt', 'truck; lorry\ncar; auto; motor'), [
    ['truck', 'lorry'],
    ['car', 'auto', 'motor'],
  ])
  throwsLines(() => parseGroups('x.txt', '# groups\ntruck'), 'data/lexicon/x.txt:2: expected "word; word", got "truck"')
})

test('an entry with too many words is reported with its line', () => {
  throwsLines(
    () => parseList('x.txt', '# words\ngo; less is more'),
    'data/lexicon/x.txt:2: expected a single word, got "less is more"',
  )
  throwsLines(
    () => parseLists('x.txt', '[pairs]\nready to relocate', { pairs: 2 }),
    'data/lexicon/x.txt:2: expected at most 2 words, got "ready to relocate"',
  )
})

test('an empty entry is reported with its line', () => {
  for (const line of ['go;; less', 'go; less;', '; go', 'go; —'])
    throwsLines(
      () => parseList('x.txt', `\n${line}`),
      `data/lexicon/x.txt:2: expected entries separated by single semicolons, got "${line}"`,
    )
})

test('a repeated entry is reported with both lines', () => {
  throwsLines(() => parseList('x.txt', 'go\nless\nGo'), 'data/lexicon/x.txt:3: "Go" is already on line 1')
  throwsLines(
    () => parseMapping('x.txt', 'tyre = tire\ntyre = tir', { keyWords: 1, valueWords: 1, values: 1 }),
    'data/lexicon/x.txt:2: "tyre" is already on line 1',
  )
  assert.deepEqual(parseLists('x.txt', '[a]\ngo\n[b]\ngo', { a: 1, b: 1 }), { a: ['go'], b: ['go'] })
})

test('a mapping line without exactly one equals sign, or with too many values, is reported', () => {
  const limits = { keyWords: 1, valueWords: 2, values: 1 }
  throwsLines(
    () => parseMapping('x.txt', 'ai | artificial intelligence\na = b = c\nml = machine learning; maths', limits),
    'data/lexicon/x.txt:1: expected "key = value", got "ai | artificial intelligence"',
    'data/lexicon/x.txt:2: expected "key = value", got "a = b = c"',
    'data/lexicon/x.txt:3: expected "key = value", got 2 values in "ml = machine learning; maths"',
  )
})

test('unknown, repeated, missing and empty headings are reported', () => {
  throwsLines(
    () => parseLists('x.txt', 'go\n[alwais]\nhonest\n[pairs]\nfull time\n[pairs]\npart time', { always: 1, pairs: 2 }),
    'data/lexicon/x.txt:1: expected one of [always], [pairs] before the first entry, got "go"',
    'data/lexicon/x.txt:2: expected one of [always], [pairs], got [alwais]',
    'data/lexicon/x.txt:6: [pairs] must occur once',
    'data/lexicon/x.txt: [always] has no entries',
  )
})
