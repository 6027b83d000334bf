import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'

test('the data map has an entry for every table', async (t) => {
  const { context } = await startApp(t)
  const { rows } = await context.db.pool.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`)
  const tables = rows.map(({ name }) => name)
  const page = await readFile(new URL('../../docs/reference/data-map.md', import.meta.url), 'utf8')
  const cells = [...page.matchAll(/^\| (`[^|]*`) \|/gm)].map(([, cell]) => cell!)
  const listed = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
  assert.deepEqual(
    tables.filter((name) => !listed.includes(name)),
    [],
    'tables without an entry in docs/reference/data-map.md',
  )
  assert.deepEqual(
    listed.filter((name) => !tables.includes(name)),
    [],
    'entries in docs/reference/data-map.md without a table',
  )
  assert.equal(new Set(listed).size, listed.length, 'each table has one entry')
})
