import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import type { Config } from '../../server/config.ts'
import { DAY } from '../../server/platform/clock.ts'
import { cloneDatabase } from '../support/app.ts'
import { until } from '../support/until.ts'
import { startServerProcess } from './server-process.ts'

test('a process whose clock is days ahead does not change the day of events', { timeout: 90_000 }, async (t) => {
  const { url, ownerUrl, drop } = await cloneDatabase()
  const client = new pg.Client({ connectionString: ownerUrl })
  await client.connect()
  t.after(async () => {
    await client.end()
    await drop()
  })
  const config = { databaseUrl: url, databaseOwnerUrl: ownerUrl, masterKey: randomBytes(32) } as Config
  const aheadClock = encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${3 * DAY}`)
  const { child } = await startServerProcess(t, config, { NODE_OPTIONS: `--import=data:text/javascript,${aheadClock}` })
  await client.query(`insert into event_outbox (event_id, org_id, mode, type, data, created_at)
    values ('EV_1', 'ORG_1', 'test', 'mandate.ready', '{}', now())`)
  const event = await until(async () => {
    const { rows } = await client.query<{ difference: number }>(
      `select day - (now() at time zone 'UTC')::date as difference from events where event_id = 'EV_1'`,
    )
    return rows[0]
  })
  // At midnight, the day may have changed since the event was sequenced.
  assert.ok(event.difference === 0 || event.difference === -1, `the day differs by ${event.difference}`)
  child.kill('SIGKILL')
})
