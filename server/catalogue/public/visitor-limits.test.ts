import assert from 'node:assert/strict'
import { test } from 'node:test'
import fastify from 'fastify'
import { ADMIN_KEY, startApp, type TestApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { MINUTE, SECOND } from '../../platform/clock.ts'
import { limitPublicRequests } from './visitor-limits.ts'

function fetchFrom({ fetch }: TestApp, address: string) {
  return (path: string, init: RequestInit = {}) =>
    fetch(path, { ...init, headers: { 'x-forwarded-for': address, ...init.headers } })
}

type FetchFunction = ReturnType<typeof fetchFrom>

async function repeatCall(get: FetchFunction, path: string, times: number, status = 200, init?: RequestInit) {
  for (let call = 1; call <= times; call++) {
    const response = await get(path, init)
    assert.equal(response.status, status, `call ${call} of ${path}: ${JSON.stringify(response.body)}`)
  }
}

async function assertRejected(get: FetchFunction, path: string, waitSeconds: number, init?: RequestInit) {
  const { status, headers, body } = await get(path, init)
  assert.equal(status, 429, path)
  assert.equal(headers.get('retry-after'), String(waitSeconds))
  assert.equal(headers.get('ratelimit-remaining'), '0')
  assert.equal(headers.get('ratelimit-reset'), String(waitSeconds))
  assert.match(body.error, /^Too many requests/)
  const { requestId, docUrl, ...shown } = body
  assert.deepEqual(shown, { success: false, message: body.error, error: body.error })
  assert.deepEqual([requestId, docUrl.endsWith('/docs/errors#catalogue-429')], [headers.get('x-request-id'), true])
  return { headers, body }
}

const SEARCH_PATH = '/api/skills/search?keyword=welding&limit=1'

const startShared = oncePerFile((t) => startApp(t, { config: { trustProxy: ['127.0.0.1', '10.0.0.0/8'] } }))

let lastAddress = 0

async function setUp() {
  const app = await startShared()
  const { clock } = app
  const fetchFromNewAddress = () => fetchFrom(app, `198.51.100.${++lastAddress}`)
  const admin = { headers: { 'x-api-key': ADMIN_KEY } }
  return { app, clock, fetchFromNewAddress, admin }
}

test('15 searches are allowed in a minute that starts with the first one', async () => {
  const { clock, fetchFromNewAddress } = await setUp()
  const get = fetchFromNewAddress()
  const firstResponse = await get(SEARCH_PATH)
  assert.equal(firstResponse.headers.get('ratelimit-limit'), '15')
  assert.equal(firstResponse.headers.get('ratelimit-remaining'), '14')
  assert.equal(firstResponse.headers.get('ratelimit-reset'), '60')
  clock.advance(20 * SECOND)
  await repeatCall(get, SEARCH_PATH, 14)
  const { headers, body } = await assertRejected(get, SEARCH_PATH, 40)
  assert.equal(headers.get('ratelimit-limit'), '15')
  assert.equal(
    body.error,
    'Too many requests from this IP address: the limit is 15 per minute for searches. Try again in 40 seconds.',
  )
  assert.equal((await get('/api/skills/masters')).status, 200, 'other routes are not limited')
  clock.advance(40 * SECOND - 1)
  await assertRejected(get, SEARCH_PATH, 1)
  clock.advance(1)
  await repeatCall(get, SEARCH_PATH, 1)
})

test('30 calls of the skill routes are allowed in five minutes', async () => {
  const { clock, fetchFromNewAddress } = await setUp()
  const get = fetchFromNewAddress()
  await repeatCall(get, '/api/skills?limit=1', 10)
  clock.advance(2 * MINUTE)
  await repeatCall(get, '/api/skills/masters', 10)
  await repeatCall(get, '/api/skills/sk_1001', 10)
  for (const path of ['/api/skills', '/api/skills/sub-skills', '/api/skills/sk_1', SEARCH_PATH]) {
    const { body } = await assertRejected(get, path, 3 * 60)
    assert.match(body.error, /to prevent scraping/)
  }
  assert.equal((await get('/api/selected-skills?user_id=x')).status, 200, 'selections do not count')
  clock.advance(3 * MINUTE - 1)
  await assertRejected(get, '/api/skills', 1)
  clock.advance(1)
  await repeatCall(get, '/api/skills', 10)
  await assertRejected(get, '/api/skills', 2 * 60)
})

test('100 calls of any kind are allowed in fifteen minutes', async () => {
  const { clock, fetchFromNewAddress, admin } = await setUp()
  const get = fetchFromNewAddress()
  await repeatCall(get, '/api/selected-skills?user_id=x', 40)
  clock.advance(10 * MINUTE)
  await repeatCall(get, '/api/admin/counts', 20, 200, admin)
  await repeatCall(get, '/api/skills/masters', 30)
  await repeatCall(get, '/api/selected-skills/00000000-0000-0000-0000-000000000000', 10, 404)
  for (const path of ['/api/selected-skills?user_id=x', '/api/skills', SEARCH_PATH, '/api/skills/no/route'])
    await assertRejected(get, path, 5 * 60)
  await assertRejected(get, '/api/admin/counts', 5 * 60, admin)
  await assertRejected(get, '/api/selected-skills', 5 * 60, { method: 'POST' })
  assert.equal((await get('/api/nothing')).status, 404, 'not a route of this API')
  assert.equal((await get('/healthz')).status, 200)
  assert.equal((await get('/api/v1/partner/shifts')).status, 401, 'the partner API has separate limits')
  clock.advance(5 * MINUTE)
  await repeatCall(get, '/api/selected-skills?user_id=x', 100)
  await assertRejected(get, '/api/selected-skills?user_id=x', 15 * 60)
})

test('every request counts towards the limits, whatever its response, unless it was rate-limited', async () => {
  const { fetchFromNewAddress, admin } = await setUp()
  const get = fetchFromNewAddress()
  await repeatCall(get, '/api/skills/search?keyword=x', 15, 400)
  await assertRejected(get, SEARCH_PATH, 60)
  for (let call = 0; call < 50; call++) await assertRejected(get, SEARCH_PATH, 60)
  await repeatCall(get, '/api/skills/sk_999999999', 5, 404)
  await repeatCall(get, '/api/skills/no/such/route', 5, 404)
  await repeatCall(get, '/api/skills', 2, 404, { method: 'POST' })
  await repeatCall(get, '/api/skills/%', 1, 404)
  await repeatCall(get, '/api/skills/%ff?page=%', 1, 404)
  await repeatCall(get, '/api/skills', 1, 200, { method: 'HEAD' })
  await assertRejected(get, '/api/skills', 5 * 60)
  await repeatCall(get, '/api/admin/counts', 40, 403)
  await repeatCall(get, '/api/admin/no-such-route', 9, 403)
  await repeatCall(get, '/api/admin/no-such-route', 1, 404, admin)
  await repeatCall(get, '/api/selected-skills', 20, 400)
  await assertRejected(get, '/api/admin/counts', 15 * 60)
  await assertRejected(get, '/api/selected-skills/%zz', 15 * 60)
})

test('requests with a percent-encoded path count towards the same limit', async () => {
  const { fetchFromNewAddress } = await setUp()
  const get = fetchFromNewAddress()
  await repeatCall(get, '/api/%73kills/search?keyword=welding', 15)
  await assertRejected(get, '/api/skills/s%65arch?keyword=welding', 60)
})

test('concurrent calls are limited exactly', async () => {
  const { fetchFromNewAddress } = await setUp()
  const get = fetchFromNewAddress()
  const responses = await Promise.all(Array.from({ length: 40 }, () => get(SEARCH_PATH)))
  assert.equal(responses.filter(({ status }) => status === 200).length, 15)
  const getFromOtherAddress = fetchFromNewAddress()
  const selections = await Promise.all(
    Array.from({ length: 120 }, () => getFromOtherAddress('/api/selected-skills?user_id=x')),
  )
  assert.equal(selections.filter(({ status }) => status === 200).length, 100)
})

test('the client address is the rightmost one that is not a trusted proxy', async () => {
  const { app } = await setUp()
  const get = fetchFrom(app, '203.0.113.1, 192.0.2.7, 10.1.2.3')
  await repeatCall(get, SEARCH_PATH, 15)
  await assertRejected(fetchFrom(app, '192.0.2.7'), SEARCH_PATH, 60)
  await assertRejected(fetchFrom(app, 'anything, 192.0.2.7'), SEARCH_PATH, 60)
  await repeatCall(fetchFrom(app, '203.0.113.1'), SEARCH_PATH, 15)
})

test('IPv6 callers are limited by /64 network, and IPv4-mapped addresses by IPv4 address', async () => {
  const { app } = await setUp()
  for (let host = 1; host <= 15; host++)
    await repeatCall(fetchFrom(app, `2001:db8:1:2:${host}::${host}`), SEARCH_PATH, 1)
  await assertRejected(fetchFrom(app, '2001:db8:1:2:ffff::1'), SEARCH_PATH, 60)
  await repeatCall(fetchFrom(app, '2001:db8:1:3::1'), SEARCH_PATH, 1)
  await repeatCall(fetchFrom(app, '::ffff:192.0.2.99'), SEARCH_PATH, 15)
  await assertRejected(fetchFrom(app, '192.0.2.99'), SEARCH_PATH, 60)
  await repeatCall(fetchFrom(app, '::ffff:192.0.2.98'), SEARCH_PATH, 1)
})

test('the operator can list rate-limited addresses with the limit and its end time', async () => {
  const { app, clock, fetchFromNewAddress, admin } = await setUp()
  clock.advance(30 * MINUTE)
  const get = fetchFromNewAddress()
  const listAddresses = () => get('/api/admin/rate-limits', admin)
  assert.deepEqual((await listAddresses()).body, { data: [], page: 1, limit: 20, count: 0 })
  await repeatCall(fetchFrom(app, '192.0.2.50'), SEARCH_PATH, 15)
  await repeatCall(fetchFrom(app, '2001:db8:9:9::1'), '/api/skills/masters', 30)
  await repeatCall(fetchFrom(app, '192.0.2.51'), '/api/selected-skills?user_id=x', 100)
  await repeatCall(fetchFrom(app, '192.0.2.52'), SEARCH_PATH, 14)
  const timeAfter = (waitMs: number) => new Date(clock.now() + waitMs).toISOString()
  assert.deepEqual((await listAddresses()).body, {
    data: [
      { ip: '192.0.2.51', limit: 'global', until: timeAfter(15 * MINUTE) },
      { ip: '2001:db8:9:9::/64', limit: 'scraping', until: timeAfter(5 * MINUTE) },
      { ip: '192.0.2.50', limit: 'search', until: timeAfter(1 * MINUTE) },
    ],
    page: 1,
    limit: 20,
    count: 3,
  })
  const secondPage = await get('/api/admin/rate-limits?limit=2&page=2', admin)
  assert.deepEqual(secondPage.body.data.length, 1)
  assert.equal((await get('/api/admin/rate-limits?limit=2&page=3', admin)).status, 400)
  clock.advance(1 * MINUTE)
  assert.equal((await listAddresses()).body.count, 2)
})

test('X-Forwarded-For is ignored without TRUST_PROXY', async (t) => {
  const app = await startApp(t)
  for (let host = 1; host <= 15; host++) await repeatCall(fetchFrom(app, `192.0.2.${host}`), SEARCH_PATH, 1)
  await assertRejected(fetchFrom(app, '192.0.2.200'), SEARCH_PATH, 60)
})

test('a public route without rate limits cannot be registered', () => {
  const app = fastify()
  limitPublicRequests(app as never, {} as never)
  assert.throws(() => app.get('/samples', async () => ''), /GET \/samples must declare visitors in its route config/)
})
