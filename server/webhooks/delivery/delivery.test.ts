import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { startReceiver, until } from '../../../test/support/receiver.ts'
import { startWebhooks } from '../../../test/support/webhooks.ts'
import { dayOf } from '../../events/partitions.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { deliveryStates, endDeliveries } from '../deliveries.ts'

test('every way in which an endpoint does not take an event is told, and only 2xx in time takes it', async (t) => {
  const { clock, keyOf, endpoint, record, deliveries, deliver } = await startWebhooks(t)
  deliver({ timeout: 1500 })
  const key = await keyOf('test')
  const trap = await startReceiver(t)
  const receiver = await startReceiver(t, ({ body }, response, request) => {
    switch (body.data.case) {
      case 'redirect':
        return void response.writeHead(307, { location: trap.url }).end()
      case 'refuse':
        return void response.writeHead(410).end('gone\0 for good é')
      case 'rest':
        return void response.writeHead(429, { 'retry-after': '600' }).end()
      case 'rest until':
        return void response.writeHead(503, { 'retry-after': new Date(clock.now() + HOUR).toUTCString() }).end()
      case 'rest not meant':
        return void response.writeHead(500, { 'retry-after': '600' }).end()
      case 'hang':
        return undefined
      case 'hang in the body':
        response.writeHead(200)
        response.write('half')
        return undefined
      case 'trickle': {
        response.writeHead(200)
        const timer = setInterval(() => response.write('.'), 50)
        response.on('close', () => clearInterval(timer))
        return undefined
      }
      case 'reset':
        return void request.socket.resetAndDestroy()
      case 'break off':
        response.writeHead(200, { 'content-length': '100' })
        response.write('half')
        return void setTimeout(() => request.socket.destroy(), 20)
      case 'flood': {
        response.writeHead(200)
        const flood = () => {
          while (!response.destroyed && response.write('é'.repeat(10_000)));
        }
        response.on('drain', flood)
        return flood()
      }
      case 'no http':
        return void request.socket.end('hello\r\n\r\n')
      case 'long headers':
        return void response.writeHead(200, { 'x-long': 'x'.repeat(40_000) }).end()
      default:
        return 299
    }
  })
  const { webhook_id } = await endpoint(key, receiver.url)
  const cases: [string, number | null, RegExp | null][] = [
    ['redirect', 307, /redirects are not followed/],
    ['refuse', 410, /answered 410/],
    ['rest', 429, /answered 429/],
    ['rest until', 503, /answered 503/],
    ['rest not meant', 500, /answered 500/],
    ['hang', null, /no complete answer within 1.5 s/],
    ['hang in the body', 200, /no complete answer/],
    ['trickle', 200, /no complete answer/],
    ['reset', null, /the connection broke/],
    ['break off', 200, /the connection broke/],
    ['flood', 200, null],
    ['no http', null, /not HTTP/],
    ['long headers', null, /headers .* too long/],
    ['take', 299, null],
  ]
  const ids = await record(key, ...cases.map(([name]) => ({ case: name })))
  await until(async () => (await deliveries(key, webhook_id)).every(({ attempts }) => attempts.length === 1))
  const items = new Map((await deliveries(key, webhook_id)).map((item) => [item.event_id, item]))
  cases.forEach(([name, code, error], index) => {
    const { status, attempts, next_attempt_at } = items.get(ids[index]!)
    const [attempt] = attempts
    assert.equal(attempt.status_code, code, name)
    if (error) assert.match(attempt.error, error, name)
    else assert.equal(attempt.error, null, name)
    assert.equal(status, error ? 'pending' : 'delivered', name)
    assert.equal(attempt.attempted_at, new Date(clock.now()).toISOString())
    assert.ok(attempt.latency_ms < 5000, name)
    const wait = error ? Date.parse(next_attempt_at) - clock.now() : 0
    const longest = name === 'rest' ? 600 * SECOND : name === 'rest until' ? HOUR : 5.5 * SECOND
    assert.ok(wait <= longest && (!error || wait > longest / 1.3), `${name}: ${wait}`)
  })
  assert.equal(items.get(ids[1]!).attempts[0].answer, 'gone\ufffd for good é')
  assert.equal(items.get(ids[10]!).attempts[0].answer, 'é'.repeat(512))
  assert.equal(trap.received.length, 0)

  receiver.close()
  const [refused] = await record(key, { case: 'closed' })
  await until(async () => (await deliveries(key, webhook_id))[0].attempts.length === 1)
  assert.equal((await deliveries(key, webhook_id))[0].event_id, refused)
  assert.match((await deliveries(key, webhook_id))[0].attempts[0].error, /refused|broke/)
})

test('a disabled endpoint holds what is addressed to it; enabling sends that, or withdraws it', async (t) => {
  const { as, keyOf, endpoint, record, deliveries, acknowledged } = await startWebhooks(t, { worker: true })
  const key = await keyOf('test')
  const [one, two] = [await startReceiver(t), await startReceiver(t)]
  const first = await endpoint(key, one.url)
  const second = await endpoint(key, two.url)
  const call = (path: string, body?: object) => as(key).post(`/webhooks/${first.webhook_id}${path}`, body)

  assert.equal((await call('/disable')).body.data.status, 'disabled')
  assert.equal((await call('/disable')).status, 200)
  const [held] = await record(key, { n: 1 })
  await until(() => two.received.length === 1)
  assert.equal((await call('/test')).body.error.code, 'CONFLICT')
  const [waiting] = await deliveries(key, first.webhook_id)
  assert.equal(waiting.status, 'pending')
  assert.equal(waiting.next_attempt_at, null)
  await pause(300)
  assert.equal(one.received.length, 0)
  assert.equal(await acknowledged(held!), null)
  assert.equal((await call('/enable', { recover: true })).body.data.status, 'enabled')
  await one.has(1)
  assert.deepEqual(one.ids(), [held])
  await until(async () => (await acknowledged(held!)) === 'webhook')

  await call('/disable')
  const [dropped] = await record(key, { n: 2 })
  await two.has(2)
  assert.equal((await call('/enable')).status, 200)
  await until(async () => (await deliveries(key, first.webhook_id))[0].status === 'failed')
  await until(
    async () => (await acknowledged(dropped!)) === 'webhook',
    undefined,
    () => 'withdrawn: the other one is enough',
  )
  const [sent] = await record(key, { n: 3 })
  await one.has(2)
  assert.deepEqual(one.ids(), [held, sent])

  // One that is archived no longer counts either; with nobody left who took it, the event waits for the pull.
  two.answer = () => 500
  const [both] = await record(key, { n: 4 })
  await one.has(3)
  await two.has(4)
  assert.equal(await acknowledged(both!), null)
  await as(key).delete(`/webhooks/${second.webhook_id}`)
  await until(async () => (await acknowledged(both!)) === 'webhook')
  assert.equal((await deliveries(key, second.webhook_id))[0].status, 'failed')
  one.answer = () => 500
  const [alone] = await record(key, { n: 5 })
  await one.has(4)
  await as(key).delete(`/webhooks/${first.webhook_id}`)
  await until(async () => (await deliveries(key, first.webhook_id))[0].status === 'failed')
  assert.equal(await acknowledged(alone!), null)
})

test('an event is acknowledged by the last endpoint, or by the pull, which ends its retries', async (t) => {
  const { clock, context, keyOf, endpoint, record, deliveries, acknowledged, as } = await startWebhooks(t, {
    worker: true,
  })
  const key = await keyOf('test')
  const [one, two] = [await startReceiver(t), await startReceiver(t, () => 500)]
  await endpoint(key, one.url)
  const { webhook_id } = await endpoint(key, two.url)
  const [eventId] = await record(key, { n: 1 })
  const ref = { day: dayOf(clock.now()), event_id: eventId! }
  await one.has(1)
  await two.has(1)
  await until(async () => (await deliveryStates(context.db.queries, [ref])).get(eventId!)?.attempts === 2)
  assert.deepEqual((await deliveryStates(context.db.queries, [ref])).get(eventId!), {
    attempts: 2,
    last_error: 'answered 500',
  })
  assert.equal(await acknowledged(eventId!), null)
  two.answer = () => 200
  clock.advance(6 * SECOND)
  await until(async () => (await acknowledged(eventId!)) === 'webhook')
  assert.deepEqual((await deliveryStates(context.db.queries, [ref])).get(eventId!), { attempts: 3, last_error: null })

  two.answer = () => 500
  const [pulled] = await record(key, { n: 2 })
  await two.has(3)
  await until(async () => (await deliveries(key, webhook_id))[0].attempts.length === 1)
  await context.db.transaction((tx) => endDeliveries(tx, [{ day: dayOf(clock.now()), event_id: pulled! }]))
  assert.equal((await deliveries(key, webhook_id))[0].status, 'failed')
  clock.advance(MINUTE)
  await pause(300)
  assert.equal(two.received.length, 3)

  // Asked for again, it goes out at once, delivered before or not.
  two.answer = () => 200
  const replay = await as(key).post(`/webhooks/${webhook_id}/replay`, { event_ids: [eventId, pulled] })
  assert.deepEqual(replay.body.data, { replayed: 2 }, JSON.stringify(replay.body))
  await two.has(5)
  assert.deepEqual(new Set(two.ids().slice(3)), new Set([eventId, pulled]))
  await until(async () => (await deliveries(key, webhook_id)).every(({ status }) => status === 'delivered'))
  assert.equal((await deliveries(key, webhook_id))[1].attempts.length, 3)
})

test('an endpoint that hangs does not delay another, and gets a bounded number at once', async (t) => {
  const { keyOf, endpoint, record, given, deliver } = await startWebhooks(t)
  deliver({ timeout: 8000 })
  const key = await keyOf('test')
  const other = await keyOf('test', (await given.org('Other')).orgId)
  const slow = await startReceiver(t, () => undefined)
  const quick = await startReceiver(t)
  await endpoint(key, slow.url)
  await endpoint(other, quick.url)
  await record(key, ...Array.from({ length: 300 }, (_, n) => ({ n })))
  await slow.has(16)
  const started = performance.now()
  await record(other, ...Array.from({ length: 50 }, (_, n) => ({ n })))
  await quick.has(50)
  assert.ok(performance.now() - started < 7000)
  assert.equal(slow.received.length, 16)
  assert.deepEqual(
    quick.received.map(({ body }) => body.data.n).sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, n) => n),
  )
  assert.deepEqual(
    slow.received.map(({ body }) => body.data.n).sort((a, b) => a - b),
    Array.from({ length: 16 }, (_, n) => n),
    'the oldest first',
  )
})

test('several workers send each event once', async (t) => {
  const { keyOf, endpoint, record, context, deliver } = await startWebhooks(t)
  const { openListener } = await import('../../platform/database/listener.ts')
  const start = async () => {
    const listener = await openListener(context.connection, context.log)
    t.after(() => listener.close())
    deliver({ listener })
  }
  await start()
  await start()
  const key = await keyOf('test')
  const receivers = await Promise.all(Array.from({ length: 4 }, () => startReceiver(t)))
  for (const { url } of receivers) await endpoint(key, url)
  for (let round = 0; round < 5; round++) await record(key, ...Array.from({ length: 40 }, (_, n) => ({ round, n })))
  for (const receiver of receivers) {
    await receiver.has(200)
    assert.equal(new Set(receiver.ids()).size, 200)
    assert.equal(receiver.received.length, 200)
  }
})

test('a worker that stops hands back what is under way, and the next one sends it', async (t) => {
  const { keyOf, endpoint, record, deliveries, deliver } = await startWebhooks(t)
  const key = await keyOf('test')
  const receiver = await startReceiver(t, () => undefined)
  const { webhook_id } = await endpoint(key, receiver.url)
  const first = deliver()
  const [eventId] = await record(key, { n: 1 })
  await receiver.has(1)
  await first.stop()
  const [handedBack] = await deliveries(key, webhook_id)
  assert.deepEqual([handedBack.status, handedBack.attempts], ['pending', []])
  receiver.answer = () => 200
  deliver()
  await until(async () => (await deliveries(key, webhook_id))[0].status === 'delivered')
  assert.deepEqual(receiver.ids(), [eventId, eventId])
})

test('a name is resolved at each connection, and the connection goes to the address that was checked', async (t) => {
  const { clock, keyOf, record, context, deliveries, deliver } = await startWebhooks(t)
  context.config.host = '0.0.0.0'
  const receiver = await startReceiver(t)
  let addresses = ['93.184.216.34', '127.0.0.1']
  const asked: string[] = []
  deliver({
    config: { ...context.config, webhookAllow: ['allowed.test'] },
    async resolve(host) {
      asked.push(host)
      return (host === 'rebound.test' ? addresses : ['127.0.0.1']).map((address) => ({ address, family: 4 }))
    },
  })
  const key = await keyOf('test')
  const { createWebhook } = await import('../webhooks.ts')
  const make = (host: string) =>
    context.db.transaction((tx) => createWebhook(tx, key, context, { url: receiver.url.replace('127.0.0.1', host) }))
  const rebound = (await make('rebound.test')).webhook.webhook_id
  const literal = (await make('127.0.0.1')).webhook.webhook_id
  const allowed = (await make('allowed.test')).webhook.webhook_id
  await record(key, { n: 1 })
  for (const id of [rebound, literal, allowed])
    await until(async () => (await deliveries(key, id))[0].attempts.length === 1)
  const errors = await Promise.all(
    [rebound, literal].map(async (id) => (await deliveries(key, id))[0].attempts[0].error),
  )
  assert.match(errors[0], /not sent: the host must not lead to a loopback address/)
  assert.match(errors[1], /not sent: the host must not be a loopback address/)
  assert.equal((await deliveries(key, allowed))[0].status, 'delivered')
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers.host),
    [`allowed.test:${receiver.port}`],
  )
  // The name was right when the endpoint was saved, and is not any more.
  addresses = ['10.0.0.7']
  clock.advance(6 * SECOND)
  await until(async () => (await deliveries(key, rebound))[0].attempts.length === 2)
  assert.match((await deliveries(key, rebound))[0].attempts[1].error, /private address/)
  assert.equal(receiver.received.length, 1)
  assert.ok(!asked.includes('127.0.0.1'))
})

test('a URL that changes holds from the next attempt on', async (t) => {
  const { clock, as, keyOf, endpoint, record, deliver } = await startWebhooks(t)
  deliver()
  const key = await keyOf('test')
  const [before, after] = [await startReceiver(t, () => 500), await startReceiver(t)]
  const { webhook_id } = await endpoint(key, before.url)
  const [eventId] = await record(key, { n: 1 })
  await before.has(1)
  await as(key).put(`/webhooks/${webhook_id}`, { url: after.url })
  clock.advance(6 * SECOND)
  await after.has(1)
  assert.deepEqual(after.ids(), [eventId])
  assert.equal(before.received.length, 1)
})

test('what cannot speak HTTP, or says nothing at all, is an endpoint that fails', async (t) => {
  const { keyOf, endpoint, record, context, deliveries, deliver } = await startWebhooks(t)
  deliver({ timeout: 300 })
  const silent = createTcpServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => void silent.close())
  const key = await keyOf('test')
  const { port } = silent.address() as { port: number }
  const plain = (await endpoint(key, `http://127.0.0.1:${port}/`)).webhook_id
  const secure = (await endpoint(key, `https://127.0.0.1:${port}/`)).webhook_id
  const nowhere = (await endpoint(key, 'http://no-such-name.invalid/')).webhook_id
  await record(key, { n: 1 })
  for (const id of [plain, secure, nowhere]) {
    await until(async () => (await deliveries(key, id))[0].attempts.length === 1)
    assert.equal((await deliveries(key, id))[0].attempts[0].status_code, null)
  }
  const { rows } = await sql`select 1 from webhooks where failing_since is not null`.execute(context.db.queries)
  assert.equal(rows.length, 3)
})
