import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { parseStoredTimestamp } from './timestamps.ts'

// The original parser of `pg`: this test does not import database.ts, which replaces it.
const parseWithPg = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => unknown

test('timestamps are parsed as by pg', () => {
  const texts = [
    '2030-01-31 09:00:00+00',
    '2030-01-31 09:00:00.5+00',
    '2030-01-31 09:00:00.123+00',
    '2030-01-31 09:00:00.123456+00',
    '1999-12-31 23:59:59.999999+00',
    '1969-07-20 20:17:40.25+00',
    '2028-02-29 00:00:00.001+00',
    '2030-01-31 09:00:00+05:30',
    '2030-01-31 09:00:00.12-08',
    '10000-01-01 00:00:00+00',
    '0099-01-01 00:00:00+00',
    '0044-03-15 12:00:00+00 BC',
    'infinity',
    '-infinity',
  ]
  for (let time = -1e13; time < 1e13; time += 7_919_031_577)
    texts.push(new Date(time).toISOString().replace('T', ' ').replace('Z', '+00'))
  for (const text of texts) assert.deepEqual(parseStoredTimestamp(text), parseWithPg(text), text)
})
