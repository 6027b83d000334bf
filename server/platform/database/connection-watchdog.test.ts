import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { pino } from 'pino'
import { getPostgresUrl } from '../../../test/support/app.ts'
import { until } from '../../../test/support/until.ts'
import { openDatabase } from './database.ts'
import { openListener } from './listener.ts'

/** Connects to the database through a TCP proxy that can be frozen: it then forwards nothing and closes nothing. */
async function startProxy(t: TestContext, stalledAfterMs = 200) {
  const databaseConfig = new pg.Client({ connectionString: getPostgresUrl() })
  const target = databaseConfig.host.startsWith('/')
    ? { path: `${databaseConfig.host}/.s.PGSQL.${databaseConfig.port}` }
    : { host: databaseConfig.host, port: databaseConfig.port }
  const sockets: Socket[] = []
  let frozen = false
  /** Numbers of the connections, in the order in which they are opened, that are frozen. */
  const frozenConnections = new Set<number>()
  let connectionCount = 0
  const server = createServer((client) => {
    const number = ++connectionCount
    const database = connect(target)
    sockets.push(client, database)
    for (const [from, into] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on('data', (bytes) => frozen || frozenConnections.has(number) || into.write(bytes))
      from.on('close', () => into.destroy())
      from.on('error', () => {})
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    ...(databaseConfig.user ? { user: databaseConfig.user } : {}),
    ...(databaseConfig.password ? { password: String(databaseConfig.password) } : {}),
    ...(databaseConfig.database ? { database: databaseConfig.database } : {}),
  }
  const db = openDatabase({ connection, name: 'test', onError: () => {}, stalledAfterMs })
  t.after(async () => {
    frozen = false
    for (const socket of sockets) socket.destroy()
    server.close()
    await db.close()
  })
  return {
    db,
    connection,
    setFrozen: (value: boolean) => (frozen = value),
    freezeConnections(...numbers: number[]) {
      for (const number of numbers) frozenConnections.add(number)
    },
    countConnections: () => connectionCount,
    stopAccepting: () => server.close(),
  }
}

test('queries to a frozen database fail, and later queries succeed once it responds again', async (t) => {
  const { db, setFrozen } = await startProxy(t)
  await Promise.all([sql`select 1`.execute(db.queries), sql`select pg_sleep(0.01)`.execute(db.queries)])
  await assert.rejects(
    db.transaction(async (tx) => {
      await sql`select 1`.execute(tx)
      setFrozen(true)
      await Promise.all([sql`select 1`.execute(tx), sql`select 1`.execute(db.queries)])
    }),
    /Connection terminated|not queryable/,
  )
  setFrozen(false)
  const { rows } = await sql`select 2 as two`.execute(db.queries)
  assert.deepEqual(rows, [{ two: 2 }])
})

test('queries fail when the probe cannot connect', async (t) => {
  const { db, setFrozen, stopAccepting } = await startProxy(t)
  await sql`select 1`.execute(db.queries)
  setFrozen(true)
  stopAccepting()
  await assert.rejects(sql`select 1`.execute(db.queries), /Connection terminated/)
})

test('a connection that was opened after the start of the probe is not destroyed', async (t) => {
  const { db, freezeConnections, countConnections } = await startProxy(t, 600)
  await sql`select 1`.execute(db.queries)
  freezeConnections(1, 2) // that of the stalled query, and that of the probe
  const stalledQuery = assert.rejects(sql`select 1`.execute(db.queries), /Connection terminated/)
  await until(() => countConnections() === 2)
  const readProcessId = async () =>
    (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db.queries)).rows[0]!.pid
  const processId = await readProcessId()
  await stalledQuery
  assert.equal(await readProcessId(), processId)
})

test('a listener whose connection is dead reconnects', async (t) => {
  const { connection, setFrozen } = await startProxy(t)
  const listener = await openListener(connection, pino({ level: 'silent' }), 200)
  t.after(() => listener.close())
  let notified = 0
  await listener.on('watchdog_test', () => notified++)
  setFrozen(true)
  await pause(500)
  setFrozen(false)
  await until(() => notified > 0)
})

test('a slow query is not interrupted while the database responds', async (t) => {
  const { db } = await startProxy(t)
  const { rows } = await sql`select pg_sleep(1.2)::text, 1 as one`.execute(db.queries)
  assert.equal((rows[0] as { one: number }).one, 1)
})
