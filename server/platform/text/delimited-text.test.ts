import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CsvError, parse } from 'csv-parse/sync'
import { type DelimitedOptions, DelimitedTextError, parseDelimitedText } from './delimited-text.ts'

const CSV = { delimiter: ',', quotes: true, maxRecordLength: 1000 } satisfies DelimitedOptions

function cellsOf(text: string, options: Partial<DelimitedOptions> = {}): string[][] {
  return parseDelimitedText(text, { ...CSV, ...options }).map(({ cells }) => cells)
}

test('cells, quotation marks, line ends and lines are read', () => {
  assert.deepEqual(parseDelimitedText('\ufeffa,b\r\n\r\n"1, ""2""\nx",\r\n,z', CSV), [
    { cells: ['a', 'b'], line: 1 },
    { cells: ['1, "2"\nx', ''], line: 3 },
    { cells: ['', 'z'], line: 5 },
  ])
  assert.deepEqual(cellsOf('a,b\rc,d\r'), [
    ['a', 'b'],
    ['c', 'd'],
  ])
  assert.deepEqual(cellsOf('""\n\n"a"'), [[''], ['a']])
  assert.deepEqual(cellsOf('a "b"\t"c\n', { delimiter: '\t', quotes: false }), [['a "b"', '"c']])
  assert.deepEqual(cellsOf(''), [])
})

test('invalid quotation marks and long records are reported with their line', () => {
  for (const [text, reason, line] of [
    ['a\n"b\nc', 'unclosed quote', 2],
    ['a\n"b\n"c', 'invalid closing quote', 2],
    ['a\nb\nc"d', 'invalid opening quote', 3],
    [`a\n${'b'.repeat(1001)}`, 'record too long', 2],
    [`a\n"${'b\n'.repeat(1001)}`, 'record too long', 2],
  ] as const)
    assert.throws(
      () => parseDelimitedText(text, CSV),
      (error) => error instanceof DelimitedTextError && error.reason === reason && error.line === line,
      reason,
    )
})

test('parsing stops after the maximum number of records or cells, and does not read the rest', () => {
  assert.deepEqual(cellsOf('a\nb\nc"', { maxRecords: 2 }), [['a'], ['b']])
  assert.deepEqual(cellsOf('a\nb,c,d"\ne', { maxCells: 1 }), [['a'], ['b', 'c']])
})

/** Returns the records of another parser, or the line of its error. */
function parseWithReference(text: string): string[][] | 'error' {
  try {
    return parse(text, {
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n'],
    })
  } catch (error) {
    assert.ok((error as CsvError).code)
    return 'error'
  }
}

test('random texts give the same cells, or are rejected, as with csv-parse', () => {
  let seed = 17
  const random = (limit: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % limit
  }
  const parts = ['a', 'bc', ',', ',', '\n', '\n', '\r\n', '"', '"', '""', ' ', '"x"', '"y,\n"']
  let rejected = 0
  for (let round = 0; round < 3000; round++) {
    const text = `h\n${Array.from({ length: 1 + random(9) }, () => parts[random(parts.length)]).join('')}`
    const expected = parseWithReference(text)
    let actual: string[][] | 'error'
    try {
      actual = cellsOf(text)
    } catch (error) {
      assert.ok(error instanceof DelimitedTextError)
      actual = 'error'
      rejected++
    }
    assert.deepEqual(actual, expected, JSON.stringify(text))
  }
  assert.ok(rejected > 100 && rejected < 2900)
})
