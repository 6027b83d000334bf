import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startWebhookApp as start } from '../../test/support/webhooks.ts'
import { eventTypes } from '../events/types.ts'
import { DAY, SECOND } from '../platform/clock.ts'
import { createWebhook } from './webhooks.ts'

const WEBHOOK_URL = 'https://hooks.example.test/attestry'

test('a webhook is created, read, listed, replaced and archived', async (t) => {
  const { as, createKey, clock, context } = await start(t)
  const key = await createKey('live')
  const client = as(key)

  const createResponse = await client.post('/webhooks', { url: WEBHOOK_URL, description: 'ours' })
  assert.equal(createResponse.status, 201)
  const { secret, ...record } = createResponse.body.data
  const id = record.webhook_id
  const now = new Date(clock.now()).toISOString()
  assert.match(id, /^WH_[0-9A-Z]{26}$/)
  assert.match(secret, /^whsec_[A-Za-z0-9+/]+=*$/)
  assert.ok(Buffer.from(secret.slice(6), 'base64').length >= 24)
  assert.deepEqual(record, {
    webhook_id: id,
    url: WEBHOOK_URL,
    event_types: [...eventTypes],
    description: 'ours',
    status: 'enabled',
    created_via: 'api',
    created_at: now,
    updated_at: now,
  })
  const { rows } = await sql<{ text: string }>`select webhooks::text as text from webhooks`.execute(context.db.queries)
  assert.ok(!rows[0]!.text.includes(Buffer.from(secret).toString('hex')), 'stored encrypted')

  assert.deepEqual((await client.get(`/webhooks/${id}`)).body.data, record)
  clock.advance(SECOND)
  const secondWebhook = await client.post('/webhooks', { url: `${WEBHOOK_URL}/2`, event_types: ['mandate.ready'] })
  assert.deepEqual(secondWebhook.body.data.event_types, ['mandate.ready'])
  assert.ok(!('description' in secondWebhook.body.data))
  const page = await client.get('/webhooks?limit=1')
  assert.deepEqual(
    page.body.data.items.map((item: { webhook_id: string }) => item.webhook_id),
    [secondWebhook.body.data.webhook_id],
  )
  const nextPage = await client.get(`/webhooks?limit=1&cursor=${page.body.data.next_cursor}`)
  assert.equal(nextPage.body.data.items[0].webhook_id, id)
  assert.equal(nextPage.body.data.next_cursor, null)

  const replaceResponse = await client.put(`/webhooks/${id}`, {
    url: `${WEBHOOK_URL}?new`,
    event_types: ['result.failed', 'webhook.test'],
  })
  assert.equal(replaceResponse.status, 200)
  assert.deepEqual(replaceResponse.body.data, {
    ...omit(record, 'description'),
    url: `${WEBHOOK_URL}?new`,
    event_types: ['result.failed', 'webhook.test'],
    updated_at: new Date(clock.now()).toISOString(),
  })

  const archiveResponse = await client.delete(`/webhooks/${id}`)
  assert.equal(archiveResponse.status, 200)
  assert.equal(archiveResponse.body.data.status, 'archived')
  assert.equal((await client.get(`/webhooks/${id}`)).body.data.status, 'archived')
  assert.deepEqual((await client.delete(`/webhooks/${id}`)).body.data, archiveResponse.body.data)
  for (const [method, path, body] of [
    ['put', '', { url: WEBHOOK_URL }],
    ['post', '/rotate-secret', undefined],
    ['post', '/test', undefined],
    ['post', '/disable', undefined],
    ['post', '/enable', undefined],
    ['post', '/replay', { only_failed: true }],
  ] as const) {
    const { status, body: response } = await client[method](`/webhooks/${id}${path}`, body)
    assert.equal(status, 409, path)
    assert.equal(response.error.code, 'CONFLICT')
  }
  assert.equal((await client.get(`/webhooks/${id}/deliveries`)).status, 200)
})

test('requests are checked: schema, URL, key scope, organisation and mode', async (t) => {
  const { as, createKey, fixtures, orgId, context } = await start(t)
  const liveKey = await createKey('live')
  const errorPathsFor = async (body: unknown, key = liveKey) => {
    const { status, body: response } = await as(key).post('/webhooks', body)
    assert.equal(status, 400, JSON.stringify(body))
    assert.equal(response.error.code, 'VALIDATION_FAILED')
    return response.error.details.map(({ path }: { path: string }) => path)
  }
  assert.deepEqual(await errorPathsFor({}), ['url'])
  assert.deepEqual(await errorPathsFor({ url: WEBHOOK_URL, event_types: [] }), ['event_types'])
  assert.deepEqual(await errorPathsFor({ url: WEBHOOK_URL, event_types: ['nope'], extra: 1 }), [
    'extra',
    'event_types[0]',
  ])
  assert.deepEqual(await errorPathsFor({ url: WEBHOOK_URL, event_types: ['mandate.ready', 'mandate.ready'] }), [
    'event_types',
  ])
  assert.deepEqual(await errorPathsFor({ url: `https://x.test/${'a'.repeat(2048)}` }), ['url'])
  for (const url of [
    'http://hooks.example.test/',
    'https://10.0.0.1/',
    'https://127.0.0.1/',
    'https://u:p@x.test/',
    'nope',
    '',
  ]) {
    assert.deepEqual(await errorPathsFor({ url }), ['url'], url)
  }
  const testKey = await createKey('test')
  assert.deepEqual(await errorPathsFor({ url: 'http://192.168.1.1/' }, testKey), ['url'])
  const localWebhook = await as(testKey).post('/webhooks', { url: 'http://127.0.0.1:9999/' })
  assert.equal(localWebhook.status, 201)
  const id = localWebhook.body.data.webhook_id

  const otherOrgKey = await createKey('live', (await fixtures.createOrg('Other')).orgId)
  for (const key of [liveKey, otherOrgKey]) {
    for (const [method, path] of [
      ['get', ''],
      ['get', '/deliveries'],
      ['delete', ''],
      ['post', '/test'],
      ['post', '/disable'],
    ] as const) {
      assert.equal((await as(key)[method](`/webhooks/${id}${path}`)).status, 404, path)
    }
    assert.deepEqual((await as(key).get('/webhooks')).body.data.items, [])
  }
  assert.equal((await as(testKey).get('/webhooks/WH_nope')).status, 400)
  const readOnlyKey = await fixtures.createPartnerKey(orgId, { mode: 'test', scopes: ['webhooks:read'] })
  assert.equal((await as(readOnlyKey).get(`/webhooks/${id}`)).status, 200)
  assert.equal((await as(readOnlyKey).post(`/webhooks/${id}/test`)).body.error.code, 'SCOPE_MISSING')
  const writeOnlyKey = await fixtures.createPartnerKey(orgId, { mode: 'test', scopes: ['webhooks:write'] })
  assert.equal((await as(writeOnlyKey).get(`/webhooks/${id}`)).body.error.code, 'SCOPE_MISSING')
  // A PUT is validated like a POST, and a rejected one changes nothing.
  assert.equal((await as(testKey).put(`/webhooks/${id}`, { url: 'http://10.0.0.1/' })).status, 400)
  assert.equal((await as(testKey).get(`/webhooks/${id}`)).body.data.url, 'http://127.0.0.1:9999/')
  assert.equal((await as(testKey).post(`/webhooks/${id}/enable`, { recover: 'yes' })).status, 400)
  assert.equal((await as(testKey).post(`/webhooks/${id}/disable`, { now: true })).status, 400)

  const { webhook } = await context.db.transaction((tx) =>
    createWebhook(tx, testKey, context, { url: 'http://127.0.0.1:9999/' }, 'playground'),
  )
  const playgroundPath = `/webhooks/${webhook.webhook_id}`
  assert.equal((await as(testKey).get(playgroundPath)).body.data.created_via, 'playground')
  for (const [method, path, body] of [
    ['put', '', { url: 'http://127.0.0.1:9999/' }],
    ['delete', '', undefined],
    ['post', '/rotate-secret', undefined],
    ['post', '/disable', undefined],
    ['post', '/enable', undefined],
  ] as const) {
    assert.equal((await as(testKey)[method](playgroundPath + path, body)).body.error.code, 'FORBIDDEN', path)
  }
})

test('loopback is rejected in TEST mode if the server is publicly reachable, unless the operator allows it', async (t) => {
  const { as, createKey, context } = await start(t, { config: { requireHttps: false } })
  const key = await createKey('test')
  context.config.host = '0.0.0.0'
  for (const url of ['http://127.0.0.1/', 'http://localhost/', 'http://[::1]/'])
    assert.equal((await as(key).post('/webhooks', { url })).body.error?.details[0].path, 'url', url)
  context.config.webhookAllow = ['127.0.0.0/8', 'localhost']
  for (const url of ['http://127.0.0.1/', 'http://localhost/'])
    assert.equal((await as(key).post('/webhooks', { url })).status, 201, url)
})

test('there are at most five unarchived webhooks per mode, even with concurrent requests', async (t) => {
  const { as, createKey } = await start(t)
  const [liveKey, testKey] = [await createKey('live'), await createKey('test')]
  const responses = await Promise.all(
    Array.from({ length: 9 }, () => as(liveKey).post('/webhooks', { url: WEBHOOK_URL })),
  )
  assert.equal(responses.filter(({ status }) => status === 201).length, 5)
  for (const { status, body } of responses.filter(({ status }) => status !== 201)) {
    assert.equal(status, 422)
    assert.equal(body.error.code, 'LIMIT_EXCEEDED')
    assert.match(body.error.message, /GET \/webhooks, and archive one with DELETE \/webhooks\/\{webhook_id\}/)
  }
  assert.equal((await as(testKey).post('/webhooks', { url: WEBHOOK_URL })).status, 201)
  const [listedWebhook] = (await as(liveKey).get('/webhooks')).body.data.items
  await as(liveKey).delete(`/webhooks/${listedWebhook.webhook_id}`)
  assert.equal((await as(liveKey).post('/webhooks', { url: WEBHOOK_URL })).status, 201)
})

test('a retry with the same Idempotency-Key returns the same secret, which is stored encrypted', async (t) => {
  const { as, createKey, context } = await start(t)
  const key = await createKey('live')
  const firstResponse = await as(key).post('/webhooks', { url: WEBHOOK_URL }, { idempotencyKey: 'once' })
  const retryResponse = await as(key).post('/webhooks', { url: WEBHOOK_URL }, { idempotencyKey: 'once' })
  assert.equal(retryResponse.headers.get('idempotency-replayed'), 'true')
  assert.deepEqual(retryResponse.body, firstResponse.body)
  const rotateSecret = () =>
    as(key).post(`/webhooks/${firstResponse.body.data.webhook_id}/rotate-secret`, undefined, { idempotencyKey: 'r' })
  const rotatedResponse = await rotateSecret()
  assert.equal(rotatedResponse.status, 200)
  assert.notEqual(rotatedResponse.body.data.secret, firstResponse.body.data.secret)
  assert.equal((await rotateSecret()).body.data.secret, rotatedResponse.body.data.secret)
  const { rows } = await sql`select 1 from idempotency_records where body is not null`.execute(context.db.queries)
  assert.equal(rows.length, 0)
})

test('events are fanned out to the webhooks that subscribe to their type, and listed newest first', async (t) => {
  const { as, createKey, recordEvents, listDeliveries, clock, context } = await start(t)
  const key = await createKey('live')
  const allTypesId = (await as(key).post('/webhooks', { url: WEBHOOK_URL })).body.data.webhook_id
  const oneTypeId = (await as(key).post('/webhooks', { url: WEBHOOK_URL, event_types: ['mandate.ready'] })).body.data
    .webhook_id
  const otherTypeId = (await as(key).post('/webhooks', { url: WEBHOOK_URL, event_types: ['result.failed'] })).body.data
    .webhook_id
  const ids = await recordEvents(key, { n: 1 }, { n: 2 }, { n: 3 })
  await recordEvents(await createKey('test'), { n: 4 })

  const items = await listDeliveries(key, allTypesId)
  assert.deepEqual(
    items.map((item: { event_id: string }) => item.event_id),
    [...ids].reverse(),
  )
  const now = new Date(clock.now()).toISOString()
  const { delivery_id, ...otherFields } = items[0]
  assert.match(delivery_id, /^WD_[0-9A-HJKMNP-TV-Z]{26}$/)
  assert.deepEqual(otherFields, {
    event_id: ids[2],
    event_type: 'mandate.ready',
    status: 'pending',
    attempts: [],
    next_attempt_at: now,
    created_at: now,
  })
  assert.equal((await listDeliveries(key, oneTypeId)).length, 3)
  assert.notEqual((await listDeliveries(key, oneTypeId))[0].delivery_id, delivery_id)
  assert.deepEqual(await listDeliveries(key, otherTypeId), [])
  assert.deepEqual(await listDeliveries(key, allTypesId, '?status=delivered'), [])
  assert.equal((await listDeliveries(key, allTypesId, '?status=pending')).length, 3)
  const page = (await as(key).get(`/webhooks/${allTypesId}/deliveries?limit=2`)).body.data
  const nextPage = (await as(key).get(`/webhooks/${allTypesId}/deliveries?limit=2&cursor=${page.next_cursor}`)).body
    .data
  assert.deepEqual(
    nextPage.items.map((item: { event_id: string }) => item.event_id),
    [ids[0]],
  )
  assert.equal((await as(key).get(`/webhooks/${oneTypeId}/deliveries?cursor=${page.next_cursor}`)).status, 400)

  const testResponse = await as(key).post(`/webhooks/${otherTypeId}/test`)
  assert.equal(testResponse.status, 202)
  await context.events.flush(key)
  assert.deepEqual(
    (await listDeliveries(key, otherTypeId)).map((item: { event_id: string }) => item.event_id),
    [testResponse.body.data.event_id],
  )
  assert.equal(
    (await listDeliveries(key, allTypesId)).length,
    3,
    'a test event is only sent to the webhook that is tested',
  )
})

test('a replay reports unknown events, selects by IDs or by time, and needs an active webhook', async (t) => {
  const { as, context, createKey, recordEvents, listDeliveries, clock } = await start(t)
  const key = await createKey('live')
  const earlyIds = await recordEvents(key, { n: 1 }, { n: 2 })
  clock.advance(60 * SECOND)
  const { webhook_id: id } = (await as(key).post('/webhooks', { url: WEBHOOK_URL })).body.data
  const lateIds = await recordEvents(key, { n: 3 })
  const replay = async (body: object) => (await as(key).post(`/webhooks/${id}/replay`, body)) as any

  for (const body of [
    {},
    { event_ids: lateIds, from: '2026-03-11T00:00:00Z' },
    { event_ids: lateIds, only_failed: false },
    { only_failed: false },
  ])
    assert.deepEqual((await replay(body)).body.error.details[0].path, 'body', JSON.stringify(body))
  assert.equal((await replay({ event_ids: [] })).status, 400)
  assert.equal((await replay({ event_ids: Array(101).fill(lateIds[0]) })).status, 400)
  assert.equal((await replay({ from: 'yesterday' })).body.error.details[0].path, 'from')
  assert.equal(
    (await replay({ from: '2026-03-12T00:00:00Z', to: '2026-03-11T00:00:00Z' })).body.error.details[0].path,
    'to',
  )
  const foreignIds = await recordEvents(await createKey('test'), { n: 9 })
  const withUnknownIds = await replay({
    event_ids: [earlyIds[0], 'EV_01JP2V5Z6Q0000000000000000', foreignIds[0], 'EV_UNKNOWNUNKNOWN'],
  })
  assert.equal(withUnknownIds.status, 400)
  assert.deepEqual(
    withUnknownIds.body.error.details.map(({ path }: { path: string }) => path),
    ['event_ids[1]', 'event_ids[2]', 'event_ids[3]'],
  )
  assert.equal((await listDeliveries(key, id)).length, 1)

  const replayById = await replay({ event_ids: [earlyIds[0]] })
  assert.equal(replayById.status, 202)
  assert.deepEqual(replayById.body.data, { replayed: 1 })
  assert.equal((await listDeliveries(key, id)).length, 2, 'an event from before the webhook existed')
  assert.equal((await replay({ only_failed: true })).body.data.replayed, 0)
  assert.equal((await replay({ from: new Date(clock.now()).toISOString() })).body.data.replayed, 1)
  assert.equal((await replay({ to: new Date(clock.now()).toISOString() })).body.data.replayed, 2)
  await as(key).put(`/webhooks/${id}`, { url: WEBHOOK_URL, event_types: ['result.failed'] })
  assert.equal((await replay({ from: '2026-03-01T00:00:00Z' })).body.data.replayed, 0)
  const { pool } = context.db
  await pool.query('update webhooks set failing_since = $1 where webhook_id = $2', [new Date(clock.now() - DAY), id])
  await as(key).post(`/webhooks/${id}/disable`)
  assert.equal((await replay({ event_ids: lateIds })).body.error.code, 'CONFLICT')
  assert.equal((await as(key).post(`/webhooks/${id}/test`)).body.error.code, 'CONFLICT')
  await as(key).post(`/webhooks/${id}/enable`)
  const { rows } = await pool.query('select failing_since from webhooks where webhook_id = $1', [id])
  assert.deepEqual(rows, [{ failing_since: null }], 'the day until the endpoint counts as failing begins again')
  await as(key).put(`/webhooks/${id}`, { url: WEBHOOK_URL })
  clock.advance(30 * DAY - 60 * SECOND)
  assert.equal(
    (await replay({ from: '2026-03-01T00:00:00Z' })).body.data.replayed,
    1,
    'two events are older than the retention period',
  )
  assert.equal((await listDeliveries(key, id)).length, 3)
  clock.advance(60 * SECOND)
  assert.deepEqual(await listDeliveries(key, id), [], 'deliveries have the same retention as events')
})

function omit(record: object, name: string) {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))
}
