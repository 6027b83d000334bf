import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { sign } from '../../sdk/index.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import type { TestKey } from '../../test/support/call.ts'
import { TestClock } from '../../test/support/clock.ts'
import { until } from '../../test/support/until.ts'
import type { OrgScope } from '../access/caller.ts'
import { setKeyLimits } from '../access/key-limits.ts'
import { DAY } from '../platform/clock.ts'
import { dropOldPartitions } from './partitions.ts'
import { recordEvents } from './record.ts'
import type { EventType } from './types.ts'

async function recordTestEvents(
  { context, clock }: TestApp,
  key: TestKey,
  count: number,
  type: EventType = 'mandate.ready',
) {
  return context.db.transaction((tx) =>
    recordEvents(
      tx,
      key,
      clock,
      type,
      Array.from({ length: count }, (_, number) => ({ number, version: 1 })),
    ),
  )
}

test('events are pulled oldest first, page by page', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const ids = await recordTestEvents(app, key, 5)

  const firstPage = await app.as(key).get('/events?limit=3')
  assert.equal(firstPage.status, 200)
  assert.deepEqual(
    firstPage.body.data.items.map((event: any) => event.event_id),
    ids.slice(0, 3),
  )
  assert.deepEqual(firstPage.body.data.items[0], {
    event_id: ids[0],
    type: 'mandate.ready',
    mode: 'live',
    sequence: firstPage.body.data.items[0].sequence,
    created_at: new Date(app.clock.now()).toISOString(),
    data: { number: 0, version: 1 },
    delivery: { acknowledged_at: null, acknowledged_by: null, attempts: 0, last_error: null },
  })
  const secondPage = await app.as(key).get(`/events?limit=3&cursor=${firstPage.body.data.next_cursor}`)
  assert.deepEqual(
    secondPage.body.data.items.map((event: any) => event.event_id),
    ids.slice(3),
  )
  assert.equal(secondPage.body.data.next_cursor, null)
  const laterEvents = await app.as(key).get(`/events?after=${ids[3]}`)
  assert.deepEqual(
    laterEvents.body.data.items.map((event: any) => event.event_id),
    ids.slice(4),
  )
})

test('the list of events can be filtered by type; unknown types are rejected', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  await recordTestEvents(app, key, 1, 'mandate.ready')
  await recordTestEvents(app, key, 1, 'result.failed')
  await recordTestEvents(app, key, 1, 'result.completed')

  const filteredEvents = await app.as(key).get('/events?types=result.completed,result.failed')
  assert.deepEqual(
    filteredEvents.body.data.items.map((event: any) => event.type),
    ['result.failed', 'result.completed'],
  )
  const withUnknownType = await app.as(key).get('/events?types=result.completed,result.lost')
  assert.equal(withUnknownType.status, 400)
  assert.equal(withUnknownType.body.error.details[0].path, 'query.types')
})

test('acknowledging by ID counts known events, returns unknown IDs, and changes nothing when repeated', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const otherOrg = await app.fixtures.createOrg('Another')
  const [foreign] = await recordTestEvents(app, otherOrg.key, 1)
  const ids = await recordTestEvents(app, key, 3)
  const body = { event_ids: [ids[0], ids[2], foreign, 'EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] }

  const ackResponse = await app.as(key).post('/events/ack', body)
  assert.equal(ackResponse.status, 200)
  assert.deepEqual(ackResponse.body.data, { acknowledged: 2, unknown: [foreign, 'EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] })
  const repeatedResponse = await app.as(key).post('/events/ack', body)
  assert.equal(repeatedResponse.body.data.acknowledged, 0)

  const unacknowledgedEvents = await app.as(key).get('/events')
  assert.deepEqual(
    unacknowledgedEvents.body.data.items.map((event: any) => event.event_id),
    [ids[1]],
  )
  const acknowledgedEvents = await app.as(key).get('/events?acknowledged=true')
  assert.deepEqual(
    acknowledgedEvents.body.data.items.map((event: any) => [event.event_id, event.delivery.acknowledged_by]),
    [
      [ids[0], 'pull'],
      [ids[2], 'pull'],
    ],
  )
  const allEvents = await app.as(key).get('/events?acknowledged=all')
  assert.equal(allEvents.body.data.items.length, 3)
  const otherOrgEvents = await app.as(otherOrg.key).get('/events')
  assert.equal(otherOrgEvents.body.data.items.length, 1)
})

test('each consumer acknowledges events separately, by ID or up to an event', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const { key: otherKey } = await app.fixtures.createOrg('Another')
  const ids = await recordTestEvents(app, key, 6)
  const [foreignId] = await recordTestEvents(app, otherKey, 1)
  const list = async (query: string) =>
    (await app.as(key).get(`/events?${query}`)).body.data.items.map((event: any) => event.event_id)
  const acknowledge = async (body: object) => (await app.as(key).post('/events/ack', body)).body.data

  assert.deepEqual(await acknowledge({ event_ids: [ids[1], ids[4], foreignId], consumer: 'crm' }), {
    acknowledged: 2,
    unknown: [foreignId],
  })
  assert.deepEqual(await list('consumer=crm'), [ids[0], ids[2], ids[3], ids[5]])
  assert.deepEqual(await list('consumer=crm&acknowledged=true'), [ids[1], ids[4]])
  assert.deepEqual(await list('consumer=warehouse'), ids)
  assert.deepEqual(await list(''), ids)

  assert.deepEqual(await acknowledge({ up_to: ids[2], consumer: 'crm' }), { acknowledged: 2, unknown: [] })
  assert.deepEqual(await list('consumer=crm'), [ids[3], ids[5]])
  assert.equal((await acknowledge({ up_to: ids[1], consumer: 'crm' })).acknowledged, 0)
  assert.equal((await acknowledge({ event_ids: [ids[0], ids[4]], consumer: 'crm' })).acknowledged, 0)
  const { items } = (await app.as(key).get('/events?consumer=crm&acknowledged=all')).body.data
  assert.deepEqual(
    items.map(({ delivery }: any) => [delivery.acknowledged_by, delivery.acknowledged_at === null]),
    [0, 1, 2, 3, 4, 5].map((index) => (index === 3 || index === 5 ? [null, true] : ['pull', false])),
  )

  // `default` is the name of the consumer without a name.
  assert.equal((await acknowledge({ event_ids: [ids[5]], consumer: 'default' })).acknowledged, 1)
  assert.deepEqual(await list(''), ids.slice(0, 5))
  assert.deepEqual(await list('consumer=crm'), [ids[3], ids[5]])

  // Pages of a consumer continue with its cursor only.
  const page = (await app.as(key).get('/events?consumer=crm&limit=1')).body.data
  assert.deepEqual(await list(`consumer=crm&limit=1&cursor=${page.next_cursor}`), [ids[5]])
  assert.equal((await app.as(key).get(`/events?limit=1&cursor=${page.next_cursor}`)).status, 400)
  assert.equal((await app.as(key).get('/events?consumer=a%20b')).body.error.details[0].path, 'query.consumer')
  assert.equal((await app.as(otherKey).get('/events?consumer=crm')).body.data.items.length, 1)
})

test('an organisation can have 20 consumers per mode', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const [id] = await recordTestEvents(app, key, 1)
  for (let number = 0; number < 20; number++) {
    const { status } = await app.as(key).post('/events/ack', { event_ids: [id], consumer: `c${number}` })
    assert.equal(status, 200)
    app.clock.advance(1000)
  }
  const rejected = await app.as(key).post('/events/ack', { event_ids: [id], consumer: 'c20' })
  assert.equal(rejected.body.error.code, 'LIMIT_EXCEEDED')
  assert.equal((await app.as(key).post('/events/ack', { event_ids: [id], consumer: 'c3' })).status, 200)
})

test('acknowledging up to an event includes all events before it', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const ids = await recordTestEvents(app, key, 4)

  const ackResponse = await app.as(key).post('/events/ack', { up_to: ids[2] })
  assert.deepEqual(ackResponse.body.data, { acknowledged: 3, unknown: [] })
  const unknownIdResponse = await app.as(key).post('/events/ack', { up_to: 'EV_01ARZ3NDEKTSV4RRFFQ69G5FAV' })
  assert.deepEqual(unknownIdResponse.body.data, { acknowledged: 0, unknown: ['EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] })
  for (const body of [
    {},
    { up_to: ids[0], event_ids: ids },
    { event_ids: [] },
    { event_ids: ['x'] },
    { upto: ids[0] },
  ]) {
    assert.equal((await app.as(key).post('/events/ack', body)).status, 400, JSON.stringify(body))
  }
})

test('a long poll returns when an event arrives, and returns nothing after its timeout', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  const endedPolls: string[] = []
  const otherOrg = await app.fixtures.createOrg()
  const longPoll = app.as(key).get('/events?wait=20')
  const expiringLongPoll = app.as(otherOrg.key).get('/events?wait=20')
  void longPoll.then(() => endedPolls.push('with an event'))
  void expiringLongPoll.then(() => endedPolls.push('after its timeout'))
  await pause(100)
  const [id] = await recordTestEvents(app, key, 1)

  const response = await longPoll
  assert.equal(response.body.data.items[0].event_id, id)
  assert.deepEqual(endedPolls, ['with an event'])
  await recordTestEvents(app, otherOrg.key, 1)
  await expiringLongPoll

  const emptyResponse = await app.as(key).get(`/events?wait=1&after=${id}`)
  assert.deepEqual(emptyResponse.body.data, { items: [], next_cursor: null })
  assert.equal((await app.as(key).get('/events?wait=26')).status, 400)
})

test('two hundred waiting callers do not poll the database', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const scope = { orgId, mode: 'live' as const }
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }) // affects only the waits, because the app has already started
  const waits = Array.from({ length: 200 }, () =>
    app.context.events.wait(scope, undefined, 20_000, new AbortController().signal),
  )
  const connectMock = t.mock.method(app.context.db.pool, 'connect')

  for (let elapsedMs = 0; elapsedMs < 19_000; elapsedMs += 1000) {
    t.mock.timers.tick(1000)
    await nextTurn()
  }
  t.mock.timers.reset()
  const connectionCount = connectMock.mock.callCount()
  assert.ok(connectionCount < 40, `${connectionCount} connections were requested while nothing happened`)
  await recordTestEvents(app, { ...scope, keyId: '', secret: '' }, 1)
  await Promise.all(waits)
})

test('an event wakes only callers that wait for its type, organisation and mode', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const { orgId: otherOrgId } = await app.fixtures.createOrg('Another')
  const wokenWaits: string[] = []
  const endOfTest = new AbortController()
  const waitForEvent = (name: string, scope: OrgScope, types?: EventType[]) =>
    app.context.events
      .wait(scope, types, 20_000, endOfTest.signal)
      .then(() => void (endOfTest.signal.aborted || wokenWaits.push(name)))
  const liveScope = { orgId, mode: 'live' as const }
  const waits = [
    waitForEvent('any type', liveScope),
    waitForEvent('that type', liveScope, ['result.failed', 'mandate.ready']),
    waitForEvent('another type', liveScope, ['result.failed']),
    waitForEvent('another mode', { orgId, mode: 'test' }),
    waitForEvent('another organisation', { orgId: otherOrgId, mode: 'live' }),
  ]

  await recordTestEvents(app, { ...liveScope, keyId: '', secret: '' }, 1, 'mandate.ready')
  await Promise.all(waits.slice(0, 2))
  endOfTest.abort()
  await Promise.all(waits)

  assert.deepEqual(wokenWaits, ['any type', 'that type'])
})

test('the open long polls of a key are limited; a client that disconnects frees its slot immediately', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.fixtures.createOrg()
  const otherKey = await app.fixtures.createPartnerKey(orgId)
  const maxPolls = 25
  const rates = { rate: 1000, burst: maxPolls, minute: 10_000 }
  await app.context.db.transaction((tx) => setKeyLimits(tx, key.keyId, { bucket: 'reads', rates }))
  await app.context.keyring.refresh()
  const sendShortPoll = () => {
    app.clock.advance(1000) // refills all tokens
    return app.as(key).get('/events?wait=1')
  }
  const disconnect = await openCall(app, key, '/events?wait=25')
  const longPolls = Array.from({ length: maxPolls - 2 }, () => app.as(key).get('/events?wait=25'))
  await pause(500)
  await until(async () => {
    if (/open long polls/.test((await sendShortPoll()).body.error?.message)) return true
    longPolls.push(app.as(key).get('/events?wait=25'))
    return false
  })

  const rejectedResponse = await sendShortPoll()
  assert.equal(rejectedResponse.status, 429)
  assert.equal(rejectedResponse.body.error.code, 'RATE_LIMITED')
  assert.match(rejectedResponse.body.error.message, /25 open long polls/)
  const retryAfter = Number(rejectedResponse.headers.get('retry-after'))
  assert.ok(retryAfter >= 1 && retryAfter <= 25, String(retryAfter))
  assert.equal((await app.as(key).get('/events')).status, 200, 'a request without wait succeeds')
  longPolls.push(app.as(otherKey).get('/events?wait=25'))

  disconnect()
  // Its slot is free before the 25 s of the long poll are over.
  await until(async () => (await sendShortPoll()).status === 200, 20_000)
  await recordTestEvents(app, key, 1)
  const responses = await Promise.all(longPolls)
  assert.ok(responses.filter(({ status }) => status === 200).length >= maxPolls - 1)
})

/** Sends a request and ignores the response; returns a function that disconnects. */
async function openCall({ url, clock }: TestApp, key: TestKey, path: string): Promise<() => void> {
  const target = `/api/v1/partner${path}`
  const timestamp = Math.floor(clock.now() / 1000)
  const signature = await sign({ secret: key.secret, timestamp, method: 'GET', target })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const headers = { host: 'x', 'x-api-key': key.keyId, 'x-timestamp': timestamp, 'x-signature': signature }
  const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${target} HTTP/1.1\r\n${headerLines.join('')}\r\n`)
  return () => socket.destroy()
}

test('events of the other mode are not visible, and acknowledging requires the scope events:write', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.fixtures.createOrg()
  const testKey = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const readOnlyKey = await app.fixtures.createPartnerKey(orgId, { scopes: ['events:read'] })
  const [id] = await recordTestEvents(app, key, 1)

  assert.deepEqual((await app.as(testKey).get('/events')).body.data.items, [])
  assert.deepEqual((await app.as(testKey).post('/events/ack', { event_ids: [id] })).body.data.unknown, [id])
  const rejectedResponse = await app.as(readOnlyKey).post('/events/ack', { event_ids: [id] })
  assert.equal(rejectedResponse.status, 403)
  assert.match(rejectedResponse.body.error.message, /events:write/)
})

test('after thirty days an event is no longer returned, and its partition is dropped', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  await recordTestEvents(app, key, 1)
  assert.equal((await app.as(key).get('/events')).body.data.items.length, 1)

  app.clock.advance(30 * DAY + 1)
  assert.deepEqual((await app.as(key).get('/events?acknowledged=all')).body.data.items, [])
  app.clock.advance(2 * DAY)
  await dropOldPartitions(app.context.db, app.clock)
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from events`.execute(
    app.context.db.queries,
  )
  assert.equal(rows[0]!.count, 0)
  const [id] = await recordTestEvents(app, key, 1)
  assert.equal((await app.as(key).get('/events')).body.data.items[0].event_id, id)

  app.clock.advance(30 * DAY + 1)
  const [lastId] = await recordTestEvents(app, key, 1)
  const { body } = await app.as(key).post('/events/ack', { up_to: lastId })
  assert.equal(body.data.acknowledged, 1, 'events older than the retention period are not counted')
})

test('a follower misses no event if a clock is set back across midnight', async (t) => {
  const app = await startApp(t)
  const { key } = await app.fixtures.createOrg()
  app.clock.set('2026-03-12T00:00:10.000Z')
  const [firstId] = await recordTestEvents(app, key, 1)
  assert.equal((await app.as(key).get('/events')).body.data.items.length, 1)

  app.clock.set('2026-03-11T23:59:40.000Z')
  const [secondId] = await recordTestEvents(app, key, 1)
  const { body } = await app.as(key).get(`/events?after=${firstId}`)
  assert.deepEqual(
    body.data.items.map(({ event_id }: { event_id: string }) => event_id),
    [secondId],
  )
})

test('the partitions of the next seven days exist before they are needed', async (t) => {
  const app = await startApp(t, { clock: new TestClock('2026-05-11T06:30:00.000Z') })
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = 'events'::regclass and relname > 'events_202605' order by 1`.execute(app.context.db.queries)
  assert.deepEqual(
    rows.map(({ name }) => name),
    Array.from({ length: 8 }, (_, index) => `events_202605${11 + index}`),
  )
})

test('a backup that runs for days stops neither events nor readers, and old partitions are dropped after it', async (t) => {
  const app = await startApp(t)
  const { db } = app.context
  const { key } = await app.fixtures.createOrg()
  await recordTestEvents(app, key, 1)
  await app.context.events.sequence()
  // pg_dump holds one snapshot, and a lock of this kind on every table, until it ends.
  const backup = await db.pool.connect()
  await backup.query('begin isolation level repeatable read')
  await backup.query('lock table events, webhook_deliveries in access share mode')
  await backup.query('select count(*) from events')

  app.clock.advance(10 * DAY)
  const [secondId] = await recordTestEvents(app, key, 1)
  const idsOfPage = async () => {
    const { body } = await app.as(key).get('/events?acknowledged=all')
    return body.data.items.map(({ event_id }: { event_id: string }) => event_id)
  }
  assert.equal((await idsOfPage()).length, 2)

  app.clock.advance(23 * DAY)
  const oldPartition = 'events_20260311'
  const { dropped, postponed } = await dropOldPartitions(db, app.clock)
  assert.deepEqual([dropped.includes(oldPartition), postponed.includes(oldPartition)], [false, true])
  const [thirdId] = await recordTestEvents(app, key, 1)
  assert.deepEqual(await idsOfPage(), [secondId, thirdId])

  await backup.query('rollback')
  backup.release()
  const later = await dropOldPartitions(db, app.clock)
  assert.equal(later.dropped.includes(oldPartition), true)
  assert.deepEqual(later.postponed, [])
  assert.deepEqual(await idsOfPage(), [secondId, thirdId])
})
