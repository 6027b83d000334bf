import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { redisSkipReason, startRedis } from '../../../test/limits/private-redis.ts'
import { cloneDatabase, startApp } from '../../../test/support/app.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/until.ts'
import { DAY } from '../../platform/clock.ts'
import { setKeyLimits } from '../key-limits.ts'

test('daily limits survive a restart of Redis, in all processes', { skip: redisSkipReason() }, async (t) => {
  await using redis = await startRedis()
  const { url, drop } = await cloneDatabase()
  const clock = new TestClock()
  const config = { databaseUrl: url, redisUrl: redis.url, masterKey: Buffer.alloc(32, 7) }
  const firstApp = await startApp(t, { clock, config })
  const { key } = await firstApp.fixtures.createOrg()
  await firstApp.context.db.transaction((tx) =>
    setKeyLimits(tx, key.keyId, { bucket: 'skillRequests', rates: { day: 3 } }),
  )
  await firstApp.context.keyring.refresh()
  const secondApp = await startApp(t, { clock, config })
  let requestNumber = 0
  const send = async (app: typeof firstApp) => {
    const { status, body, headers } = await app
      .as(key)
      .post('/skill-requests', { name: `Kite making ${requestNumber++}` })
    return { status, code: body.error?.code, message: body.error?.message, retryAfter: headers.get('retry-after') }
  }
  assert.deepEqual(
    [(await send(firstApp)).status, (await send(firstApp)).status, (await send(secondApp)).status],
    [201, 201, 201],
  )
  const countStored = async () => {
    const { rows } = await sql<{ count: number }>`
      select (value ->> 1)::int as count from limit_counters where key_id = ${key.keyId} and name = 'day:skillRequests'`.execute(
      firstApp.context.db.queries,
    )
    return rows[0]?.count
  }
  await until(async () => (await countStored()) === 3)

  await redis.kill('SIGKILL')
  await redis.start()
  for (const app of [firstApp, secondApp]) {
    // The totals of the other process are read when Redis responds again.
    const rejected = await until(async () => {
      const response = await send(app)
      return response.status === 429 && response
    })
    assert.equal(rejected.code, 'RATE_LIMITED')
    assert.match(rejected.message, /day/)
    assert.ok(Number(rejected.retryAfter) > 60)
  }
  assert.ok(requestNumber <= 8, `${requestNumber} requests were sent until both processes rejected them`)

  const startedLater = await startApp(t, { clock, config })
  t.after(drop)
  assert.equal((await send(startedLater)).status, 429)
  clock.advance(DAY)
  assert.equal((await send(startedLater)).status, 201)
})
