import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { databaseUrl, dropDatabase, runStatements } from '../../../test/runner/cluster.ts'
import { getPostgresUrl } from '../../../test/support/app.ts'
import { migrate, pendingMigrations, readMigrations, SchemaTooNewError } from './migrate.ts'
import { splitStatements } from './split-statements.ts'

async function createEmptyDatabase(t: TestContext) {
  const name = `migrate_${Math.random().toString(36).slice(2)}`
  await runStatements(getPostgresUrl(), `create database ${name}`)
  const pools: pg.Pool[] = []
  t.after(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await dropDatabase(getPostgresUrl(), name)
  })
  return () => {
    const pool = new pg.Pool({ connectionString: databaseUrl(getPostgresUrl(), name), max: 2 })
    pool.on('error', () => {}) // a connection that is slow to close is terminated when the database is dropped
    pools.push(pool)
    return pool
  }
}

async function createMigrationFolder(t: TestContext, files: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return pathToFileURL(`${folder}/`)
}

test('ten processes that start together apply each migration once', async (t) => {
  const openPool = await createEmptyDatabase(t)
  const migrations = await readMigrations()
  const appliedNames = await Promise.all(Array.from({ length: 10 }, () => migrate(openPool(), migrations)))
  assert.deepEqual(
    appliedNames.flat(),
    migrations.map(({ name }) => name),
  )
  assert.deepEqual(await pendingMigrations(openPool(), migrations), [])
})

test('a failed migration is rolled back, and the error names the file, the line and the statement', async (t) => {
  const openPool = await createEmptyDatabase(t)
  const folder = await createMigrationFolder(t, {
    '0001_good.sql': 'create table good (id int primary key);',
    '0002_bad.sql': `-- creates a table; then fails
create table half_done (id int);

insert into good
  values (1), (1); -- twice`,
    '0003_later.sql': 'create table later (id int);',
  })
  const migrations = await readMigrations(folder)
  const pool = openPool()
  await assert.rejects(migrate(pool, migrations), (error: Error) => {
    assert.match(
      error.message,
      /^migrations\/0002_bad\.sql, line 4, in «insert into good values \(1\), \(1\)»: duplicate key/,
    )
    return true
  })
  const { rows } = await pool.query(
    `select table_name from information_schema.tables where table_schema = 'public' order by 1`,
  )
  assert.deepEqual(
    rows.map((row) => row.table_name),
    ['good', 'schema_migrations'],
  )
  assert.deepEqual(await pendingMigrations(pool, migrations), ['0002_bad.sql', '0003_later.sql'])
})

test('a migration without a transaction builds indexes concurrently, and is repeated if it failed', async (t) => {
  const openPool = await createEmptyDatabase(t)
  const folder = await createMigrationFolder(t, {
    '0001_people.sql': 'create table people (id int);',
    '0002_index.sql': `-- without a transaction
alter table people add column if not exists name text;
drop index concurrently if exists people_name;
create index concurrently people_name on people (name);
select 1 / count(*) from people;`,
  })
  const migrations = await readMigrations(folder)
  const pool = openPool()
  await assert.rejects(
    migrate(pool, migrations),
    /^Error: migrations\/0002_index\.sql, line 5, .*division by zero; the statements before it were applied, and the next start repeats/,
  )
  await pool.query(`insert into people values (1, 'Asha')`)
  const applied = await Promise.all(Array.from({ length: 3 }, () => migrate(openPool(), migrations)))
  assert.deepEqual(applied.flat(), ['0002_index.sql'])
  const { rows } = await pool.query(`select indisvalid from pg_index where indexrelid = 'people_name'::regclass`)
  assert.deepEqual(rows, [{ indisvalid: true }])
})

test('a migration that was changed after it was applied is rejected', async (t) => {
  const openPool = await createEmptyDatabase(t)
  const folder = await createMigrationFolder(t, { '0001_a.sql': 'create table a (id int);' })
  await migrate(openPool(), await readMigrations(folder))
  await writeFile(new URL('0001_a.sql', folder), 'create table a (id bigint);')
  await assert.rejects(
    migrate(openPool(), await readMigrations(folder)),
    /0001_a\.sql was changed after it was applied/,
  )
})

test('migration files need a valid name and a unique number', async (t) => {
  await assert.rejects(
    readMigrations(await createMigrationFolder(t, { 'first.sql': '' })),
    /must have the form 0001_noun\.sql/,
  )
  await assert.rejects(
    readMigrations(await createMigrationFolder(t, { '0001_a.sql': '', '0001_b.sql': '' })),
    /another migration already has the number 0001/,
  )
})

test('statements are split at their end, not inside quotes, comments or function bodies', () => {
  const sql = `-- one; two
select ';' as "a;b" /* ; */;
create function f() returns void language sql as $body$ select 1; select 2; $body$;

  insert into t values ('it''s; fine')`
  assert.deepEqual(splitStatements(sql), [
    { text: `select ';' as "a;b" /* ; */`, line: 2 },
    { text: 'create function f() returns void language sql as $body$ select 1; select 2; $body$', line: 3 },
    { text: `insert into t values ('it''s; fine')`, line: 5 },
  ])
})

test('a version runs on a newer schema only if the newer migrations allow it', async (t) => {
  const openPool = await createEmptyDatabase(t)
  const oldFiles = { '0001_first.sql': 'select 1;', '0002_second.sql': 'select 1;' }
  const readFiles = async (files: Record<string, string>) => readMigrations(await createMigrationFolder(t, files))
  const oldMigrations = await readFiles(oldFiles)
  const olderMigrations = oldMigrations.slice(0, 1)
  const compatibleFiles = { ...oldFiles, '0003_third.sql': '-- compatible with: 0002\nselect 1;' }
  await migrate(openPool(), await readFiles(compatibleFiles))
  assert.deepEqual(await migrate(openPool(), oldMigrations), [])
  await assert.rejects(migrate(openPool(), olderMigrations), (error: Error) => {
    assert.ok(error instanceof SchemaTooNewError)
    assert.match(
      error.message,
      /has migration 0002_second\.sql, and this version knows migrations up to 0001\. Start the newer version/,
    )
    return true
  })

  await migrate(openPool(), await readFiles({ ...compatibleFiles, '0004_fourth.sql': 'select 1;' }))
  await assert.rejects(migrate(openPool(), oldMigrations), /has migration 0004_fourth\.sql/)
  await assert.rejects(pendingMigrations(openPool(), oldMigrations), SchemaTooNewError)
})

test('rows of keys get the organisation and mode of their key, also those of the previous version', async (t) => {
  const openPool = await createEmptyDatabase(t)
  const pool = openPool()
  const migrations = await readMigrations()
  const split = migrations.findIndex(({ name }) => name.startsWith('0027'))
  await migrate(pool, migrations.slice(0, split))
  await pool.query(`insert into organisations (org_id, name, created_at) values ('ORG_A', 'Acme', now())`)
  await pool.query(
    `insert into data_keys (data_key_id, master_key_id, wrapped, created_at) values ('d', 'm', '', now())`,
  )
  await pool.query(
    `insert into partner_keys (key_id, org_id, mode, scopes, secret, created_at) values ('VFN_TEST_1', 'ORG_A', 'test', '{}', '', now())`,
  )
  const keyIds = ['VFN_TEST_1', 'console:ORG_B:live:asha@example.com', 'ORG_C test']
  const insertRows = async (client: pg.ClientBase, keys: string[], day: string) => {
    for (const table of ['people_enrolled (key_id, day, person)', 'people_days (key_id, day, people)'])
      await client.query(
        `insert into ${table} select key_id, '${day}', ${table.includes('person') ? `''::bytea` : '1'} from unnest($1::text[]) as key_id`,
        [keys],
      )
    await client.query(
      `insert into idempotency_records (key_id, idempotency_key, fingerprint, status, body, created_at)
       select key_id, '${day}', '', 200, '{}', now() from unnest($1::text[]) as key_id`,
      [keys],
    )
  }
  const client = await pool.connect()
  try {
    await insertRows(client, keyIds, '2026-03-11')
    await migrate(openPool(), migrations)
    await client.query(`select set_config('attestry.org', 'ORG_D', false), set_config('attestry.mode', 'live', false)`)
    await insertRows(client, ['VFN_LIVE_2'], '2026-03-12')
    for (const table of ['people_enrolled', 'people_days', 'idempotency_records']) {
      const { rows } = await client.query(`select org_id, mode from ${table} order by org_id`)
      assert.deepEqual(
        rows.map(({ org_id, mode }) => `${org_id} ${mode}`),
        ['ORG_A test', 'ORG_B live', 'ORG_C test', 'ORG_D live'],
        table,
      )
    }
  } finally {
    client.release()
  }
})
