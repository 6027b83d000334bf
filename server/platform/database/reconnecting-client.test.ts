import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { getPostgresUrl } from '../../../test/support/app.ts'
import { until } from '../../../test/support/until.ts'
import { createLog } from '../log.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import { openReconnectingClient } from './reconnecting-client.ts'

function openTestClient(t: TestContext, connection: ConnectionSettings = { connectionString: getPostgresUrl() }) {
  const calls: string[] = []
  const loggedMessages: string[] = []
  const client = openReconnectingClient({
    connection,
    name: 'test',
    connectTimeoutMs: 5000,
    reconnectDelayMs: 10,
    log: createLog('info', { write: (line) => void loggedMessages.push(line) }),
    onNotification: (channel, payload) => calls.push(`${channel} ${payload}`),
    async onConnected(connected) {
      await connected.query('listen reconnecting_client_test')
      calls.push('connected')
    },
    onLost: () => calls.push('lost'),
  })
  t.after(() => client.close())
  return { client, calls, loggedMessages }
}

async function runQuery(text: string) {
  const admin = new pg.Client({ connectionString: getPostgresUrl() })
  await admin.connect()
  await admin.query(text).finally(() => admin.end())
}

test('a lost connection is reopened, and onConnected is called again', async (t) => {
  const { client, calls, loggedMessages } = openTestClient(t)
  await client.ready
  const firstConnection = client.current!
  assert.deepEqual(calls, ['connected'])
  await runQuery(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'attestry test ${process.pid}'`,
  )
  await until(() => calls.length === 3)
  assert.deepEqual(calls, ['connected', 'lost', 'connected'])
  assert.notEqual(client.current, firstConnection)
  assert.match(loggedMessages.join(''), /database connection lost, reconnecting/)
  await runQuery(`notify reconnecting_client_test, 'hello'`)
  await until(() => calls.includes('reconnecting_client_test hello'))
})

test('a closed client does not reconnect and logs nothing', async (t) => {
  const { client, calls, loggedMessages } = openTestClient(t)
  await client.close()
  assert.deepEqual(loggedMessages, [])
  assert.ok(!calls.includes('lost'))
})

test('connecting is repeated until it succeeds', async (t) => {
  const connection: ConnectionSettings = { host: '/nonexistent', port: 1 }
  const { client, loggedMessages } = openTestClient(t, connection)
  await client.ready
  assert.equal(client.current, undefined)
  await until(() => loggedMessages.length > 2)
})
