import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startReceiver } from '../../../test/support/receiver.ts'
import { until } from '../../../test/support/until.ts'
import { startWebhookApp } from '../../../test/support/webhooks.ts'
import { dayOf } from '../../events/partitions.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { ANY_DAY_PREFIX, DELIVERIES_DUE, deliveryStates, endDeliveries } from '../deliveries.ts'
import { INITIAL_WINDOW, MAX_BUFFERED_MS } from './delivery-queue.ts'

test('only a complete 2xx response in time counts as delivered; every other outcome is recorded with its error', async (t) => {
  const { clock, createKey, createEndpoint, recordEvents, listDeliveries, startDelivery } = await startWebhookApp(t)
  startDelivery({ timeoutMs: 1500 })
  const key = await createKey('test')
  const redirectTarget = await startReceiver(t)
  const receiver = await startReceiver(t, ({ body }, response, request) => {
    switch (body.data.case) {
      case 'redirect':
        return void response.writeHead(307, { location: redirectTarget.url }).end()
      case 'gone':
        return void response.writeHead(410).end('gone\0 é')
      case 'retry after':
        return void response.writeHead(429, { 'retry-after': '600' }).end()
      case 'retry at':
        return void response.writeHead(503, { 'retry-after': new Date(clock.now() + HOUR).toUTCString() }).end()
      case 'ignored retry-after':
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
      case 'close early':
        response.writeHead(200, { 'content-length': '100' })
        response.write('half')
        return void setTimeout(() => request.socket.destroy(), 20)
      case 'flood': {
        response.writeHead(200)
        const writeEndlessly = () => {
          while (!response.destroyed && response.write('é'.repeat(10_000)));
        }
        response.on('drain', writeEndlessly)
        return writeEndlessly()
      }
      case 'not http':
        return void request.socket.end('hello\r\n\r\n')
      case 'long headers':
        return void response.writeHead(200, { 'x-long': 'x'.repeat(40_000) }).end()
      default:
        return 299
    }
  })
  const { webhook_id } = await createEndpoint(key, receiver.url)
  const cases: [string, number | null, RegExp | null][] = [
    ['redirect', 307, /redirects are not followed/],
    ['gone', 410, /responded with 410/],
    ['retry after', 429, /responded with 429/],
    ['retry at', 503, /responded with 503/],
    ['ignored retry-after', 500, /responded with 500/],
    ['hang', null, /no complete response within 1.5 s/],
    ['hang in the body', 200, /no complete response/],
    ['trickle', 200, /no complete response/],
    ['reset', null, /connection closed before the response/],
    ['close early', 200, /connection closed before the response/],
    ['flood', 200, null],
    ['not http', null, /not HTTP/],
    ['long headers', null, /headers too large/],
    ['success', 299, null],
  ]
  const startedAt = performance.now()
  const ids = await recordEvents(key, ...cases.map(([name]) => ({ case: name })))
  await until(async () => (await listDeliveries(key, webhook_id)).every(({ attempts }) => attempts.length === 1))
  const elapsedMs = performance.now() - startedAt
  const items = new Map((await listDeliveries(key, webhook_id)).map((item) => [item.event_id, item]))
  cases.forEach(([name, code, error], index) => {
    const { status, attempts, next_attempt_at } = items.get(ids[index]!)
    const [attempt] = attempts
    assert.equal(attempt.status_code, code, name)
    if (error) assert.match(attempt.error, error, name)
    else assert.equal(attempt.error, null, name)
    assert.equal(status, error ? 'pending' : 'delivered', name)
    assert.equal(attempt.attempted_at, new Date(clock.now()).toISOString())
    assert.ok(attempt.latency_ms > 0 && attempt.latency_ms <= elapsedMs, `${name}: ${attempt.latency_ms}`)
    const delayMs = error ? Date.parse(next_attempt_at) - clock.now() : 0
    const maxDelayMs = name === 'retry after' ? 600 * SECOND : name === 'retry at' ? HOUR : 5.5 * SECOND
    assert.ok(delayMs <= maxDelayMs && (!error || delayMs > maxDelayMs / 1.3), `${name}: ${delayMs}`)
  })
  assert.equal(items.get(ids[1]!).attempts[0].answer, 'gone\ufffd é')
  assert.equal(items.get(ids[10]!).attempts[0].answer, 'é'.repeat(512))
  assert.equal(redirectTarget.received.length, 0)

  receiver.close()
  const [unsentId] = await recordEvents(key, { case: 'closed' })
  await until(async () => (await listDeliveries(key, webhook_id))[0].attempts.length === 1)
  assert.equal((await listDeliveries(key, webhook_id))[0].event_id, unsentId)
  assert.match((await listDeliveries(key, webhook_id))[0].attempts[0].error, /connection refused|connection closed/)
})

test('several endpoints that fail at the same time do not block the acknowledgement by another one', async (t) => {
  const { createKey, createEndpoint, recordEvents, acknowledgedBy } = await startWebhookApp(t, { worker: true })
  const key = await createKey('test')
  const [receiver, failingReceiver] = [await startReceiver(t), await startReceiver(t)]
  failingReceiver.respond = () => 500
  await createEndpoint(key, receiver.url)
  for (let index = 0; index < 4; index++) await createEndpoint(key, `${failingReceiver.url}/${index}`)
  const [id] = await recordEvents(key, { n: 1 })
  await until(async () => (await acknowledgedBy(id!)) === 'webhook')
})

test('deliveries to a disabled webhook are held; enabling it sends or withdraws them', async (t) => {
  const { as, context, createKey, createEndpoint, recordEvents, listDeliveries, acknowledgedBy } =
    await startWebhookApp(t, { worker: true })
  const key = await createKey('test')
  const [firstReceiver, secondReceiver] = [await startReceiver(t), await startReceiver(t)]
  const firstEndpoint = await createEndpoint(key, firstReceiver.url)
  const secondEndpoint = await createEndpoint(key, secondReceiver.url)
  const postToFirst = (path: string, body?: object) =>
    as(key).post(`/webhooks/${firstEndpoint.webhook_id}${path}`, body)

  assert.equal((await postToFirst('/disable')).body.data.status, 'disabled')
  assert.equal((await postToFirst('/disable')).status, 200)
  firstReceiver.respond = () => 500 // an attempt while it is disabled would be recorded as a failure
  const [heldId] = await recordEvents(key, { n: 1 })
  await until(() => secondReceiver.received.length === 1)
  assert.equal((await postToFirst('/test')).body.error.code, 'CONFLICT')
  const [heldDelivery] = await listDeliveries(key, firstEndpoint.webhook_id)
  assert.equal(heldDelivery.status, 'pending')
  assert.equal(heldDelivery.next_attempt_at, null)
  // The worker reads the deliveries of the disabled webhook again, and then delivers a later event.
  await sql`select pg_notify(${DELIVERIES_DUE}, ${ANY_DAY_PREFIX + firstEndpoint.webhook_id})`.execute(
    context.db.queries,
  )
  assert.equal((await as(key).post(`/webhooks/${secondEndpoint.webhook_id}/test`)).status, 202)
  await secondReceiver.waitFor(2)
  assert.equal(firstReceiver.received.length, 0)
  await until(async () => (await acknowledgedBy(heldId!)) === 'webhook') // a disabled webhook does not count
  firstReceiver.respond = () => 204
  assert.equal((await postToFirst('/enable', { recover: true })).body.data.status, 'enabled')
  await firstReceiver.waitFor(1)
  assert.deepEqual(firstReceiver.eventIds(), [heldId])
  await until(async () => (await listDeliveries(key, firstEndpoint.webhook_id))[0].status === 'delivered')
  const [releasedDelivery] = await listDeliveries(key, firstEndpoint.webhook_id)
  assert.deepEqual(
    releasedDelivery.attempts.map((attempt: { status_code: number }) => attempt.status_code),
    [204],
  )

  await postToFirst('/disable')
  const [withdrawnId] = await recordEvents(key, { n: 2 })
  await secondReceiver.waitFor(3)
  assert.equal((await postToFirst('/enable')).status, 200)
  await until(async () => (await listDeliveries(key, firstEndpoint.webhook_id))[0].status === 'failed')
  await until(
    async () => (await acknowledgedBy(withdrawnId!)) === 'webhook',
    undefined,
    () => 'a withdrawn delivery must not block acknowledgement',
  )
  const [sentId] = await recordEvents(key, { n: 3 })
  await firstReceiver.waitFor(2)
  assert.deepEqual(firstReceiver.eventIds(), [heldId, sentId])

  // Archiving a webhook withdraws its deliveries too. An event without any successful delivery is left for the pull API.
  secondReceiver.respond = () => 500
  const [sharedEventId] = await recordEvents(key, { n: 4 })
  await firstReceiver.waitFor(3)
  await secondReceiver.waitFor(5)
  await until(async () => (await acknowledgedBy(sharedEventId!)) === 'webhook') // a failing endpoint does not count
  await as(key).delete(`/webhooks/${secondEndpoint.webhook_id}`)
  await until(async () => (await listDeliveries(key, secondEndpoint.webhook_id))[0].status === 'failed')
  firstReceiver.respond = () => 500
  const [undeliveredId] = await recordEvents(key, { n: 5 })
  await firstReceiver.waitFor(4)
  await as(key).delete(`/webhooks/${firstEndpoint.webhook_id}`)
  await until(async () => (await listDeliveries(key, firstEndpoint.webhook_id))[0].status === 'failed')
  assert.equal(await acknowledgedBy(undeliveredId!), null)
})

test('an event is acknowledged by the endpoints that work, or by pull, which ends its retries', async (t) => {
  const { clock, context, createKey, createEndpoint, recordEvents, listDeliveries, acknowledgedBy, as } =
    await startWebhookApp(t, {
      worker: true,
    })
  const key = await createKey('test')
  const [acceptingReceiver, failingReceiver] = [await startReceiver(t), await startReceiver(t, () => 500)]
  await createEndpoint(key, acceptingReceiver.url)
  const { webhook_id } = await createEndpoint(key, failingReceiver.url)
  const [eventId] = await recordEvents(key, { n: 1 })
  const ref = { day: dayOf(clock.now()), event_id: eventId! }
  await acceptingReceiver.waitFor(1)
  await failingReceiver.waitFor(1)
  await until(async () => (await deliveryStates(context.db.queries, [ref])).get(eventId!)?.attempts === 2)
  assert.deepEqual((await deliveryStates(context.db.queries, [ref])).get(eventId!), {
    attempts: 2,
    last_error: 'responded with 500',
  })
  assert.equal(await acknowledgedBy(eventId!), 'webhook', 'a dead endpoint does not keep the event unacknowledged')
  failingReceiver.respond = () => 200
  clock.advance(6 * SECOND)
  await failingReceiver.waitFor(2)
  await until(async () => (await deliveryStates(context.db.queries, [ref])).get(eventId!)?.attempts === 3)
  assert.deepEqual((await deliveryStates(context.db.queries, [ref])).get(eventId!), { attempts: 3, last_error: null })

  failingReceiver.respond = () => 500
  const [endedId] = await recordEvents(key, { n: 2 })
  await failingReceiver.waitFor(3)
  await until(async () => (await listDeliveries(key, webhook_id))[0].attempts.length === 1)
  await context.db.transaction((tx) => endDeliveries(tx, [{ day: dayOf(clock.now()), event_id: endedId! }]))
  assert.equal((await listDeliveries(key, webhook_id))[0].status, 'failed')
  clock.advance(MINUTE)
  failingReceiver.respond = () => 200
  // The ended delivery is not retried: a retry would already be due, and would arrive before the next event.
  const [nextId] = await recordEvents(key, { n: 3 })
  await failingReceiver.waitFor(4)
  assert.deepEqual(failingReceiver.eventIds().slice(3), [nextId])

  // A replay is sent immediately, whether or not the event was delivered before.
  const replayResponse = await as(key).post(`/webhooks/${webhook_id}/replay`, { event_ids: [eventId, endedId] })
  assert.deepEqual(replayResponse.body.data, { replayed: 2 }, JSON.stringify(replayResponse.body))
  await failingReceiver.waitFor(6)
  assert.deepEqual(failingReceiver.eventIds().slice(4).sort(), [eventId, endedId].sort())
  await until(async () => (await listDeliveries(key, webhook_id)).every(({ status }) => status === 'delivered'))
  assert.deepEqual(
    (await listDeliveries(key, webhook_id)).map(({ event_id, attempts }) => [event_id, attempts.length]),
    [
      [nextId, 1],
      [endedId, 2],
      [eventId, 3],
    ],
  )
})

test('an endpoint that hangs does not delay another, and gets a bounded number of requests', async (t) => {
  const { createKey, createEndpoint, recordEvents, fixtures, startDelivery } = await startWebhookApp(t)
  startDelivery({ timeoutMs: 120_000 })
  const key = await createKey('test')
  const otherKey = await createKey('test', (await fixtures.createOrg('Other')).orgId)
  const slowReceiver = await startReceiver(t, () => undefined)
  const quickReceiver = await startReceiver(t)
  await createEndpoint(key, slowReceiver.url)
  await createEndpoint(otherKey, quickReceiver.url)
  await recordEvents(key, ...Array.from({ length: 300 }, (_, n) => ({ n })))
  await slowReceiver.waitFor(16)
  await recordEvents(otherKey, ...Array.from({ length: 50 }, (_, n) => ({ n })))
  await quickReceiver.waitFor(50)
  assert.equal(slowReceiver.received.length, 16, 'none of its requests has timed out yet')
  assert.deepEqual(
    quickReceiver.received.map(({ body }) => body.data.n).sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, n) => n),
  )
  assert.deepEqual(
    slowReceiver.received.map(({ body }) => body.data.n).sort((a, b) => a - b),
    Array.from({ length: 16 }, (_, n) => n),
    'the oldest first',
  )
})

test('two workers deliver each event once', async (t) => {
  const { createKey, createEndpoint, recordEvents, context, startDelivery } = await startWebhookApp(t)
  const { openListener } = await import('../../platform/database/listener.ts')
  const startWorker = async () => {
    const listener = await openListener(context.connection, context.log)
    t.after(() => listener.close())
    startDelivery({ listener })
  }
  await startWorker()
  await startWorker()
  const key = await createKey('test')
  const receivers = await Promise.all(Array.from({ length: 4 }, () => startReceiver(t)))
  for (const { url } of receivers) await createEndpoint(key, url)
  for (let round = 0; round < 5; round++)
    await recordEvents(key, ...Array.from({ length: 40 }, (_, n) => ({ round, n })))
  for (const receiver of receivers) {
    await receiver.waitFor(200)
    assert.equal(new Set(receiver.eventIds()).size, 200)
    assert.equal(receiver.received.length, 200)
  }
})

test('a backlog of several days arrives completely, each event once', async (t) => {
  const { clock, createKey, createEndpoint, recordEvents, startDelivery } = await startWebhookApp(t)
  const key = await createKey('test')
  const receiver = await startReceiver(t)
  await createEndpoint(key, receiver.url)
  const ids: string[] = []
  for (let day = 0; day < 3; day++) {
    ids.push(...(await recordEvents(key, ...Array.from({ length: 150 }, (_, number) => ({ day, number })))))
    clock.advance(DAY)
  }
  startDelivery()
  await until(() => receiver.received.length >= ids.length)
  assert.deepEqual(receiver.received.map(({ body }) => body.event_id).sort(), ids.sort())
})

test('an event that is acknowledged by pull while it waits for a slow endpoint is not sent', async (t) => {
  const { as, createKey, createEndpoint, recordEvents, startDelivery } = await startWebhookApp(t)
  const now = performance.now.bind(performance)
  let skippedMs = 0
  t.mock.method(performance, 'now', () => now() + skippedMs)
  startDelivery()
  const key = await createKey('test')
  const release = Promise.withResolvers<number>()
  const receiver = await startReceiver(t, () => release.promise)
  await createEndpoint(key, receiver.url)
  const ids = await recordEvents(key, ...Array.from({ length: INITIAL_WINDOW + 4 }, (_, n) => ({ n })))
  await receiver.waitFor(INITIAL_WINDOW)

  const { body } = await as(key).post('/events/ack', { event_ids: ids.slice(INITIAL_WINDOW) })
  assert.equal(body.data.acknowledged, 4)
  skippedMs = MAX_BUFFERED_MS + 1
  release.resolve(204)
  const [lastId] = await recordEvents(key, { n: 'last' })
  await receiver.waitFor(INITIAL_WINDOW + 1)
  assert.deepEqual(new Set(receiver.eventIds()), new Set([...ids.slice(0, INITIAL_WINDOW), lastId]))
})

test('an idle endpoint is unlocked, so that another process can deliver to it', async (t) => {
  const { context, createKey, createEndpoint, startDelivery } = await startWebhookApp(t)
  startDelivery()
  const { webhook_id } = await createEndpoint(await createKey('test'), 'http://127.0.0.1:9999/')
  const { queries } = context.db
  const countLocks = async () => {
    const { rows } = await sql`
      select 1 from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and datname = current_database()
        and application_name like 'attestry webhooks %'`.execute(queries)
    return rows.length
  }
  // The second notification arrives while the endpoint is being claimed.
  await sql`select pg_notify(${DELIVERIES_DUE}, ${webhook_id}), pg_notify(${DELIVERIES_DUE}, ${ANY_DAY_PREFIX + webhook_id})`.execute(
    queries,
  )
  await until(async () => (await countLocks()) === 1)
  await until(async () => (await countLocks()) === 0)
})

test('a worker that stops leaves unfinished deliveries pending, and the next worker sends them', async (t) => {
  const { createKey, createEndpoint, recordEvents, listDeliveries, startDelivery } = await startWebhookApp(t)
  const key = await createKey('test')
  const receiver = await startReceiver(t, () => undefined)
  const { webhook_id } = await createEndpoint(key, receiver.url)
  const firstWorker = startDelivery()
  const [eventId] = await recordEvents(key, { n: 1 })
  await receiver.waitFor(1)
  await firstWorker.stop()
  const [unfinishedDelivery] = await listDeliveries(key, webhook_id)
  assert.deepEqual([unfinishedDelivery.status, unfinishedDelivery.attempts], ['pending', []])
  receiver.respond = () => 200
  startDelivery()
  await until(async () => (await listDeliveries(key, webhook_id))[0].status === 'delivered')
  assert.deepEqual(receiver.eventIds(), [eventId, eventId])
})

test('a host name is resolved for each connection, and only checked addresses are connected to', async (t) => {
  const { clock, createKey, recordEvents, context, listDeliveries, startDelivery } = await startWebhookApp(t)
  context.config.host = '0.0.0.0'
  const receiver = await startReceiver(t)
  let addresses = ['93.184.216.34', '127.0.0.1']
  const resolvedHosts: string[] = []
  startDelivery({
    config: { ...context.config, webhookAllow: ['allowed.test'] },
    async resolve(host) {
      resolvedHosts.push(host)
      return (host === 'rebound.test' ? addresses : ['127.0.0.1']).map((address) => ({ address, family: 4 }))
    },
  })
  const key = await createKey('test')
  const { createWebhook } = await import('../webhooks.ts')
  const createWebhookFor = (host: string) =>
    context.db.transaction((tx) => createWebhook(tx, key, context, { url: receiver.url.replace('127.0.0.1', host) }))
  const reboundId = (await createWebhookFor('rebound.test')).webhook.webhook_id
  const literalId = (await createWebhookFor('127.0.0.1')).webhook.webhook_id
  const allowedId = (await createWebhookFor('allowed.test')).webhook.webhook_id
  await recordEvents(key, { n: 1 })
  for (const id of [reboundId, literalId, allowedId])
    await until(async () => (await listDeliveries(key, id))[0].attempts.length === 1)
  const errors = await Promise.all(
    [reboundId, literalId].map(async (id) => (await listDeliveries(key, id))[0].attempts[0].error),
  )
  assert.match(errors[0], /not sent: the host must not resolve to a loopback address/)
  assert.match(errors[1], /not sent: the host must not be a loopback address/)
  assert.equal((await listDeliveries(key, allowedId))[0].status, 'delivered')
  assert.deepEqual(
    receiver.received.map(({ headers }) => headers.host),
    [`allowed.test:${receiver.port}`],
  )
  // The DNS entry has changed since the webhook was saved.
  addresses = ['10.0.0.7']
  clock.advance(6 * SECOND)
  await until(async () => (await listDeliveries(key, reboundId))[0].attempts.length === 2)
  assert.match((await listDeliveries(key, reboundId))[0].attempts[1].error, /private address/)
  assert.equal(receiver.received.length, 1)
  assert.ok(!resolvedHosts.includes('127.0.0.1'))
})

test('a new URL is used from the next attempt on', async (t) => {
  const { clock, as, createKey, createEndpoint, recordEvents, startDelivery } = await startWebhookApp(t)
  startDelivery()
  const key = await createKey('test')
  const [oldReceiver, newReceiver] = [await startReceiver(t, () => 500), await startReceiver(t)]
  const { webhook_id } = await createEndpoint(key, oldReceiver.url)
  const [eventId] = await recordEvents(key, { n: 1 })
  await oldReceiver.waitFor(1)
  await as(key).put(`/webhooks/${webhook_id}`, { url: newReceiver.url })
  clock.advance(6 * SECOND)
  await newReceiver.waitFor(1)
  assert.deepEqual(newReceiver.eventIds(), [eventId])
  assert.equal(oldReceiver.received.length, 1)
})

test('attempts fail for a server that never responds, one without TLS and a name that does not resolve', async (t) => {
  const { createKey, createEndpoint, recordEvents, context, listDeliveries, startDelivery } = await startWebhookApp(t)
  startDelivery({ timeoutMs: 300 })
  const silentServer = createTcpServer(() => {}).listen(0, '127.0.0.1')
  await once(silentServer, 'listening')
  t.after(() => void silentServer.close())
  const key = await createKey('test')
  const { port } = silentServer.address() as { port: number }
  const httpWebhookId = (await createEndpoint(key, `http://127.0.0.1:${port}/`)).webhook_id
  const httpsWebhookId = (await createEndpoint(key, `https://127.0.0.1:${port}/`)).webhook_id
  const unresolvableWebhookId = (await createEndpoint(key, 'http://no-such-name.invalid/')).webhook_id
  await recordEvents(key, { n: 1 })
  for (const id of [httpWebhookId, httpsWebhookId, unresolvableWebhookId]) {
    await until(async () => (await listDeliveries(key, id))[0].attempts.length === 1)
    assert.equal((await listDeliveries(key, id))[0].attempts[0].status_code, null)
  }
  const { rows } = await sql`select 1 from webhooks where failing_since is not null`.execute(context.db.queries)
  assert.equal(rows.length, 3)
})
