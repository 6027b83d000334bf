import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import pg from 'pg'
import type { TestDatabase } from '../support/backups.ts'
import { dumpTables } from '../support/dump-tables.ts'
import { findTexts } from '../support/find-texts.ts'
import { nodeOptions } from '../support/node-options.ts'
import { until } from '../support/until.ts'
import { compareReads, createPreviousDatabase, readRecording, startUpgraded } from './previous-release.ts'
import type { Recording } from './recording.ts'

const SERVER = [new URL('../../server/main.ts', import.meta.url).pathname]
const UPGRADE_COMMAND = [new URL('../../cli/main.ts', import.meta.url).pathname, 'upgrade']

/** A place at which the upgrade waits for another transaction, and is killed. */
interface Interruption {
  name: string
  program: string[]
  /** Statements of the other transaction. */
  block: string
  /** The relation whose lock the upgrade waits for; null for a concurrent index build, which waits for the transaction itself. */
  relation: string | null
}

/** In the order of the upgrade: each start continues after the previous place, and is killed at the next one. */
const INTERRUPTIONS: Interruption[] = [
  lockTable('before the first migration', SERVER, 'schema_migrations', 'access exclusive'),
  lockTable('at the end of migration 0036', UPGRADE_COMMAND, 'audit_log'),
  lockTable('between migrations 0037 and 0038', SERVER, 'organisations'),
  lockTable('in the middle of migration 0045', UPGRADE_COMMAND, 'console_sessions'),
  {
    name: 'while migration 0052, which is no transaction, builds its first index',
    program: UPGRADE_COMMAND,
    block: 'begin isolation level repeatable read; select 1',
    relation: null,
  },
  lockTable('at the end of migration 0052', SERVER, 'campaigns'),
  lockTable('while the tables of the job queue are created', UPGRADE_COMMAND, 'pg_namespace', 'share'),
  lockTable('when all candidates are sealed, but the step is not recorded', SERVER, 'unsealed_tables'),
  lockTable('while reviews are sealed, after sessions', UPGRADE_COMMAND, 'verification_reviews'),
  lockTable('while emails are sealed, the last step', SERVER, 'mails'),
]

function lockTable(name: string, program: string[], relation: string, mode = 'exclusive'): Interruption {
  return { name, program, block: `begin; lock table ${relation} in ${mode} mode`, relation }
}

test('an upgrade that is killed at ten points has the result of an uninterrupted one', async (t) => {
  const startedAt = Date.now()
  const recording = await readRecording()
  const [interrupted, uninterrupted] = [
    await createPreviousDatabase(t, recording),
    await createPreviousDatabase(t, recording),
  ]
  for (const { ownerUrl } of [interrupted, uninterrupted]) await insertWaitingEvent(ownerUrl)

  for (const interruption of INTERRUPTIONS) await killUpgrade(interrupted, recording, interruption)
  const { code, stdout, stderr } = await runUpgrade(uninterrupted, recording)
  assert.equal(code, 0, stdout + stderr)
  const resumed = await runUpgrade(interrupted, recording)
  assert.equal(resumed.code, 0, resumed.stdout + resumed.stderr)

  assert.deepEqual(await describeSchema(interrupted.ownerUrl), await describeSchema(uninterrupted.ownerUrl))
  const expectedRows = await describeRows(uninterrupted.ownerUrl, startedAt)
  assert.deepEqual(await describeRows(interrupted.ownerUrl, startedAt), expectedRows)
  const app = await startUpgraded(t, interrupted, recording)
  assert.deepEqual(findTexts(await dumpTables(interrupted.ownerUrl), recording.personalValues), [])
  const reads = recording.reads.filter(({ path }) => !path.startsWith('/events'))
  assert.deepEqual(await compareReads(app, { ...recording, reads }), [])
  const { body } = await app.as(recording.partnerKey).get('/events?acknowledged=all&limit=100')
  const waiting = body.data.items.find(({ event_id }: { event_id: string }) => event_id === 'EV_waiting')
  assert.equal(waiting.data.candidate.name, 'Asha Quillfeather')
})

/** Adds an event that the previous release has not moved to the ledger yet. */
async function insertWaitingEvent(ownerUrl: string): Promise<void> {
  await withClient(ownerUrl, (client) =>
    client.query(`insert into event_outbox (event_id, org_id, mode, type, data, created_at)
      select 'EV_waiting', org_id, mode, type, data, created_at from events where type = 'result.completed' and data ~ 'Asha' limit 1`),
  )
}

/** Starts the upgrade, waits until it has reached the place of the interruption, and kills its process. */
async function killUpgrade(database: TestDatabase, recording: Recording, interruption: Interruption) {
  const { name, program, block, relation } = interruption
  // Another connection than that of the blocking transaction: an index build waits for transactions that run queries.
  await withClient(database.ownerUrl, (observer) =>
    withClient(database.ownerUrl, async (blocker) => {
      await blocker.query(block)
      const child = startProcess(database, recording, program)
      try {
        const backends = await until(async () => {
          if (child.exitCode !== null) throw new Error(`the upgrade ended with ${child.exitCode}, not killed ${name}`)
          const { rows } = await observer.query<{ pid: number }>(
            `select pid from pg_locks where not granted and
               case when $1::text is null then locktype = 'virtualxid' else relation = $1::regclass and database =
                 (select oid from pg_database where datname = current_database()) end`,
            [relation],
          )
          return rows.length > 0 && rows
        })
        child.kill('SIGKILL')
        await once(child, 'exit')
        // PostgreSQL notices a lost process only when it sends it something, and would complete the index.
        if (relation === null)
          for (const { pid } of backends) await observer.query('select pg_terminate_backend($1, 5000)', [pid])
        await blocker.query('rollback')
      } finally {
        child.kill('SIGKILL')
      }
    }),
  )
}

async function runUpgrade(database: TestDatabase, recording: Recording) {
  const child = startProcess(database, recording, UPGRADE_COMMAND)
  let [stdout, stderr] = ['', '']
  child.stdout!.on('data', (chunk: Buffer) => (stdout += chunk))
  child.stderr!.on('data', (chunk: Buffer) => (stderr += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout, stderr }
}

function startProcess(database: TestDatabase, { masterKey }: Recording, program: string[]): ChildProcess {
  const env = { ...process.env, ...database.env, MASTER_KEY: masterKey, PORT: '0', LOG_LEVEL: 'error' }
  return spawn(process.execPath, [...nodeOptions, ...program], { stdio: ['ignore', 'pipe', 'pipe'], env })
}

async function withClient<T>(ownerUrl: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

/** Returns a line for each column, index, constraint, trigger, function, policy and privilege. */
async function describeSchema(ownerUrl: string): Promise<string[]> {
  const { rows } = await withClient(ownerUrl, (client) =>
    client.query<{ line: string }>(`
      with relations as (
        select c.oid, c.relname, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relacl, format('%I.%I', nspname, relname) as name
        from pg_class c join pg_namespace n on n.oid = relnamespace where nspname in ('public', 'pgboss'))
      select concat_ws(' ', 'relation', name, relkind, relrowsecurity, relforcerowsecurity,
        (select string_agg(entry::text, ',' order by entry::text) from unnest(relacl) entry)) as line from relations
      union all select concat_ws(' ', 'column', name, attname, format_type(atttypid, atttypmod), attnotnull,
        (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum))
        from pg_attribute join relations on relations.oid = attrelid where attnum > 0 and not attisdropped
      union all select concat_ws(' ', 'index', pg_get_indexdef(indexrelid), indisvalid, indisready)
        from pg_index join relations on relations.oid = indexrelid
      union all select concat_ws(' ', 'constraint', name, conname, pg_get_constraintdef(pg_constraint.oid), convalidated)
        from pg_constraint join relations on relations.oid = conrelid
      union all select concat_ws(' ', 'trigger', pg_get_triggerdef(pg_trigger.oid), tgenabled)
        from pg_trigger join relations on relations.oid = tgrelid where not tgisinternal
      union all select concat_ws(' ', 'function', pg_get_functiondef(p.oid))
        from pg_proc p join pg_namespace n on n.oid = pronamespace where nspname in ('public', 'pgboss') and prokind = 'f'
      union all select concat_ws(' ', 'policy', tablename, policyname, cmd, roles::text, qual, with_check) from pg_policies
      order by line`),
  )
  return rows.map(({ line }) => line)
}

const RANDOM_VALUES = /\bPER_\w{26}\b|\b[0-9a-f]{32}\b/g
const TIMES = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[\d.]*\+00\b/g

/**
 * Returns each row as text, without the values that differ between two upgrades of the same database: sealed values, IDs of people, hashes
 * with a new key, and times since `startedAt`.
 */
async function describeRows(ownerUrl: string, startedAt: number): Promise<string[]> {
  return withClient(ownerUrl, async (client) => {
    await client.query(`set time zone 'UTC'`)
    const { rows: tables } = await client.query<{ name: string; columns: string[] }>(`
      select relname as name, array(select format('%I', attname) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and atttypid <> 'bytea'::regtype) as columns
      from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname <> 'processes'`)
    const lines: string[] = []
    for (const { name, columns } of tables) {
      const { rows } = await client.query<{ row: string }>(
        `select row(${columns.join(', ')})::text as row from ${name}`,
      )
      for (const { row } of rows)
        lines.push(
          `${name} ${row.replace(RANDOM_VALUES, '…').replace(TIMES, (time) => (Date.parse(time) < startedAt ? time : '…'))}`,
        )
    }
    return lines.sort()
  })
}
