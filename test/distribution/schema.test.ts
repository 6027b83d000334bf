import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { cloneDatabase } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { compare, readExceptions } from './exceptions.ts'
import { findSchemaViolations, listTables } from './schema.ts'
import { findUnroutedTables } from './statements.ts'

async function connect(t: Cleanup): Promise<pg.Client> {
  const { ownerUrl, drop } = await cloneDatabase()
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  t.after(async () => {
    await client.end()
    await drop()
  })
  return client
}

test('the schema is ready for Citus, with the exceptions that exceptions.txt lists', async (t) => {
  const exceptions = [...(await readExceptions())].filter((entry) => !/^(server|cli)\//.test(entry))
  assert.deepEqual(compare(await findSchemaViolations(await connect(t)), new Set(exceptions)), {
    added: [],
    removed: [],
  })
})

test('tables that Citus would not accept are found', async (t) => {
  const client = await connect(t)
  const before = new Set(await findSchemaViolations(client))
  await client.query(`
    create table visits (visit_id text primary key, org_id text);
    create table visit_notes (
      org_id text not null, note_id text, visit_id text references visits, skill_number int references skills,
      constraint visit_notes_pkey primary key (org_id, note_id));
    create table local_notes (note_id text primary key, visit_id text references visits);
    create trigger visits_changed after insert on visits execute function suppress_redundant_updates_trigger()`)
  const found = (await findSchemaViolations(client)).filter((violation) => !before.has(violation))
  assert.deepEqual(found, [
    'column local_notes',
    'column visits',
    'unique local_notes_pkey of local_notes',
    'unique visits_pkey of visits',
    'foreign key local_notes_visit_id_fkey of local_notes',
    'foreign key visit_notes_visit_id_fkey of visit_notes',
    'trigger visits_changed of visits',
  ])
})

test('statements that read or change several organisations are found', async (t) => {
  const client = await connect(t)
  const tables = await listTables(client)
  const find = (statement: string) => findUnroutedTables(client, statement, tables)
  assert.deepEqual(await find(`select name from workflows where workflow_id = $1`), ['workflows'])
  assert.deepEqual(await find(`update workflows set name = $1 where org_id = $2 or mode = 'live'`), ['workflows'])
  assert.deepEqual(await find(`select name from workflows where org_id = any ($1)`), ['workflows'])
  assert.deepEqual(
    await find(`select name from mandates join workflows using (workflow_id) where mandates.org_id = $1`),
    ['workflows'],
  )
  assert.deepEqual(await find(`delete from events where event_id = $1`), ['events'])
})

test('statements about one organisation, or about shared tables, are accepted', async (t) => {
  const client = await connect(t)
  const tables = await listTables(client)
  const find = (statement: string) => findUnroutedTables(client, statement, tables)
  assert.deepEqual(await find(`select name from workflows where workflow_id = $1 and org_id = $2`), [])
  assert.deepEqual(
    await find(`select name from mandates join workflows using (org_id, workflow_id) where mandates.org_id = $1`),
    [],
  )
  assert.deepEqual(
    await find(`with due as materialized (select org_id, mandate_id from mandates where org_id = $1 limit 5)
      update mandates set version = 2 from due where mandates.org_id = due.org_id and mandates.mandate_id = due.mandate_id`),
    [],
  )
  assert.deepEqual(await find(`select data from events where org_id = $1 and day >= $2 order by sequence limit 5`), [])
  assert.deepEqual(await find(`insert into workflows (org_id, workflow_id) values ($1, $2)`), [])
  assert.deepEqual(await find('select count(*) from skills'), [])
})
