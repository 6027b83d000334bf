import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import pg from 'pg'
import { getPostgresUrl } from '../../../test/support/app.ts'
import { until } from '../../../test/support/until.ts'
import { DatabaseClient } from './database-client.ts'
import { ReadOnlyDatabaseError } from './read-only.ts'

test('a connection to a read-only database is refused, and closed', async (t) => {
  const name = `read-only test ${process.pid}`
  const client = new DatabaseClient({
    connectionString: getPostgresUrl(),
    application_name: name,
    options: '-c default_transaction_read_only=on',
  })
  const observer = new pg.Client({ connectionString: getPostgresUrl() })
  await observer.connect()
  t.after(() => observer.end())
  const isOpen = async () =>
    (await observer.query('select 1 from pg_stat_activity where application_name = $1', [name])).rows.length > 0

  await assert.rejects(client.connect(), ReadOnlyDatabaseError)
  await until(async () => !(await isOpen()))
})

test('a connection that gets no response to its first statement is closed', async (t) => {
  const AUTHENTICATION_OK = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0])
  const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
  let socket: Socket | undefined
  const server = createServer((connected) => {
    socket = connected
    connected.on('error', () => {})
    connected.once('data', () => connected.write(Buffer.concat([AUTHENTICATION_OK, READY_FOR_QUERY])))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const client = new DatabaseClient({ host: '127.0.0.1', port, user: 'test', connectionTimeoutMillis: 300 })

  await assert.rejects(client.connect(), { message: 'no response within 300 ms' })
  await until(() => socket!.closed)
})
