import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { runStatements } from '../../../test/runner/cluster.ts'
import { isPgBouncerAvailable, PGBOUNCER_ADVICE, pooledUrl, startPgBouncer } from '../../../test/runner/pooler.ts'
import { cloneDatabase, getPostgresUrl, startApp } from '../../../test/support/app.ts'
import { BACKUP_KEY } from '../../../test/support/backups.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { startReceiver } from '../../../test/support/receiver.ts'
import { createDeployment } from '../../../test/support/server.ts'
import { until } from '../../../test/support/until.ts'
import { startWebhookApp } from '../../../test/support/webhooks.ts'
import type { Config } from '../../config.ts'
import { sealedColumns } from '../../sealed-columns.ts'
import { rotateDataKey } from '../data-key-rotation.ts'
import { openDatabase } from './database.ts'
import { runWithScope } from './tenant-scope.ts'

const skip = isPgBouncerAvailable() ? false : `no PgBouncer found. ${PGBOUNCER_ADVICE}`

/** PgBouncer with a single session of PostgreSQL for each database and role, which all connections take turns on. */
const getPooler = oncePerFile(async (cleanup) => {
  const pooler = await startPgBouncer(getPostgresUrl(), { poolSize: 1 })
  cleanup.after(() => pooler.stop())
  return pooler
})

async function openPooledDatabase(t: TestContext, options: { stalledAfterMs?: number } = {}) {
  const pooler = await getPooler()
  const { url, drop } = await cloneDatabase()
  const db = openDatabase({
    connection: { connectionString: url },
    pooledConnection: { connectionString: pooledUrl(url, pooler.url) },
    name: 'test',
    onError: () => {},
    ...options,
  })
  t.after(async () => {
    await db.close()
    await drop()
  })
  return { db, pooler, url }
}

const readSettings = sql<{ pid: number; org: string; mode: string; timeout: string }>`
  select pg_backend_pid() as pid, current_setting('attestry.org', true) as org, current_setting('attestry.mode', true) as mode,
    current_setting('idle_in_transaction_session_timeout') as timeout`

test('the scope of a request ends with its statement or transaction, on a session that others use too', {
  skip,
}, async (t) => {
  const { db, pooler, url } = await openPooledDatabase(t)
  const other = new pg.Client({ connectionString: pooledUrl(url, pooler.url) })
  await other.connect()
  t.after(() => other.end())
  const readAsOther = async () => (await other.query(readSettings.compile(db.queries).sql)).rows[0]
  const { pid } = await readAsOther()
  const noScope = { pid, timeout: '0' }
  for (const orgId of ['ORG_A', 'ORG_B', `ORG_'; drop table organisations; --`]) {
    const settings = await runWithScope({ scope: { orgId, mode: 'test' } }, async () => [
      (await readSettings.execute(db.queries)).rows[0],
      await db.transaction(async (tx) => (await readSettings.execute(tx)).rows[0]),
    ])
    const scope = { org: orgId, mode: 'test' }
    assert.deepEqual(settings, [
      { ...noScope, ...scope },
      { ...noScope, ...scope, timeout: '10s' },
    ])
    const { org, mode, ...rest } = await readAsOther()
    assert.deepEqual(rest, noScope)
    assert.deepEqual([org || null, mode || null], [null, null]) // a setting that was set once is empty afterwards
    assert.deepEqual((await readSettings.execute(db.queries)).rows[0], { ...noScope, org: '*', mode: '*' })
  }
})

test('the scope also ends with a statement or a transaction that fails', { skip }, async (t) => {
  const { db } = await openPooledDatabase(t)
  await runWithScope({ scope: { orgId: 'ORG_A', mode: 'live' } }, async () => {
    await assert.rejects(sql`select 1 / ${0}::int`.execute(db.queries), /division by zero/)
    await assert.rejects(
      db.transaction((tx) => sql`select 1 / ${0}::int`.execute(tx)),
      /division by zero/,
    )
    await assert.rejects(db.pool.query('select * from no_such_table'), /does not exist/)
  })
  const { rows } = await readSettings.execute(db.queries)
  assert.deepEqual([rows[0]!.org, rows[0]!.mode, rows[0]!.timeout], ['*', '*', '0'])
})

test('statements return the same results as without a pooler', { skip }, async (t) => {
  const { db } = await openPooledDatabase(t)
  const { rows, rowCount } = await db.pool.query('select n from generate_series(1, $1::int) as n', [3])
  assert.deepEqual([rows, rowCount], [[{ n: 1 }, { n: 2 }, { n: 3 }], 3])
  assert.deepEqual((await db.pool.query(`select 'no values' as text`)).rows, [{ text: 'no values' }])
  const fromCallback = await new Promise((resolve) => {
    db.pool.query('select $1::text as text', ['callback'], (_error, result) => resolve(result.rows))
  })
  assert.deepEqual(fromCallback, [{ text: 'callback' }])
  const { rows: isolation } = await db.transaction(async (tx) => {
    await sql`set transaction isolation level repeatable read, read only`.execute(tx)
    return sql`select current_setting('transaction_isolation') as level`.execute(tx)
  })
  assert.deepEqual(isolation, [{ level: 'repeatable read' }])
  const { rows: snapshot } = await db.queries
    .transaction()
    .setIsolationLevel('serializable')
    .execute((tx) => sql`select current_setting('transaction_isolation') as level`.execute(tx))
  assert.deepEqual(snapshot, [{ level: 'serializable' }])
  const client = await db.pool.connect()
  await client.query('begin')
  const results = await client.query('select 1 as one; select 2 as two')
  await client.query('commit')
  client.release()
  assert.deepEqual(
    (results as unknown as pg.QueryResult[]).map((result) => result.rows),
    [[{ one: 1 }], [{ two: 2 }]],
  )
})

/** An external database of the tests has one role, which owns the tables and is exempt from row-level security. */
const skipExempt = process.env.TEST_EXTERNAL === '1' || skip

test('two organisations on one session see and change their own rows only', { skip: skipExempt }, async (t) => {
  const { url: poolerUrl } = await getPooler()
  const { context, fixtures, as } = await startApp(t, { poolerUrl })
  const [acme, metro] = [await fixtures.createOrg('Acme Staffing'), await fixtures.createOrg('Metro Staffing')]
  const created = await Promise.all(
    [acme, metro, acme, metro].map(({ key }, index) => as(key).post('/workflows', { name: `Workflow ${index}` })),
  )
  assert.deepEqual(
    created.map(({ status }) => status),
    [201, 201, 201, 201],
  )
  const lists = await Promise.all([acme, metro].map(({ key }) => as(key).get('/workflows')))
  assert.deepEqual(
    lists.map(({ body }) => body.data.items.map(({ name }: { name: string }) => name).sort()),
    [
      ['Workflow 0', 'Workflow 2'],
      ['Workflow 1', 'Workflow 3'],
    ],
  )
  const countAll = () => context.db.pool.query('select count(*)::int as count from workflows').then((r) => r.rows[0])
  assert.deepEqual(await countAll(), { count: 4 })
  const scope = { orgId: metro.orgId, mode: 'live' } as const
  assert.deepEqual(await runWithScope({ scope }, countAll), { count: 2 })
  const client = new pg.Client({ connectionString: context.config.databaseUrl! })
  await client.connect()
  assert.deepEqual((await client.query('select * from workflows')).rows, [], 'no scope, no rows')
  await client.end()
})

test('jobs, notifications and webhooks work, and a data key is rotated under its lock', { skip }, async (t) => {
  const { url: poolerUrl } = await getPooler()
  const app = await startWebhookApp(t, { worker: true, poolerUrl })
  const { context, clock } = app
  const key = await app.createKey('test')
  const receiver = await startReceiver(t)
  await app.createEndpoint(key, receiver.url)
  const waiting = app.as(key).get('/events?wait=20')
  const mandate = await app.fixtures.createMandate(key) // prepared by a job, which records an event
  assert.deepEqual(
    (await waiting).body.data.items.map((event: { type: string }) => event.type),
    ['mandate.ready'],
  )
  await receiver.waitFor(1)
  assert.equal((await app.as(key).get(`/mandates/${mandate.mandate_id}`)).body.data.status, 'ready')
  const { db, vault, config } = context
  const rotation = { db, vault, clock, masterKey: config.masterKey!, columns: sealedColumns }
  const results = await Promise.allSettled([rotateDataKey(rotation), rotateDataKey(rotation)])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.equal((await app.fetch('/readyz')).status, 200)
  const { rows } = await db.pool.query(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name like 'attestry%' and query ~* '^listen'`,
  )
  assert.ok(rows[0].count <= 1, 'all notifications arrive on one direct connection')
})

test('a pooler that is busy is not taken for one that does not respond', { skip }, async (t) => {
  const { db, pooler } = await openPooledDatabase(t, { stalledAfterMs: 200 })
  const slow = sql`select pg_sleep(1.5)`.execute(db.queries)
  const { rows } = await sql`select 1 as one`.execute(db.queries)
  assert.deepEqual(rows, [{ one: 1 }])
  await slow
  process.kill(pooler.pid, 'SIGSTOP')
  try {
    await assert.rejects(sql`select 1`.execute(db.queries), /Connection terminated|timeout/)
  } finally {
    process.kill(pooler.pid, 'SIGCONT')
  }
  await until(() =>
    sql`select 1`.execute(db.queries).then(
      () => true,
      () => false,
    ),
  )
})

test('the server is not ready while the database behind the pooler is read-only', { skip }, async (t) => {
  const { url: poolerUrl } = await getPooler()
  const { context, fixtures, as, fetch } = await startApp(t, { poolerUrl })
  const { key } = await fixtures.createOrg()
  const name = new URL(context.config.databaseUrl!).pathname.slice(1)
  const setReadOnly = (value: 'on' | 'off') =>
    runStatements(
      getPostgresUrl(),
      `alter database ${name} set default_transaction_read_only = ${value}`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
    )
  await setReadOnly('on')
  const notReady = await until(async () => {
    const response = await fetch('/readyz')
    return response.status === 503 && /read-only/.test(response.body.wrong[0]) && response
  })
  assert.match(notReady.body.wrong[0], /the database is read-only/)
  assert.equal((await as(key).post('/workflows', { name: 'Site hiring' })).status, 503)
  await setReadOnly('off')
  await until(async () => (await fetch('/readyz')).status === 200)
  assert.equal((await as(key).post('/workflows', { name: 'Site hiring' })).status, 201)
})

test('without a direct address, a pooler is refused; with one, doctor names both, and backups work', {
  skip,
}, async (t) => {
  const { url: poolerUrl } = await getPooler()
  const { context } = await startApp(t, { poolerUrl })
  const { databaseUrl, databaseDirectUrl, databaseOwnerUrl, masterKey } = context.config
  const { env, cli, json, dataDir } = await createDeployment(t, { embedded: true })
  Object.assign(env, { DATABASE_URL: databaseUrl, DATABASE_OWNER_URL: databaseOwnerUrl })
  Object.assign(env, { ADMIN_API_KEY: context.adminKey, MASTER_KEY: masterKey!.toString('base64') })
  assert.match(
    (await cli('doctor')).stdout,
    /✗ database .*DATABASE_URL connects through a pooler in transaction mode.* Set DATABASE_DIRECT_URL/,
  )
  env.DATABASE_DIRECT_URL = databaseDirectUrl
  const { stdout } = await cli('doctor')
  assert.match(stdout, /✓ database .*pooler in transaction mode, DATABASE_DIRECT_URL for locks and notifications/)
  assert.match(stdout, /✓ connections .*opens up to 5, not counting those of the pooler/)
  env.BACKUP_KEY = BACKUP_KEY
  assert.match((await json('backup', '--to', dataDir)).name, /\.attestry-backup$/)
})

test('the direct address must be one of PostgreSQL itself, and reach the same database', { skip }, async (t) => {
  const { url: poolerUrl } = await getPooler()
  const { url, ownerUrl, drop } = await cloneDatabase()
  t.after(drop)
  const start = (config: Partial<Config>) => startApp(t, { poolerUrl, config })
  await assert.rejects(
    start({ databaseDirectUrl: pooledUrl(url, poolerUrl) }),
    /^Error: DATABASE_DIRECT_URL connects through a pooler.* Set DATABASE_DIRECT_URL to the address of PostgreSQL itself/,
  )
  await assert.rejects(
    start({ databaseOwnerUrl: pooledUrl(ownerUrl, poolerUrl) }),
    /^Error: DATABASE_OWNER_URL connects through a pooler.* Set DATABASE_OWNER_URL to the address of PostgreSQL itself/,
  )
  await assert.rejects(
    start({ databaseDirectUrl: url }),
    /must reach the same database as the same role, but the database differs: test_\w+ through the pooler, test_\w+ directly/,
  )
})
