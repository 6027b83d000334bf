import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cloneDatabase, startApp, type TestApp } from '../../test/support/app.ts'
import { type Cleanup, withCleanup } from '../../test/support/cleanup.ts'
import { TestClock } from '../../test/support/clock.ts'
import { addSampleResource, createSampleTable } from '../../test/support/sample-resource.ts'
import { until } from '../../test/support/until.ts'
import { MINUTE, SECOND } from '../platform/clock.ts'
import { setKeyLimits } from './key-limits.ts'
import { cooldownMessage } from './limits/messages.ts'
import { combineLimits, limitsFor } from './limits/table.ts'

async function startSampleApp(t: TestContext, clock = new TestClock()) {
  const app = await startApp(t, { clock, extend: (server, context) => addSampleResource(server, context) })
  await createSampleTable(app.context)
  const { orgId, key } = await app.fixtures.createOrg()
  return { ...app, orgId, key }
}

test('a burst of exactly the maximum size is allowed', async (t) => {
  const { as, key } = await startSampleApp(t)
  const statuses = await Promise.all(
    Array.from({ length: 200 }, () =>
      as(key)
        .get('/samples')
        .then(({ status }) => status),
    ),
  )
  assert.equal(statuses.filter((status) => status === 200).length, 40)
  assert.equal(statuses.filter((status) => status === 429).length, 160)
})

test('a rejected call succeeds after the time in Retry-After', async (t) => {
  const { as, fixtures, orgId, clock } = await startSampleApp(t)
  const key = await fixtures.createPartnerKey(orgId, { mode: 'test' }) // reads: 2 per second, burst 4
  for (let call = 0; call < 4; call++) assert.equal((await as(key).get('/samples')).status, 200)
  const rejectedResponse = await as(key).get('/samples')
  assert.equal(rejectedResponse.status, 429)
  assert.equal(rejectedResponse.body.error.code, 'RATE_LIMITED')
  assert.equal(rejectedResponse.headers.get('retry-after'), '1')
  assert.equal(rejectedResponse.headers.get('ratelimit-limit'), '120')
  assert.equal(rejectedResponse.headers.get('ratelimit-remaining'), '116')
  clock.advance(499)
  assert.equal((await as(key).get('/samples')).status, 429)
  clock.advance(1)
  assert.equal((await as(key).get('/samples')).status, 200)
})

const TEST_KEY_NOTICE =
  ' TEST keys have one tenth of the limits of LIVE keys; for automated tests, ask the operator to run `attestry key limits KEY --preset ci`.'

test('the error message has the limit, its bucket and when to retry', async (t) => {
  const { as, fixtures, clock, context } = await startSampleApp(t)
  clock.set('2026-03-11T06:30:42.000Z')
  type LimitOverrides = Parameters<typeof setKeyLimits>[2] & { rates?: unknown }
  const messageAfter = async (change: LimitOverrides | undefined, calls: number, onBehalfOf?: string) => {
    const { orgId } = await fixtures.createOrg() // the keys of one organisation share limits
    const key = await fixtures.createPartnerKey(orgId, { mode: 'test' })
    if (change) await context.db.transaction((tx) => setKeyLimits(tx, key.keyId, change))
    await context.keyring.refresh()
    for (let call = 0; call < calls; call++) await as(key).post('/samples', { name: 'x' }, { onBehalfOf })
    const { body } = await as(key).post('/samples', { name: 'x' }, { onBehalfOf })
    assert.equal(body.error.code, 'RATE_LIMITED')
    assert.ok(body.error.message.endsWith(TEST_KEY_NOTICE), body.error.message)
    return body.error.message.slice(0, -TEST_KEY_NOTICE.length)
  }
  assert.equal(
    await messageAfter(undefined, 2),
    'Rate limit exceeded: mandateWrites allows 1 call per second (burst 2) for this key. Try again in 1 second.',
  )
  assert.equal(
    await messageAfter({ bucket: 'mandateWrites', rates: { rate: 0.2, burst: 2 } }, 2),
    'Rate limit exceeded: mandateWrites allows 1 call every 5 seconds (burst 2) for this key. Try again in 5 seconds.',
  )
  assert.equal(
    await messageAfter({ bucket: 'mandateWrites', rates: { minute: 2 } }, 2),
    'Rate limit exceeded: mandateWrites allows 2 calls per minute for this key. Try again in 18 seconds.',
  )
  assert.equal(
    await messageAfter({ bucket: 'mandateWrites', rates: { day: 1 } }, 1),
    'Rate limit exceeded: mandateWrites allows 1 call per day for this key. Try again in 12 hours, at midnight IST.',
  )
  assert.equal(
    await messageAfter({ bucket: 'key', rates: { minute: 1 } }, 1),
    'Rate limit exceeded: key allows 1 call per minute for all calls of this key together. Try again in 18 seconds.',
  )
  assert.equal(
    await messageAfter(undefined, 1, 'asha'),
    'Rate limit exceeded: recruiter allows 1 call every 2 seconds (burst 1) for each recruiter (x-on-behalf-of) of this key. Try again in 2 seconds.',
  )
})

test('the minute window is aligned to the clock minute', async (t) => {
  const { as, fixtures, orgId, clock, context } = await startSampleApp(t)
  clock.set('2026-03-11T06:30:42.000Z')
  const key = await fixtures.createPartnerKey(orgId)
  await context.db.transaction((tx) => setKeyLimits(tx, key.keyId, { bucket: 'reads', rates: { minute: 3 } }))
  await context.keyring.refresh()
  for (let call = 0; call < 3; call++) assert.equal((await as(key).get('/samples')).status, 200)
  const rejectedResponse = await as(key).get('/samples')
  assert.equal(rejectedResponse.headers.get('retry-after'), '18')
  assert.equal(rejectedResponse.headers.get('ratelimit-reset'), '18')
  assert.equal(rejectedResponse.headers.get('ratelimit-remaining'), '0')
  clock.advance(18 * SECOND)
  assert.equal((await as(key).get('/samples')).status, 200)
})

test('each recruiter has a bucket in addition to the buckets of the key', async (t) => {
  const { as, key } = await startSampleApp(t)
  const callStatuses = (onBehalfOf: string) =>
    Promise.all(
      Array.from({ length: 8 }, () =>
        as(key)
          .get('/samples', { onBehalfOf })
          .then(({ status }) => status),
      ),
    )
  const countAllowed = (statuses: number[]) => statuses.filter((status) => status === 200).length
  assert.equal(countAllowed(await callStatuses('asha')), 5)
  assert.equal(countAllowed(await callStatuses('vikram')), 5)
  const otherStatuses = await Promise.all(
    Array.from({ length: 40 }, () =>
      as(key)
        .get('/samples')
        .then(({ status }) => status),
    ),
  )
  assert.equal(countAllowed(otherStatuses), 30, 'a call rejected by one bucket is charged to none')
})

test('an exceeded daily limit returns RATE_LIMITED until midnight in India', async (t) => {
  const { as, fixtures, orgId, clock, context } = await startSampleApp(t)
  clock.set('2026-03-11T18:29:00.000Z') // 23:59 in India
  const key = await fixtures.createPartnerKey(orgId)
  await context.db.transaction((tx) => setKeyLimits(tx, key.keyId, { bucket: 'mandateWrites', rates: { day: 2 } }))
  await context.keyring.refresh()
  for (let call = 0; call < 2; call++) assert.equal((await as(key).post('/samples', { name: 'x' })).status, 201)
  const rejectedResponse = await as(key).post('/samples', { name: 'x' })
  assert.equal(rejectedResponse.body.error.code, 'RATE_LIMITED')
  assert.equal(rejectedResponse.headers.get('retry-after'), '60')
  clock.advance(60 * SECOND)
  assert.equal((await as(key).post('/samples', { name: 'x' })).status, 201)
})

test('the 100th rejection within a minute starts a cooldown, and the next cooldown is twice as long', async (t) => {
  const { as, fixtures, orgId, clock } = await startSampleApp(t)
  const key = await fixtures.createPartnerKey(orgId, { mode: 'test' })
  const provokeHundredthRejection = async () => {
    let last: Awaited<ReturnType<ReturnType<typeof as>['get']>> | undefined
    for (let rejected = 0; rejected < 100; ) {
      const response = await as(key).get('/samples')
      if (response.status !== 429) continue
      assert.equal(response.body.error.code, 'RATE_LIMITED')
      rejected++
      last = response
    }
    return last!
  }
  const hundredthRejection = await provokeHundredthRejection()
  assert.equal(
    hundredthRejection.body.error.message,
    `Rate limit exceeded: reads allows 2 calls per second (burst 4) for this key. This was the 100th rejected call within a minute, so the whole key is now in cooldown. Try again in 60 seconds.${TEST_KEY_NOTICE}`,
  )
  const cooldownResponse = await as(key).get('/samples')
  const cooldownEnd = new Date(clock.now() + 60 * SECOND).toISOString().slice(11, 19)
  assert.equal(
    cooldownResponse.body.error.message,
    `This key is in cooldown until ${cooldownEnd} UTC (after 100 rejected calls within a minute, or too many browse pages within an hour). Try again in 60 seconds; calling earlier does not extend it.`,
  )
  assert.equal(cooldownResponse.status, 429)
  assert.equal(cooldownResponse.body.error.code, 'COOLDOWN')
  assert.equal(cooldownResponse.headers.get('retry-after'), '60')
  assert.notEqual(cooldownResponse.headers.get('ratelimit-limit'), null)
  clock.advance(60 * SECOND)
  assert.equal((await as(key).get('/samples')).status, 200)
  await provokeHundredthRejection()
  assert.equal((await as(key).get('/samples')).headers.get('retry-after'), '120')
})

test('the error message of a cooldown of all keys of an organisation has its own threshold', () => {
  const own = limitsFor('live')
  const limits = { ...own, shared: { id: 'ORG_1 live', limits: combineLimits([own], 3) } }
  assert.equal(
    cooldownMessage(limits, true, 60, Date.UTC(2026, 2, 11, 6, 30)),
    'All keys of your organisation are in cooldown until 06:31:00 UTC (after 300 rejected calls within a minute, or too many browse pages within an hour). Try again in 60 seconds; calling earlier does not extend it.',
  )
})

test('single limits of a class can be raised for a key', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  await context.db.transaction((tx) => setKeyLimits(tx, key.keyId, { bucket: 'reads', rates: { burst: 60 } }))
  await context.keyring.refresh()
  const statuses = await Promise.all(
    Array.from({ length: 100 }, () =>
      as(key)
        .get('/samples')
        .then(({ status }) => status),
    ),
  )
  assert.equal(statuses.filter((status) => status === 200).length, 60)
  assert.equal((await as(key).get('/samples')).headers.get('ratelimit-limit'), '1200', 'other limits do not change')
})

test('a clock set back neither refills buckets nor blocks callers', async (t) => {
  const { as, fixtures, orgId, clock } = await startSampleApp(t)
  const key = await fixtures.createPartnerKey(orgId, { mode: 'test' })
  for (let call = 0; call < 4; call++) await as(key).get('/samples')
  clock.advance(-30 * SECOND)
  assert.equal((await as(key).get('/samples')).status, 429)
  clock.advance(SECOND)
  assert.equal((await as(key).get('/samples')).status, 200)
})

test('counters of windows of an hour and longer survive a restart of the server', async (t) => {
  const { url, ownerUrl, drop } = await cloneDatabase()
  t.after(drop)
  const clock = new TestClock()
  const masterKey = Buffer.alloc(32, 7)
  const openApp = (cleanup: Cleanup) =>
    startApp(cleanup, {
      clock,
      config: { databaseUrl: url, databaseOwnerUrl: ownerUrl, masterKey },
      extend: (server, context) => addSampleResource(server, context),
    })
  const key = await withCleanup(async (cleanup) => {
    const { fixtures, as, context } = await openApp(cleanup)
    await createSampleTable(context)
    const { key } = await fixtures.createOrg()
    await context.db.transaction((tx) => setKeyLimits(tx, key.keyId, { bucket: 'mandateWrites', rates: { day: 3 } }))
    await context.keyring.refresh()
    for (let call = 0; call < 2; call++) assert.equal((await as(key).post('/samples', { name: 'x' })).status, 201)
    return key
  })
  clock.advance(MINUTE)
  const { as } = await openApp(t)
  assert.equal((await as(key).post('/samples', { name: 'x' })).status, 201)
  assert.equal((await as(key).post('/samples', { name: 'x' })).status, 429)
})

test("several processes without Redis do not overwrite each other's counts", async (t) => {
  const { url, ownerUrl, drop } = await cloneDatabase()
  t.after(drop)
  const clock = new TestClock()
  const masterKey = Buffer.alloc(32, 7)
  const openApp = (cleanup: Cleanup) =>
    startApp(cleanup, {
      clock,
      config: { databaseUrl: url, databaseOwnerUrl: ownerUrl, masterKey },
      extend: (server, context) => addSampleResource(server, context),
    })
  const { key, seenSkillCount } = await withCleanup(async (inner) => {
    const [one, two] = [await openApp(inner), await openApp(inner)]
    await createSampleTable(one.context)
    const { key } = await one.fixtures.createOrg()
    await one.context.db.transaction(async (tx) => {
      await setKeyLimits(tx, key.keyId, { bucket: 'mandateWrites', rates: { day: 6 } })
    })
    for (const { context } of [one, two]) await context.keyring.refresh()
    for (const app of [one, two, one, two, one]) {
      assert.equal((await app.as(key).post('/samples', { name: 'x' })).status, 201)
      await until(async () => (await storedCountOf(app, 'day:mandateWrites')) > 0)
    }
    const seenSkillIds = new Set<string>()
    for (const [app, word] of [
      [one, 'welding'],
      [two, 'wiring'],
      [one, 'plumbing'],
    ] as const) {
      const { data } = (await app.as(key).get(`/skills/search?limit=50&q=${word}`)).body
      for (const { skill_id } of data.items) seenSkillIds.add(skill_id)
    }
    return { key, seenSkillCount: seenSkillIds.size }
  })
  clock.advance(MINUTE)
  const app = await openApp(t)
  assert.equal(await storedCountOf(app, 'day:mandateWrites'), 5, 'the next process restores the sum')
  assert.equal((await app.as(key).post('/samples', { name: 'x' })).status, 201)
  assert.equal((await app.as(key).post('/samples', { name: 'x' })).status, 429)
  const { rows } = await app.context.db.pool.query(
    `select distinct jsonb_array_elements(value) as skill from limit_counters where name like 'skills:%'`,
  )
  assert.ok(seenSkillCount > 50)
  assert.equal(rows.length, seenSkillCount)

  async function storedCountOf({ context }: TestApp, name: string): Promise<number> {
    const { rows } = await context.db.pool.query('select value from limit_counters where name = $1', [name])
    return rows[0]?.value[1] ?? 0
  }
})
