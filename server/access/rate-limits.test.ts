import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { cloneDatabase, startApp, type TestApp, type TestKey } from '../../test/support/app.ts'
import { TestClock } from '../../test/support/clock.ts'
import { addThings, createThingsTable } from '../../test/support/sample-resource.ts'
import { until } from '../../test/support/until.ts'
import { MINUTE, SECOND } from '../platform/clock.ts'
import { setLimits } from './key-limits.ts'

async function startThings(t: TestContext, clock = new TestClock()) {
  const app = await startApp(t, { clock, extend: (server, context) => addThings(server, context) })
  await createThingsTable(app.context)
  const { orgId, key } = await app.given.org()
  return { ...app, orgId, key }
}

test('a burst passes exactly what the table allows', async (t) => {
  const { as, key } = await startThings(t)
  const statuses = await Promise.all(
    Array.from({ length: 200 }, () =>
      as(key)
        .get('/things')
        .then(({ status }) => status),
    ),
  )
  assert.equal(statuses.filter((status) => status === 200).length, 40)
  assert.equal(statuses.filter((status) => status === 429).length, 160)
})

test('refused calls say when they could pass, and they do', async (t) => {
  const { as, given, orgId, clock } = await startThings(t)
  const key = await given.key(orgId, { mode: 'test' }) // reads: 2 a second, burst 4
  for (let call = 0; call < 4; call++) assert.equal((await as(key).get('/things')).status, 200)
  const refused = await as(key).get('/things')
  assert.equal(refused.status, 429)
  assert.equal(refused.body.error.code, 'RATE_LIMITED')
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal(refused.headers.get('ratelimit-limit'), '120')
  assert.equal(refused.headers.get('ratelimit-remaining'), '116')
  clock.advance(499)
  assert.equal((await as(key).get('/things')).status, 429)
  clock.advance(1)
  assert.equal((await as(key).get('/things')).status, 200)
})

test('a refusal says which limit it was, how much that allows, and when the call could pass', async (t) => {
  const { as, given, orgId, clock, context } = await startThings(t)
  clock.set('2026-03-11T06:30:42.000Z')
  type Rates = Parameters<typeof setLimits>[2] & { rates?: unknown }
  const told = async (change: Rates | undefined, calls: number, onBehalfOf?: string) => {
    const key = await given.key(orgId, { mode: 'test' })
    if (change) await context.db.transaction((tx) => setLimits(tx, key.keyId, change))
    await context.keyring.refresh()
    for (let call = 0; call < calls; call++) await as(key).post('/things', { name: 'x' }, { onBehalfOf })
    const { body } = await as(key).post('/things', { name: 'x' }, { onBehalfOf })
    assert.equal(body.error.code, 'RATE_LIMITED')
    return body.error.message
  }
  assert.equal(
    await told(undefined, 2),
    'Too many calls: mandateWrites allows 1 a second (burst 2) for this key. Try again in 1 second.',
  )
  assert.equal(
    await told({ bucket: 'mandateWrites', rates: { rate: 0.2, burst: 2 } }, 2),
    'Too many calls: mandateWrites allows 1 in 5 seconds (burst 2) for this key. Try again in 5 seconds.',
  )
  assert.equal(
    await told({ bucket: 'mandateWrites', rates: { minute: 2 } }, 2),
    'Too many calls: mandateWrites allows 2 a minute for this key. Try again in 18 seconds.',
  )
  assert.equal(
    await told({ bucket: 'mandateWrites', rates: { day: 1 } }, 1),
    'Too many calls: mandateWrites allows 1 a day for this key. Try again in 43158 seconds, at midnight IST.',
  )
  assert.equal(
    await told({ bucket: 'key', rates: { minute: 1 } }, 1),
    'Too many calls: key allows 1 a minute for all calls of this key together. Try again in 18 seconds.',
  )
  assert.equal(
    await told(undefined, 1, 'asha'),
    'Too many calls: recruiter allows 1 in 2 seconds (burst 1) for each recruiter (x-on-behalf-of) of this key. Try again in 2 seconds.',
  )
})

test('the minute window is aligned to the clock minute', async (t) => {
  const { as, given, orgId, clock, context } = await startThings(t)
  clock.set('2026-03-11T06:30:42.000Z')
  const key = await given.key(orgId)
  await context.db.transaction((tx) => setLimits(tx, key.keyId, { bucket: 'reads', rates: { minute: 3 } }))
  await context.keyring.refresh()
  for (let call = 0; call < 3; call++) assert.equal((await as(key).get('/things')).status, 200)
  const refused = await as(key).get('/things')
  assert.equal(refused.headers.get('retry-after'), '18')
  assert.equal(refused.headers.get('ratelimit-reset'), '18')
  assert.equal(refused.headers.get('ratelimit-remaining'), '0')
  clock.advance(18 * SECOND)
  assert.equal((await as(key).get('/things')).status, 200)
})

test('each recruiter has a bucket of its own, beside those of the key', async (t) => {
  const { as, key } = await startThings(t)
  const calls = (onBehalfOf: string) =>
    Promise.all(
      Array.from({ length: 8 }, () =>
        as(key)
          .get('/things', { onBehalfOf })
          .then(({ status }) => status),
      ),
    )
  const passed = (statuses: number[]) => statuses.filter((status) => status === 200).length
  assert.equal(passed(await calls('asha')), 5)
  assert.equal(passed(await calls('vikram')), 5)
  const rest = await Promise.all(
    Array.from({ length: 40 }, () =>
      as(key)
        .get('/things')
        .then(({ status }) => status),
    ),
  )
  assert.equal(passed(rest), 30, 'a call refused by one bucket charges none')
})

test('a used-up day answers RATE_LIMITED until midnight in India', async (t) => {
  const { as, given, orgId, clock, context } = await startThings(t)
  clock.set('2026-03-11T18:29:00.000Z') // 23:59 in India
  const key = await given.key(orgId)
  await context.db.transaction((tx) => setLimits(tx, key.keyId, { bucket: 'mandateWrites', rates: { day: 2 } }))
  await context.keyring.refresh()
  for (let call = 0; call < 2; call++) assert.equal((await as(key).post('/things', { name: 'x' })).status, 201)
  const refused = await as(key).post('/things', { name: 'x' })
  assert.equal(refused.body.error.code, 'RATE_LIMITED')
  assert.equal(refused.headers.get('retry-after'), '60')
  clock.advance(60 * SECOND)
  assert.equal((await as(key).post('/things', { name: 'x' })).status, 201)
})

test('the hundredth refusal within a minute starts a cooldown; repeats double it', async (t) => {
  const { as, given, orgId, clock } = await startThings(t)
  const key = await given.key(orgId, { mode: 'test' })
  const provoke = async () => {
    let last: Awaited<ReturnType<ReturnType<typeof as>['get']>> | undefined
    for (let refused = 0; refused < 100; ) {
      const answer = await as(key).get('/things')
      if (answer.status !== 429) continue
      assert.equal(answer.body.error.code, 'RATE_LIMITED')
      refused++
      last = answer
    }
    return last!
  }
  const hundredth = await provoke()
  assert.equal(
    hundredth.body.error.message,
    'Too many calls: reads allows 2 a second (burst 4) for this key. This was refused call 100 within a minute, so the whole key rests now (cooldown). Try again in 60 seconds.',
  )
  const resting = await as(key).get('/things')
  assert.match(resting.body.error.message, /^This key rests \(cooldown\) .*Try again in 60 seconds;/)
  assert.equal(resting.status, 429)
  assert.equal(resting.body.error.code, 'COOLDOWN')
  assert.equal(resting.headers.get('retry-after'), '60')
  assert.notEqual(resting.headers.get('ratelimit-limit'), null)
  clock.advance(60 * SECOND)
  assert.equal((await as(key).get('/things')).status, 200)
  await provoke()
  assert.equal((await as(key).get('/things')).headers.get('retry-after'), '120')
})

test('limits can be raised for a key, single numbers of a class at a time', async (t) => {
  const { as, key, context } = await startThings(t)
  await context.db.transaction((tx) => setLimits(tx, key.keyId, { bucket: 'reads', rates: { burst: 60 } }))
  await context.keyring.refresh()
  const statuses = await Promise.all(
    Array.from({ length: 100 }, () =>
      as(key)
        .get('/things')
        .then(({ status }) => status),
    ),
  )
  assert.equal(statuses.filter((status) => status === 200).length, 60)
  assert.equal((await as(key).get('/things')).headers.get('ratelimit-limit'), '1200', 'the rest stays as it was')
})

test('a clock that jumps back neither refills nor locks out', async (t) => {
  const { as, given, orgId, clock } = await startThings(t)
  const key = await given.key(orgId, { mode: 'test' })
  for (let call = 0; call < 4; call++) await as(key).get('/things')
  clock.advance(-30 * SECOND)
  assert.equal((await as(key).get('/things')).status, 429)
  clock.advance(SECOND)
  assert.equal((await as(key).get('/things')).status, 200)
})

test('counters of long windows survive a restart of the server', async (t) => {
  const { url, drop } = await cloneDatabase()
  t.after(drop)
  const clock = new TestClock()
  const masterKey = Buffer.alloc(32, 7)
  const open = (inner: TestContext) =>
    startApp(inner, {
      clock,
      config: { databaseUrl: url, masterKey },
      extend: (server, context) => addThings(server, context),
    })
  let key: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['given']['key']>> | undefined
  await t.test('before', async (inner) => {
    const { given, as, context } = await open(inner)
    await createThingsTable(context)
    key = (await given.org()).key
    await context.db.transaction((tx) => setLimits(tx, key!.keyId, { bucket: 'mandateWrites', rates: { day: 3 } }))
    await context.keyring.refresh()
    for (let call = 0; call < 2; call++) assert.equal((await as(key).post('/things', { name: 'x' })).status, 201)
  })
  clock.advance(MINUTE)
  await t.test('after', async (inner) => {
    const { as } = await open(inner)
    assert.equal((await as(key!).post('/things', { name: 'x' })).status, 201)
    assert.equal((await as(key!).post('/things', { name: 'x' })).status, 429)
  })
})

test('several processes without Redis do not overwrite what another has counted', async (t) => {
  const { url, drop } = await cloneDatabase()
  t.after(drop)
  const clock = new TestClock()
  const masterKey = Buffer.alloc(32, 7)
  const open = (inner: TestContext) =>
    startApp(inner, {
      clock,
      config: { databaseUrl: url, masterKey },
      extend: (server, context) => addThings(server, context),
    })
  const skillsSeen = (names: string[]) => names.map((name) => `/skills/search?limit=50&q=${name}`)
  let key: TestKey | undefined
  let together = 0
  await t.test('two side by side', async (inner) => {
    const [one, two] = [await open(inner), await open(inner)]
    await createThingsTable(one.context)
    key = (await one.given.org()).key
    await one.context.db.transaction(async (tx) => {
      await setLimits(tx, key!.keyId, { bucket: 'mandateWrites', rates: { day: 6 } })
    })
    for (const { context } of [one, two]) await context.keyring.refresh()
    for (const app of [one, two, one, two, one]) {
      assert.equal((await app.as(key).post('/things', { name: 'x' })).status, 201)
      await until(async () => (await countOf(app, 'day:mandateWrites')) > 0)
    }
    const seen = new Set<string>()
    for (const [app, word] of [
      [one, 'welding'],
      [two, 'wiring'],
      [one, 'plumbing'],
    ] as const) {
      for (const path of skillsSeen([word]))
        for (const { skill_id } of (await app.as(key).get(path)).body.data.items) seen.add(skill_id)
    }
    together = seen.size
  })
  clock.advance(MINUTE)
  await t.test('the next one knows of all of it', async (inner) => {
    const app = await open(inner)
    assert.equal(await countOf(app, 'day:mandateWrites'), 5)
    assert.equal((await app.as(key!).post('/things', { name: 'x' })).status, 201)
    assert.equal((await app.as(key!).post('/things', { name: 'x' })).status, 429)
    const { rows } = await app.context.db.pool.query(
      `select distinct jsonb_array_elements(value) as skill from limit_counters where name like 'skills:%'`,
    )
    assert.ok(together > 50)
    assert.equal(rows.length, together)
  })

  async function countOf({ context }: TestApp, name: string): Promise<number> {
    const { rows } = await context.db.pool.query('select value from limit_counters where name = $1', [name])
    return rows[0]?.value[1] ?? 0
  }
})
