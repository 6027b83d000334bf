import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { sign } from '../../sdk/index.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import type { TestKey } from '../../test/support/call.ts'
import { until } from '../../test/support/until.ts'
import type { OrgScope } from '../access/caller.ts'
import { setLimits } from '../access/key-limits.ts'
import { DAY } from '../platform/clock.ts'
import { dropOldPartitions } from './partitions.ts'
import { recordEvents } from './record.ts'
import type { EventType } from './types.ts'

async function record({ context, clock }: TestApp, key: TestKey, count: number, type: EventType = 'mandate.ready') {
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
  const { key } = await app.given.org()
  const ids = await record(app, key, 5)

  const first = await app.as(key).get('/events?limit=3')
  assert.equal(first.status, 200)
  assert.deepEqual(
    first.body.data.items.map((event: any) => event.event_id),
    ids.slice(0, 3),
  )
  assert.deepEqual(first.body.data.items[0], {
    event_id: ids[0],
    type: 'mandate.ready',
    mode: 'live',
    sequence: first.body.data.items[0].sequence,
    created_at: new Date(app.clock.now()).toISOString(),
    data: { number: 0, version: 1 },
    delivery: { acknowledged_at: null, acknowledged_by: null, attempts: 0, last_error: null },
  })
  const second = await app.as(key).get(`/events?limit=3&cursor=${first.body.data.next_cursor}`)
  assert.deepEqual(
    second.body.data.items.map((event: any) => event.event_id),
    ids.slice(3),
  )
  assert.equal(second.body.data.next_cursor, null)
  const after = await app.as(key).get(`/events?after=${ids[3]}`)
  assert.deepEqual(
    after.body.data.items.map((event: any) => event.event_id),
    ids.slice(4),
  )
})

test('the list can be filtered by types; unknown types are rejected', async (t) => {
  const app = await startApp(t)
  const { key } = await app.given.org()
  await record(app, key, 1, 'mandate.ready')
  await record(app, key, 1, 'result.failed')
  await record(app, key, 1, 'result.completed')

  const some = await app.as(key).get('/events?types=result.completed,result.failed')
  assert.deepEqual(
    some.body.data.items.map((event: any) => event.type),
    ['result.failed', 'result.completed'],
  )
  const wrong = await app.as(key).get('/events?types=result.completed,result.lost')
  assert.equal(wrong.status, 400)
  assert.equal(wrong.body.error.details[0].path, 'query.types')
})

test('acknowledging by ID counts known events, returns unknown IDs, and changes nothing when repeated', async (t) => {
  const app = await startApp(t)
  const { key } = await app.given.org()
  const other = await app.given.org('Another')
  const [foreign] = await record(app, other.key, 1)
  const ids = await record(app, key, 3)
  const body = { event_ids: [ids[0], ids[2], foreign, 'EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] }

  const acked = await app.as(key).post('/events/ack', body)
  assert.equal(acked.status, 200)
  assert.deepEqual(acked.body.data, { acknowledged: 2, unknown: [foreign, 'EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] })
  const repeated = await app.as(key).post('/events/ack', body)
  assert.equal(repeated.body.data.acknowledged, 0)

  const left = await app.as(key).get('/events')
  assert.deepEqual(
    left.body.data.items.map((event: any) => event.event_id),
    [ids[1]],
  )
  const done = await app.as(key).get('/events?acknowledged=true')
  assert.deepEqual(
    done.body.data.items.map((event: any) => [event.event_id, event.delivery.acknowledged_by]),
    [
      [ids[0], 'pull'],
      [ids[2], 'pull'],
    ],
  )
  const all = await app.as(key).get('/events?acknowledged=all')
  assert.equal(all.body.data.items.length, 3)
  const theirs = await app.as(other.key).get('/events')
  assert.equal(theirs.body.data.items.length, 1)
})

test('acknowledging up to an event includes all events before it', async (t) => {
  const app = await startApp(t)
  const { key } = await app.given.org()
  const ids = await record(app, key, 4)

  const acked = await app.as(key).post('/events/ack', { up_to: ids[2] })
  assert.deepEqual(acked.body.data, { acknowledged: 3, unknown: [] })
  const unknown = await app.as(key).post('/events/ack', { up_to: 'EV_01ARZ3NDEKTSV4RRFFQ69G5FAV' })
  assert.deepEqual(unknown.body.data, { acknowledged: 0, unknown: ['EV_01ARZ3NDEKTSV4RRFFQ69G5FAV'] })
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
  const { key } = await app.given.org()
  const firstToEnd: string[] = []
  const other = await app.given.org()
  const waiting = app.as(key).get('/events?wait=20')
  const timingOut = app.as(other.key).get('/events?wait=20')
  void waiting.then(() => firstToEnd.push('with an event'))
  void timingOut.then(() => firstToEnd.push('after its timeout'))
  await pause(100)
  const [id] = await record(app, key, 1)

  const response = await waiting
  assert.equal(response.body.data.items[0].event_id, id)
  assert.deepEqual(firstToEnd, ['with an event'])
  await record(app, other.key, 1)
  await timingOut

  const nothing = await app.as(key).get(`/events?wait=1&after=${id}`)
  assert.deepEqual(nothing.body.data, { items: [], next_cursor: null })
  assert.equal((await app.as(key).get('/events?wait=26')).status, 400)
})

test('two hundred waiting callers do not poll the database', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.given.org()
  const scope = { orgId, mode: 'live' as const }
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] }) // of the waits only: the app has started
  const woken = Array.from({ length: 200 }, () =>
    app.context.events.wait(scope, undefined, 20_000, new AbortController().signal),
  )
  const connect = t.mock.method(app.context.db.pool, 'connect')

  for (let elapsedMs = 0; elapsedMs < 19_000; elapsedMs += 1000) {
    t.mock.timers.tick(1000)
    await nextTurn()
  }
  t.mock.timers.reset()
  const queries = connect.mock.callCount()
  assert.ok(queries < 40, `${queries} connections were requested while nothing happened`)
  await record(app, { ...scope, keyId: '', secret: '' }, 1)
  await Promise.all(woken)
})

test('an event wakes only callers that wait for its type, organisation and mode', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.given.org()
  const { orgId: other } = await app.given.org('Another')
  const woken: string[] = []
  const over = new AbortController()
  const wait = (name: string, scope: OrgScope, types?: EventType[]) =>
    app.context.events
      .wait(scope, types, 20_000, over.signal)
      .then(() => void (over.signal.aborted || woken.push(name)))
  const live = { orgId, mode: 'live' as const }
  const waiting = [
    wait('any type', live),
    wait('that type', live, ['result.failed', 'mandate.ready']),
    wait('another type', live, ['result.failed']),
    wait('another mode', { orgId, mode: 'test' }),
    wait('another organisation', { orgId: other, mode: 'live' }),
  ]

  await record(app, { ...live, keyId: '', secret: '' }, 1, 'mandate.ready')
  await Promise.all(waiting.slice(0, 2))
  over.abort()
  await Promise.all(waiting)

  assert.deepEqual(woken, ['any type', 'that type'])
})

test('the open long polls of a key are limited; a client that disconnects frees its slot immediately', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.given.org()
  const other = await app.given.key(orgId)
  const maxPolls = 25
  const rates = { rate: 1000, burst: maxPolls, minute: 10_000 }
  await app.context.db.transaction((tx) => setLimits(tx, key.keyId, { bucket: 'reads', rates }))
  await app.context.keyring.refresh()
  const probe = () => {
    app.clock.advance(1000) // refills all tokens
    return app.as(key).get('/events?wait=1')
  }
  const disconnect = await openCall(app, key, '/events?wait=25')
  const waiting = Array.from({ length: maxPolls - 2 }, () => app.as(key).get('/events?wait=25'))
  await pause(500)
  await until(async () => {
    if (/open long polls/.test((await probe()).body.error?.message)) return true
    waiting.push(app.as(key).get('/events?wait=25'))
    return false
  })

  const rejected = await probe()
  assert.equal(rejected.status, 429)
  assert.equal(rejected.body.error.code, 'RATE_LIMITED')
  assert.match(rejected.body.error.message, /25 open long polls/)
  const retryAfter = Number(rejected.headers.get('retry-after'))
  assert.ok(retryAfter >= 1 && retryAfter <= 25, String(retryAfter))
  assert.equal((await app.as(key).get('/events')).status, 200, 'a request without wait succeeds')
  waiting.push(app.as(other).get('/events?wait=25'))

  disconnect()
  // Its slot is free before the 25 s of the long poll are over.
  await until(async () => (await probe()).status === 200, 20_000)
  await record(app, key, 1)
  const responses = await Promise.all(waiting)
  assert.ok(responses.filter(({ status }) => status === 200).length >= maxPolls - 1)
})

/** Sends a request and ignores the response; returns a function that disconnects. */
async function openCall({ url, clock }: TestApp, key: TestKey, path: string): Promise<() => void> {
  const target = `/api/v1/partner${path}`
  const timestamp = Math.floor(clock.now() / 1000)
  const signature = await sign({ secret: key.secret, timestamp, method: 'GET', target })
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const head = { host: 'x', 'x-api-key': key.keyId, 'x-timestamp': timestamp, 'x-signature': signature }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
  return () => socket.destroy()
}

test('events of the other mode are not visible, and acknowledging requires the scope events:write', async (t) => {
  const app = await startApp(t)
  const { orgId, key } = await app.given.org()
  const test = await app.given.key(orgId, { mode: 'test' })
  const reader = await app.given.key(orgId, { scopes: ['events:read'] })
  const [id] = await record(app, key, 1)

  assert.deepEqual((await app.as(test).get('/events')).body.data.items, [])
  assert.deepEqual((await app.as(test).post('/events/ack', { event_ids: [id] })).body.data.unknown, [id])
  const rejected = await app.as(reader).post('/events/ack', { event_ids: [id] })
  assert.equal(rejected.status, 403)
  assert.match(rejected.body.error.message, /events:write/)
})

test('after thirty days an event is no longer returned, and its partition is dropped', async (t) => {
  const app = await startApp(t)
  const { key } = await app.given.org()
  await record(app, key, 1)
  assert.equal((await app.as(key).get('/events')).body.data.items.length, 1)

  app.clock.advance(30 * DAY + 1)
  assert.deepEqual((await app.as(key).get('/events?acknowledged=all')).body.data.items, [])
  app.clock.advance(2 * DAY)
  await dropOldPartitions(app.context.db, app.clock.now())
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from events`.execute(
    app.context.db.queries,
  )
  assert.equal(rows[0]!.count, 0)
  const [id] = await record(app, key, 1)
  assert.equal((await app.as(key).get('/events')).body.data.items[0].event_id, id)

  app.clock.advance(30 * DAY + 1)
  const [last] = await record(app, key, 1)
  const { body } = await app.as(key).post('/events/ack', { up_to: last })
  assert.equal(body.data.acknowledged, 1, 'events beyond retention are not counted')
})
