import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import pg from 'pg'
import { DatabaseClient } from '../../server/platform/database/database-client.ts'
import { aMandate, startApp } from '../support/app.ts'
import { createMigratedDatabase } from '../support/backups.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { findFreePort } from '../support/free-port.ts'
import { createDeployment } from '../support/server.ts'
import { startSmtp } from '../support/smtp.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'
import { until } from '../support/until.ts'
import { expectOk, verificationCalls } from '../support/verification.ts'
import { startServerProcess } from './server-process.ts'

test('a process that stops inside a transaction does not stop the events of the others', {
  timeout: 120_000,
}, async (t) => {
  const { context, fixtures, as } = await startApp(t)
  const { key } = await fixtures.createOrg()
  // To the database, a paused process is a connection that sends nothing.
  const paused = new DatabaseClient({ connectionString: context.config.databaseUrl! })
  t.after(() => paused.end())
  await paused.connect()
  await paused.query('begin')
  await paused.query(`select pg_advisory_xact_lock(hashtextextended('event ledger', 0))`)
  await as(key).post('/workflows', { name: 'Recorded meanwhile' })
  await context.db.pool.query(
    `insert into event_outbox (event_id, org_id, mode, type, data, created_at) values ('EV_1', $1, 'live', 'mandate.ready', '{}', now())`,
    [key.orgId],
  )
  const blocked = await as(key).get('/events')
  assert.deepEqual([blocked.status, blocked.body.error.code], [503, 'SERVICE_UNAVAILABLE'])
  const events = await until(async () => {
    const { status, body } = await as(key).get('/events')
    return status === 200 && body.data.items
  })
  assert.deepEqual(
    events.map((event: { event_id: string }) => event.event_id),
    ['EV_1'],
  )
  await assert.rejects(paused.query('select 1'))
})

test('a connection to a database that became read-only is dropped', async (t) => {
  const { context, fixtures, as } = await startApp(t)
  const { key } = await fixtures.createOrg()
  const { pool } = context.db
  // Every idle connection of the pool is now one to a standby.
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  for (const client of clients) await client.query('set default_transaction_read_only = on')
  for (const client of clients) client.release()
  const rejected = await as(key).post('/workflows', { name: 'Site hiring' })
  assert.deepEqual([rejected.status, rejected.body.error.code], [503, 'SERVICE_UNAVAILABLE'])
  for (let call = 0; call < clients.length; call++) await as(key).post('/workflows', { name: 'Site hiring' })
  await until(async () => (await as(key).post('/workflows', { name: 'Site hiring' })).status === 201)
})

test('a read-only database is refused, and the server is not ready', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const name = new URL(app.context.config.databaseUrl!).pathname.slice(1)
  const setReadOnly = (value: string) =>
    app.context.db.asOwner(async ({ pool }) => {
      await pool.query(
        `begin; set transaction read write; alter database ${name} set default_transaction_read_only = ${value}; commit`,
      )
    })
  await setReadOnly('on')
  const { pool } = app.context.db
  const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
  for (const client of clients) client.release(true)
  const notReady = await until(async () => {
    const response = await app.fetch('/readyz')
    return response.status === 503 && response
  })
  assert.match(notReady.body.wrong[0], /^the database is read-only/)
  assert.equal((await app.as(key).post('/workflows', { name: 'Site hiring' })).status, 503)
})

test('a server with several hosts in DATABASE_URL follows the primary from one to the other', async (t) => {
  const database = await createMigratedDatabase(t)
  const hosts = [
    await createDatabaseHost(t, database.ownerUrl),
    await createDatabaseHost(t, database.ownerUrl),
  ] as const
  const [first, second] = hosts
  await second.open()
  const url = new URL(database.ownerUrl)
  const databaseUrl = `postgres://${url.username}:${url.password}@${hosts.map(({ port }) => `127.0.0.1:${port}`).join(',')}${url.pathname}`
  const { fixtures, as, fetch } = await startApp(t, { config: { databaseUrl }, worker: true })
  const { key } = await fixtures.createOrg()
  const create = () => as(key).post('/workflows', { name: 'Site hiring' })
  assert.equal((await create()).status, 201)

  second.close()
  const notReady = await until(async () => {
    const response = await fetch('/readyz')
    return response.status === 503 && response
  })
  assert.deepEqual(notReady.body.wrong, ['the database does not respond'])
  assert.equal((await create()).status, 503)
  await first.open()
  const { body } = await until(async () => {
    const response = await create()
    return response.status === 201 && response
  })
  const mandate = await as(key).post('/mandates', aMandate(body.data.workflow_id), { idempotencyKey: true })
  await until(async () => {
    const response = await as(key).get(`/mandates/${mandate.body.data.mandate_id}`)
    return response.body.data.status === 'ready'
  })
  assert.equal((await fetch('/readyz')).status, 200)
})

test('an email that was sent while the database was lost is not sent again', async (t) => {
  const database = await createMigratedDatabase(t)
  const host = await createDatabaseHost(t, database.ownerUrl)
  await host.open()
  const received: string[] = []
  const smtp = await startSmtp({
    async onData(stream, { envelope }, done) {
      for await (const _ of stream);
      received.push(...envelope.rcptTo.map(({ address }) => address))
      host.close()
      done()
      setTimeout(host.open, 1500)
    },
  })
  const url = new URL(database.ownerUrl)
  const databaseUrl = `postgres://${url.username}:${url.password}@127.0.0.1:${host.port}${url.pathname}`
  const app = await startApp(t, { config: { databaseUrl, smtpUrl: smtp.url }, worker: true })
  t.after(smtp.stop)
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const session = await calls.openPreparedSession('human')
  await expectOk(calls.storeReviewer(session))
  await until(async () => {
    const { rows } = await app.context.db.pool.query('select status from mails').catch(() => ({ rows: [] }))
    return rows[0]?.status === 'sent'
  })
  assert.deepEqual(received, ['ravi.menon@metro.example'])
})

/** Creates a TCP port at which the database can be reached while it is open. */
async function createDatabaseHost(t: Cleanup, ownerUrl: string) {
  const target = new pg.Client({ connectionString: ownerUrl })
  const address = target.host.startsWith('/')
    ? { path: `${target.host}/.s.PGSQL.${target.port}` }
    : { host: target.host, port: target.port }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const upstream = connect(address)
    for (const end of [socket, upstream]) sockets.add(end.on('error', () => {}))
    socket.pipe(upstream).pipe(socket)
    socket.on('close', () => upstream.destroy())
    upstream.on('close', () => socket.destroy())
  })
  const port = await findFreePort()
  const host = {
    port,
    async open() {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  t.after(host.close)
  return host
}

test('a pooler in transaction mode is refused at the start', async (t) => {
  const { context } = await startApp(t)
  const poolerUrl = await startTransactionPooler(t, context.config.databaseUrl!)
  const deployment = await createDeployment(t, { embedded: true })
  const masterKey = context.config.masterKey!.toString('base64')
  Object.assign(deployment.env, { DATABASE_URL: poolerUrl, ADMIN_API_KEY: context.adminKey, MASTER_KEY: masterKey })
  await assert.rejects(deployment.serve(), /exited with 1:\n.*pooler in transaction mode.*set pool_mode = session/s)
  const { stdout, code } = await deployment.cli('doctor')
  assert.equal(code, 1)
  assert.match(stdout, /✗ database .*pooler in transaction mode/)
})

test('a warning names processes that can open more connections than the database accepts', async (t) => {
  const { context } = await startApp(t)
  const [output, env] = [[] as string[], { DATABASE_POOL_SIZE: '400', LOG_LEVEL: 'warn' }]
  const { child } = await startServerProcess(t, context.config, env, (text) => void output.push(text))
  child.stdout!.on('data', (chunk: Buffer) => void output.push(chunk.toString()))
  const { rows } = await context.db.pool.query('select max_connections from processes')
  assert.deepEqual(rows, [{ max_connections: 410 }])
  const deployment = await createDeployment(t, { embedded: true })
  const { databaseUrl, databaseOwnerUrl, masterKey } = context.config
  Object.assign(deployment.env, {
    DATABASE_URL: databaseUrl,
    ...(databaseOwnerUrl ? { DATABASE_OWNER_URL: databaseOwnerUrl } : {}),
    ADMIN_API_KEY: context.adminKey,
    MASTER_KEY: masterKey!.toString('base64'),
  })
  assert.match((await deployment.cli('doctor')).stdout, /! connections .*1 processes can open 410 connections/)
  child.kill('SIGKILL')
})
