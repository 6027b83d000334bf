import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import fastify from 'fastify'
import { sql } from 'kysely'
import { sign } from '../../sdk/index.ts'
import { type StartAppOptions, startApp, type TestApp } from '../../test/support/app.ts'
import type { TestKey } from '../../test/support/call.ts'
import { sendRaw } from '../../test/support/raw-http.ts'
import {
  addSampleResource,
  countSamples,
  createSampleTable,
  type SampleResourceOptions,
} from '../../test/support/sample-resource.ts'
import { until } from '../../test/support/until.ts'
import { HOUR, MINUTE, SECOND } from '../platform/clock.ts'
import { errorText } from '../platform/error-text.ts'
import { MAX_BODY_BYTES } from '../platform/http/body.ts'
import { openKeyring } from './keyring.ts'
import { revokeKey, rotateKey } from './keys.ts'
import { guardPartnerRoutes } from './partner-guards.ts'
import { switchService } from './service-switch.ts'

async function startSampleApp(t: TestContext, options: SampleResourceOptions = {}, startOptions: StartAppOptions = {}) {
  const app = await startApp(t, {
    ...startOptions,
    extend: (server, context) => addSampleResource(server, context, options),
  })
  await createSampleTable(app.context)
  const { orgId, key } = await app.fixtures.createOrg()
  return { ...app, orgId, key }
}

const UNAUTHORIZED_MESSAGE = 'The request could not be authenticated: check the key, the clock and the signature.'

test('a signed call succeeds, and its RateLimit headers describe the minute window of its rate limit class', async (t) => {
  const { as, key } = await startSampleApp(t)
  const { status, body, headers } = await as(key).get('/samples?limit=3')
  assert.equal(status, 200)
  assert.deepEqual(body, { success: true, message: 'Samples', data: { limit: 3 } })
  assert.equal(headers.get('ratelimit-limit'), '1200')
  assert.equal(headers.get('ratelimit-remaining'), '1199')
  assert.equal(headers.get('ratelimit-reset'), '60')
  assert.match(headers.get('x-request-id')!, /^req_/)
})

test('changing any signed part is rejected', async (t) => {
  const { url, clock, key } = await startSampleApp(t)
  const signedRequest = {
    secret: key.secret,
    timestamp: Math.floor(clock.now() / 1000),
    method: 'POST',
    target: '/api/v1/partner/samples?a=1',
    onBehalfOf: 'asha',
    idempotencyKey: 'k-1',
    body: '{"name":"one"}',
  }
  const signature = await sign(signedRequest)
  const send = async (
    changes: Partial<Record<'method' | 'target' | 'body' | 'timestamp' | 'onBehalfOf' | 'idempotencyKey', string>>,
  ) => {
    const sentRequest = { ...signedRequest, ...changes }
    return fetch(url + sentRequest.target, {
      method: sentRequest.method,
      body: sentRequest.body,
      headers: {
        'content-type': 'application/json',
        'x-api-key': key.keyId,
        'x-timestamp': String(sentRequest.timestamp),
        'x-signature': signature,
        'x-on-behalf-of': sentRequest.onBehalfOf,
        'idempotency-key': sentRequest.idempotencyKey,
      },
    })
  }
  assert.equal((await send({})).status, 201)
  const tamperedParts = [
    { method: 'PUT' },
    { target: '/api/v1/partner/paid-samples?a=1' },
    { target: '/api/v1/partner/samples?a=2' },
    { target: '/api/v1/partner/samples' },
    { target: '/api/v1/partner//samples?a=1' },
    { target: '/api/v1/partner/%73amples?a=1' },
    { body: '{"name":"two"}' },
    { body: '{"name":"one"} ' },
    { timestamp: String(signedRequest.timestamp + 1) },
    { onBehalfOf: 'vikram' },
    { idempotencyKey: 'k-2' },
  ]
  for (const change of tamperedParts) {
    const { status } = await send(change)
    // Unknown paths and methods are rejected before the signature is checked.
    const isUnrouted = 'method' in change || change.target?.includes('//')
    assert.equal(status, isUnrouted ? 404 : 401, JSON.stringify(change))
  }
})

test('all authentication failures return the same response', async (t) => {
  const { as, fixtures, context, clock, key, orgId } = await startSampleApp(t)
  const expiredKey = await fixtures.createPartnerKey(orgId, { expiresAt: new Date(clock.now() + MINUTE) })
  const revokedKey = await fixtures.createPartnerKey(orgId)
  await context.db.transaction((tx) => revokeKey(tx, clock, revokedKey.keyId))
  await context.keyring.refresh()
  const otherOrganisation = await fixtures.createOrg('Other')
  clock.advance(MINUTE)
  const staleTimestamp = String(Math.floor(clock.now() / 1000) - 301)
  const causes: [string, TestKey, Record<string, string | undefined>][] = [
    ['missing key', key, { 'x-api-key': undefined }],
    ['unknown key', { ...key, keyId: 'VFN_LIVE_AAAAAAAAAAAAAAAAAAAAAAAA' }, {}],
    ['malformed key', { ...key, keyId: 'hello' }, {}],
    ['missing timestamp', key, { 'x-timestamp': undefined }],
    ['stale timestamp', key, { 'x-timestamp': staleTimestamp }],
    ['timestamp that is not a number', key, { 'x-timestamp': 'now' }],
    ['missing signature', key, { 'x-signature': undefined }],
    ['malformed signature', key, { 'x-signature': 'v1=zz' }],
    ["another key's secret", { ...key, secret: otherOrganisation.key.secret }, {}],
    ['expired key', expiredKey, {}],
    ['revoked key', revokedKey, {}],
  ]
  for (const [cause, callerKey, headers] of causes) {
    const { status, body } = await as(callerKey).get('/samples', { headers })
    assert.equal(status, 401, cause)
    const header = /^missing (\w+)$/.exec(cause)?.[1]
    const name = header === 'key' ? 'x-api-key' : `x-${header}`
    const error = header
      ? {
          message: `The request could not be authenticated: ${name} is missing. Sign the request as described in /docs/guides/sign-your-first-request.`,
          details: [{ path: `headers.${name}`, message: 'is missing' }],
        }
      : { message: UNAUTHORIZED_MESSAGE, details: [] }
    const { request_id, doc_url, ...shown } = body.error
    assert.deepEqual([body.success, shown], [false, { code: 'UNAUTHORIZED', ...error }], cause)
    assert.match(doc_url, /^http:\/\/127\.0\.0\.1:\d+\/docs\/errors#partner-UNAUTHORIZED$/)
    assert.match(request_id, /^req_/)
  }
})

test('a request without signature headers, or with a session key, is told which header is wrong', async (t) => {
  const { fetch, fixtures, orgId } = await startSampleApp(t)
  const { body } = await fetch('/api/v1/partner/samples')
  assert.match(body.error.message, /: x-api-key is missing; x-timestamp is missing; x-signature is missing\. /)
  const sessionKey = await fixtures.createSessionKey(orgId)
  const { body: sessionKeyBody } = await fetch('/api/v1/partner/samples', { headers: { 'x-api-key': sessionKey } })
  assert.match(sessionKeyBody.error.message, /x-api-key is a session key .* requires a partner key/)
  const { secret } = await fixtures.createPartnerKey(orgId)
  const { body: secretBody } = await fetch('/api/v1/partner/samples', { headers: { 'x-api-key': secret } })
  assert.match(secretBody.error.message, /x-api-key is a secret \(VFN_SK_…\), .* send the key ID \(VFN_TEST_… or/)
  assert.ok(!JSON.stringify(secretBody).includes(secret))
})

test('the owner of a revoked or expired TEST key learns the reason', async (t) => {
  const { as, fixtures, context, clock, orgId } = await startSampleApp(t)
  const revokedKey = await fixtures.createPartnerKey(orgId, { mode: 'test' })
  const expiredKey = await fixtures.createPartnerKey(orgId, { mode: 'test', expiresAt: new Date(clock.now() + MINUTE) })
  await context.db.transaction((tx) => revokeKey(tx, clock, revokedKey.keyId))
  await context.keyring.refresh()
  clock.advance(MINUTE)
  for (const [key, message] of [
    [revokedKey, 'was revoked; use another key'],
    [expiredKey, 'has expired; use another key'],
  ] as const) {
    const keyDetails = async (secret: string) => {
      const { body } = await as({ ...key, secret }).get('/samples')
      return body.error.details.filter(({ path }: { path: string }) => path === 'headers.x-api-key')
    }
    assert.deepEqual(await keyDetails(key.secret), [{ path: 'headers.x-api-key', message }])
    assert.deepEqual(await keyDetails('VFN_SK_WRONG'), [])
  }
})

test('an unknown TEST key is reported; of LIVE keys, nothing is revealed', async (t) => {
  const { as, key } = await startSampleApp(t)
  const detailsFor = async (keyId: string) => {
    const { status, body } = await as({ ...key, keyId }).get('/samples')
    assert.deepEqual([status, body.error.message], [401, UNAUTHORIZED_MESSAGE])
    return body.error.details
  }
  assert.deepEqual(await detailsFor('VFN_TEST_AAAAAAAAAAAAAAAAAAAAAAAA'), [
    {
      path: 'headers.x-api-key',
      message: 'is not a TEST key of this server; check the key ID and the address of the server',
    },
  ])
  assert.deepEqual(await detailsFor('VFN_LIVE_AAAAAAAAAAAAAAAAAAAAAAAA'), [])
})

test('a valid TEST key receives the clock difference and the string to sign, never the signature', async (t) => {
  const { as, fixtures, clock, orgId } = await startSampleApp(t)
  const key = await fixtures.createPartnerKey(orgId, { mode: 'test' })
  const futureTimestamp = String(Math.floor(clock.now() / 1000) + 400)
  const { status, body } = await as(key).post(
    '/samples',
    { name: 'x' },
    { onBehalfOf: 'asha', headers: { 'x-timestamp': futureTimestamp } },
  )
  assert.equal(status, 401)
  assert.equal(body.error.message, UNAUTHORIZED_MESSAGE)
  const [clockHint, linesHint] = body.error.details
  assert.equal(clockHint.path, 'headers.x-timestamp')
  assert.match(clockHint.message, /^Your clock is 400 seconds ahead of the server's/)
  const pastTimestamp = String(Math.floor(clock.now() / 1000) - 400)
  const past = await as(key).get('/samples', { headers: { 'x-timestamp': pastTimestamp } })
  assert.match(past.body.error.details[0].message, /^Your clock is 400 seconds behind the server's/)
  assert.equal(linesHint.path, 'headers.x-signature')
  assert.ok(
    linesHint.message.includes(`VFN1\n${futureTimestamp}\nPOST\n/api/v1/partner/samples\nasha\n\n`),
    linesHint.message,
  )
  const expectedSignature = await sign({
    secret: key.secret,
    timestamp: Number(futureTimestamp),
    method: 'POST',
    target: '/api/v1/partner/samples',
    onBehalfOf: 'asha',
    body: '{"name":"x"}',
  })
  assert.ok(!JSON.stringify(body).includes(expectedSignature.slice(3)))
})

test('the clocks of caller and server may differ by at most 300 seconds in either direction', async (t) => {
  const { as, clock, key } = await startSampleApp(t)
  const now = Math.floor(clock.now() / 1000)
  for (const [difference, status] of [
    [-300, 200],
    [300, 200],
    [-301, 401],
    [301, 401],
  ] as const) {
    clock.set((now - difference) * SECOND)
    const client = as(key)
    clock.set((now - difference) * SECOND)
    const response = client.get('/samples')
    clock.set(now * SECOND)
    assert.equal((await response).status, status, String(difference))
  }
})

test('after a rotation, the previous secret is valid until its grace period ends, and older ones are not', async (t) => {
  const { as, context, clock, key } = await startSampleApp(t)
  const rotate = async () => {
    const { secret } = await context.db.transaction((tx) => rotateKey(tx, context.vault, clock, key.keyId))
    await context.keyring.refresh()
    return { ...key, secret }
  }
  const secondKey = await rotate()
  assert.equal((await as(key).get('/samples')).status, 200)
  assert.equal((await as(secondKey).get('/samples')).status, 200)
  const thirdKey = await rotate()
  assert.equal((await as(key).get('/samples')).status, 401)
  assert.equal((await as(secondKey).get('/samples')).status, 200)
  clock.advance(24 * HOUR)
  assert.equal((await as(secondKey).get('/samples')).status, 401)
  assert.equal((await as(thirdKey).get('/samples')).status, 200)
})

test('a key revoked by another process is rejected when the server is notified', async (t) => {
  const { as, fixtures, context, clock, orgId } = await startSampleApp(t)
  const key = await fixtures.createPartnerKey(orgId)
  assert.equal((await as(key).get('/samples')).status, 200)
  await context.db.transaction((tx) => revokeKey(tx, clock, key.keyId))
  await until(async () => (await as(key).get('/samples')).status === 401)
})

test('without notifications, keys read more than a second ago are refreshed before they are used', async (t) => {
  const { context, fixtures, clock, orgId } = await startSampleApp(t)
  const { keyId } = await fixtures.createPartnerKey(orgId)
  const silentListener = { ...context.listener, on: async () => {} }
  const keyring = await openKeyring({ ...context, listener: silentListener })
  t.after(() => keyring.close())
  await context.db.transaction((tx) => revokeKey(tx, clock, keyId))
  assert.equal(keyring.partnerKey(keyId)?.revoked, false)
  const now = performance.now()
  t.mock.method(performance, 'now', () => now + 1000)
  await keyring.refreshIfStale()
  assert.equal(keyring.partnerKey(keyId)?.revoked, true)
})

test('calls that waited three seconds for keys that could not be read fail with it, instead of waiting for another query', async (t) => {
  const { context } = await startSampleApp(t)
  const { db } = context
  const keyring = await openKeyring({ ...context, listener: { ...context.listener, on: async () => {} } })
  t.after(() => keyring.close())
  const { calls } = await db.transaction(async (tx) => {
    // The query of the keyring waits for this lock until its connection is closed.
    await sql`lock table access_version in access exclusive mode`.execute(tx)
    const firstCall = keyring.refresh().then(() => 'refreshed', errorText)
    await until(async () => (await terminateWaitingQueries(db, false)) === 1)
    const secondCall = keyring.refresh().then(() => 'refreshed', errorText)
    const now = performance.now()
    t.mock.method(performance, 'now', () => now + 3000)
    await terminateWaitingQueries(db, true)
    return { calls: [await firstCall, secondCall] }
  })
  const errors = await Promise.all(calls)
  assert.match(errors[0]!, /terminating connection/)
  assert.equal(errors[1], errors[0])
})

/** Counts the queries for the version of the keys that wait for a lock, and closes their connections if `terminate` is true. */
async function terminateWaitingQueries({ queries }: TestApp['context']['db'], terminate: boolean): Promise<number> {
  const { rows } = await sql`
    select case when ${terminate} then pg_terminate_backend(pid) end from pg_stat_activity
    where datname = current_database() and query like '%"access_version"%' and wait_event_type = 'Lock'`.execute(
    queries,
  )
  return rows.length
}

test('failed authentications are limited per address, and valid calls still succeed', async (t) => {
  const { as, clock, key } = await startSampleApp(t)
  const wrongSecretClient = as({ ...key, secret: 'VFN_SK_wrong' })
  const statuses = await Promise.all(
    Array.from({ length: 65 }, () => wrongSecretClient.get('/samples').then(({ status }) => status)),
  )
  assert.equal(statuses.filter((status) => status === 401).length, 60)
  assert.equal(statuses.filter((status) => status === 429).length, 5)
  const limitedResponse = await wrongSecretClient.get('/samples')
  assert.equal(limitedResponse.body.error.code, 'RATE_LIMITED')
  assert.ok(Number(limitedResponse.headers.get('retry-after')) >= 1)
  assert.equal(limitedResponse.headers.get('ratelimit-limit'), null)
  assert.equal((await as(key).get('/samples')).status, 200)
  clock.advance(MINUTE)
  assert.equal((await wrongSecretClient.get('/samples')).status, 401)
})

test('if HTTPS is required, plain HTTP is rejected before all other checks, unless a trusted proxy received HTTPS', async (t) => {
  const { as, key } = await startSampleApp(t, {}, { config: { requireHttps: true, trustProxy: ['127.0.0.1'] } })
  const httpResponse = await as({ ...key, secret: 'wrong' }).post('/samples', 'x'.repeat(MAX_BODY_BYTES + 1))
  assert.equal(httpResponse.status, 403)
  assert.equal(httpResponse.body.error.code, 'HTTPS_REQUIRED')
  assert.equal((await as(key).get('/samples', { headers: { 'x-forwarded-proto': 'https' } })).status, 200)
  assert.equal((await as(key).get('/samples', { headers: { 'x-forwarded-proto': 'https, http' } })).status, 403)
})

test('X-Forwarded headers from untrusted addresses are ignored', async (t) => {
  const { as, key } = await startSampleApp(t, {}, { config: { requireHttps: true, trustProxy: ['10.0.0.0/8'] } })
  assert.equal((await as(key).get('/samples', { headers: { 'x-forwarded-proto': 'https' } })).status, 403)
})

test('checks run in order: a rejected call does not reach the later checks and is not charged to their limits', async (t) => {
  const { as, fixtures, context, orgId, key } = await startSampleApp(t, { scope: 'mandates:write' })
  const wrongSecretKey = { ...key, secret: 'VFN_SK_wrong' }
  const largeBody = JSON.stringify({ name: 'x'.repeat(MAX_BODY_BYTES) })
  // The size is checked before the media type, and the media type before the signature.
  assert.equal(
    (await as(wrongSecretKey).post('/samples', largeBody, { headers: { 'content-type': 'text/plain' } })).body.error
      .code,
    'PAYLOAD_TOO_LARGE',
  )
  assert.equal(
    (await as(wrongSecretKey).post('/samples', 'hello', { headers: { 'content-type': 'text/plain' } })).body.error.code,
    'UNSUPPORTED_MEDIA_TYPE',
  )
  // The signature is checked before the service switch.
  await context.db.transaction((tx) => switchService(tx, context.clock, { orgId, state: 'api_off' }))
  await context.keyring.refresh()
  assert.equal((await as(wrongSecretKey).post('/samples', {})).status, 401)
  // The service switch is checked before the rate limits.
  const disabledResponse = await as(key).post('/samples', {})
  assert.equal(disabledResponse.status, 503)
  assert.equal(disabledResponse.body.error.code, 'SERVICE_DISABLED')
  assert.equal(disabledResponse.headers.get('ratelimit-limit'), '300')
  assert.equal(disabledResponse.headers.get('ratelimit-remaining'), '300', 'nothing was charged')
  await context.db.transaction((tx) => switchService(tx, context.clock, { orgId, state: 'on' }))
  await context.keyring.refresh()
  // The rate limits are checked before the scope, the scope before the schema, and the schema before idempotency.
  const readOnlyKey = await fixtures.createPartnerKey(orgId, { scopes: ['mandates:read'], mode: 'test' })
  const firstResponse = await as(readOnlyKey).post('/samples', {})
  assert.equal(firstResponse.status, 403)
  assert.equal(firstResponse.body.error.code, 'SCOPE_MISSING')
  assert.match(firstResponse.body.error.message, /mandates:write/)
  assert.equal(firstResponse.headers.get('ratelimit-remaining'), '29', 'the call was charged')
  await as(readOnlyKey).post('/samples', {})
  const limitedResponse = await as(readOnlyKey).post('/samples', {})
  assert.equal(limitedResponse.status, 429)
  assert.equal(limitedResponse.body.error.code, 'RATE_LIMITED')
  assert.equal(limitedResponse.headers.get('ratelimit-remaining'), '28', 'a rejected call is not charged')
  const invalidResponse = await as(key).post('/samples', { nome: 1 }, { idempotencyKey: 'k' })
  assert.equal(invalidResponse.status, 400)
  assert.deepEqual(invalidResponse.body.error.details, [
    { path: 'name', message: 'is required' },
    { path: 'nome', message: 'is not a known property; did you mean name?' },
  ])
  assert.equal(
    (await as(key).post('/samples', { name: 'valid' }, { idempotencyKey: 'k' })).status,
    201,
    'validation errors are not stored',
  )
})

test('the partner API can be disabled for one organisation, or for all', async (t) => {
  const { as, fixtures, context, orgId, key } = await startSampleApp(t)
  const otherOrganisation = await fixtures.createOrg('Other')
  const statuses = async () => [
    (await as(key).get('/samples')).status,
    (await as(otherOrganisation.key).get('/samples')).status,
  ]
  const setDisabled = async (disabled: boolean, organisationId?: string) => {
    await context.db.transaction((tx) =>
      switchService(tx, context.clock, { orgId: organisationId, state: disabled ? 'api_off' : 'on' }),
    )
    await context.keyring.refresh()
  }
  await setDisabled(true, orgId)
  assert.deepEqual(await statuses(), [503, 200])
  await setDisabled(true)
  assert.deepEqual(await statuses(), [503, 503])
  await setDisabled(false)
  assert.deepEqual(await statuses(), [503, 200])
  await setDisabled(false, orgId)
  assert.deepEqual(await statuses(), [200, 200])
})

test('a body of exactly 262,144 bytes passes the size check, one more byte does not', async (t) => {
  const { as, key } = await startSampleApp(t)
  const bodyOfSize = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`
  assert.equal(Buffer.byteLength(bodyOfSize(MAX_BODY_BYTES)), 262_144)
  assert.equal((await as(key).post('/samples', bodyOfSize(MAX_BODY_BYTES))).body.error.code, 'VALIDATION_FAILED')
  const tooLargeResponse = await as(key).post('/samples', bodyOfSize(MAX_BODY_BYTES + 1))
  assert.equal(tooLargeResponse.status, 413)
  assert.equal(tooLargeResponse.body.error.code, 'PAYLOAD_TOO_LARGE')
})

test('chunked bodies are signed, limited and read like other bodies', async (t) => {
  const { url, clock, key } = await startSampleApp(t)
  const send = async (body: string) => {
    const target = '/api/v1/partner/samples'
    const timestamp = Math.floor(clock.now() / 1000)
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'x-api-key': key.keyId,
      'x-timestamp': String(timestamp),
      'x-signature': await sign({ secret: key.secret, timestamp, method: 'POST', target, body }),
    }
    return new Promise<number>((resolve, reject) => {
      const clientRequest = httpRequest(url + target, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode!)
      })
      clientRequest.on('error', reject)
      for (let at = 0; at < body.length; at += 50_000) clientRequest.write(body.slice(at, at + 50_000))
      clientRequest.end()
    })
  }
  assert.equal(await send('{"name":"in pieces"}'), 201)
  assert.equal(await send(`{"name":"${'x'.repeat(MAX_BODY_BYTES)}"}`), 413)
})

test('a body shorter than its Content-Length has no effect', async (t) => {
  const { url, context, clock, key } = await startSampleApp(t)
  const timestamp = Math.floor(clock.now() / 1000)
  const signature = await sign({
    secret: key.secret,
    timestamp,
    method: 'POST',
    target: '/api/v1/partner/samples',
    body: '{"name":"x"}',
  })
  const { port } = new URL(url)
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.end(
        `POST /api/v1/partner/samples HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-api-key: ${key.keyId}\r\nx-timestamp: ${timestamp}\r\nx-signature: ${signature}\r\ncontent-length: 500\r\n\r\n{"name":"x"}`,
      )
    })
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
    socket.resume()
  })
  assert.equal(await countSamples(context), 0)
})

test('JSON in UTF-8 is accepted, all other media types are rejected', async (t) => {
  const { as, key } = await startSampleApp(t)
  const post = (contentType: string | undefined, extraHeaders = {}) =>
    as(key).post('/samples', { name: 'x' }, { headers: { 'content-type': contentType, ...extraHeaders } })
  for (const type of ['application/json', 'application/json;charset=UTF-8', 'Application/JSON; charset="utf-8"'])
    assert.equal((await post(type)).status, 201, type)
  for (const type of [
    'text/plain',
    'application/json; charset=latin1',
    'application/xml',
    'application/jsonp',
    'multipart/form-data; boundary=x',
  ]) {
    const { status, body } = await post(type)
    assert.equal(status, 415, type)
    assert.equal(body.error.code, 'UNSUPPORTED_MEDIA_TYPE')
  }
  assert.equal((await post('application/json', { 'content-encoding': 'gzip' })).status, 415)
  const shortBody = await as(key).post('/samples', 1, { headers: { 'content-type': 'text/plain' } })
  assert.equal(shortBody.status, 415, 'a body of one byte')
})

test('x-on-behalf-of must have 1 to 128 printable ASCII characters', async (t) => {
  const { as, key } = await startSampleApp(t)
  assert.equal((await as(key).get('/samples', { onBehalfOf: 'a'.repeat(128) })).status, 200)
  const longNameResponse = await as(key).get('/samples', { onBehalfOf: 'a'.repeat(129) })
  assert.equal(longNameResponse.status, 400)
  assert.deepEqual(longNameResponse.body.error.details, [
    { path: 'headers.x-on-behalf-of', message: 'must be 1 to 128 printable ASCII characters' },
  ])
  const emptyNameResponse = await as(key).get('/samples', { headers: { 'x-on-behalf-of': '' } })
  assert.equal(emptyNameResponse.status, 400)
})

test('non-ASCII header bytes are signed as sent, then rejected', async (t) => {
  const { url, clock, key } = await startSampleApp(t)
  const target = '/api/v1/partner/samples'
  const timestamp = Math.floor(clock.now() / 1000)
  const signature = await sign({ secret: key.secret, timestamp, method: 'GET', target, onBehalfOf: 'आशा' })
  const { port } = new URL(url)
  const response = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        Buffer.from(
          `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-api-key: ${key.keyId}\r\nx-timestamp: ${timestamp}\r\nx-signature: ${signature}\r\nx-on-behalf-of: आशा\r\n\r\n`,
        ),
      )
    })
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
  assert.match(response, /^HTTP\/1.1 400 /)
  assert.match(response, /headers\.x-on-behalf-of/)
})

test('a signed unicode query is read exactly as sent', async (t) => {
  const { as, key } = await startSampleApp(t)
  assert.equal((await as(key).get('/samples?q=%E0%A4%AC%E0%A4%BF&x=a+b%20c&&=')).status, 200)
})

test('path and query are signed, even if the request line contains the scheme and the host too', async (t) => {
  const { url, clock, key } = await startSampleApp(t)
  const target = '/api/v1/partner/samples?limit=3'
  const timestamp = Math.floor(clock.now() / 1000)
  const signature = await sign({ secret: key.secret, timestamp, method: 'GET', target })
  const headers = ['host: x', `x-api-key: ${key.keyId}`, `x-timestamp: ${timestamp}`, `x-signature: ${signature}`]
  const { status, body } = await sendRaw(
    url,
    `GET http://localhost${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\nconnection: close\r\n\r\n`,
  )
  assert.deepEqual([status, body.data], [200, { limit: 3 }])
})

test('a malformed ID in the URL path returns 400 with a detail for path.id', async (t) => {
  const { as, key } = await startSampleApp(t)
  const { status, body } = await as(key).get('/samples/nonsense')
  assert.equal(status, 400)
  assert.deepEqual(body.error.details, [
    { path: 'path.id', message: 'must be an ID such as SM_01HZX…; got "nonsense"' },
  ])
})

test('invalid query parameters are reported, unknown ones are ignored', async (t) => {
  const { as, key } = await startSampleApp(t)
  for (const [query, message] of [
    ['limit=0', 'must be at least 1; got 0'],
    ['limit=101', 'must be at most 100; got 101'],
    ['limit=ten', 'must be a whole number; got "ten"'],
    ['limit=1.5', 'must be a whole number; got "1.5"'],
    ['limit=', 'must be a whole number; got ""'],
    ['limit=1&limit=2', 'must be a whole number; got an array'],
  ]) {
    const { status, body } = await as(key).get(`/samples?${query}`)
    assert.equal(status, 400, query)
    assert.deepEqual(body.error.details, [{ path: 'query.limit', message }], query)
  }
  assert.deepEqual((await as(key).get('/samples?colour=red')).body.data, { limit: 25 })
})

test('unexpected errors reveal nothing about the cause', async (t) => {
  const { as, key, logLines } = await startSampleApp(t)
  const { status, body, headers } = await as(key).get('/broken')
  assert.equal(status, 500)
  assert.equal(body.error.code, 'SERVER_ERROR')
  assert.ok(!JSON.stringify(body).includes('hunter2'))
  assert.ok(logLines.some((line) => line.includes('unexpected error') && line.includes(headers.get('x-request-id')!)))
})

test('malformed JSON, a body of the wrong type and a missing body have different errors', async (t) => {
  const { as, key } = await startSampleApp(t)
  const errorFor = async (body: string | undefined) => (await as(key).post('/samples', body)).body.error
  assert.equal((await errorFor('{"name":')).code, 'VALIDATION_FAILED')
  assert.equal((await errorFor('{"name":')).details[0].path, 'body')
  const missingEnd =
    /^The body is not valid JSON: the end is missing, such as a closing quotation mark, bracket or brace\.$/
  for (const cut of ['{', '{"name": "x"', '{"name": "x', '{"name":"\u0939"', '[1'])
    assert.match((await errorFor(cut)).message, missingEnd, cut)
  assert.match((await errorFor('{"name": x}')).message, /^The body is not valid JSON: unexpected character/)
  assert.match((await errorFor('\ufeff{"name":"x"}')).message, /starts with a byte order mark .* without one/)
  assert.deepEqual((await errorFor('[1]')).details, [
    { path: 'body', message: 'must be an object with name; got an array' },
  ])
  assert.deepEqual((await errorFor(undefined)).details, [{ path: 'body', message: 'a JSON body is required' }])
  assert.deepEqual((await errorFor('{"name":"a\\u0000b"}')).details, [
    { path: 'name', message: 'must not contain a NUL character' },
  ])
  assert.deepEqual((await errorFor('{"name":"\\ud800"}')).details, [
    { path: 'name', message: 'must not contain an unpaired surrogate' },
  ])
  assert.match((await errorFor(`${'['.repeat(5000)}"\\u0041"${']'.repeat(5000)}`)).details[0].message, /nested/)
})

test('the length of a text is its number of code points', async (t) => {
  const { as, key } = await startSampleApp(t)
  assert.equal((await as(key).post('/samples', { name: '👷'.repeat(40) })).status, 201)
  assert.equal((await as(key).post('/samples', { name: '👷'.repeat(41) })).status, 400)
})

test('TEST and LIVE keys of one organisation have separate limits', async (t: TestContext) => {
  const app: TestApp & { orgId: string; key: TestKey } = await startSampleApp(t)
  const testKey = await app.fixtures.createPartnerKey(app.orgId, { mode: 'test' })
  assert.equal((await app.as(testKey).get('/samples')).headers.get('ratelimit-limit'), '120')
  assert.equal((await app.as(app.key).get('/samples')).headers.get('ratelimit-limit'), '1200')
})

test('all errors in path, query, headers and body are reported together', async (t) => {
  const { as, key } = await startSampleApp(t)
  const { status, body } = await as(key).put(
    '/samples/nonsense?limit=0',
    { colour: 1 },
    { onBehalfOf: 'x'.repeat(129) },
  )
  assert.equal(status, 400)
  assert.deepEqual(
    body.error.details.map(({ path }: { path: string }) => path),
    ['path.id', 'query.limit', 'name', 'colour', 'headers.x-on-behalf-of'],
  )
  assert.match(body.error.message, /^The request has 5 validation errors/)
})

test('a request with more errors than can be listed is rejected', async (t) => {
  const { as, key, context } = await startSampleApp(t)
  const unknownProperties = Array.from({ length: 12_000 }, (_, index) => `"${index.toString(36)}x":1`).join(',')
  for (const name of ['"fine"', '""', '5', `"${'y'.repeat(50_000)}"`]) {
    const { status, body } = await as(key).post('/samples', `{"name":${name},${unknownProperties}}`)
    assert.equal(status, 400, name.slice(0, 10))
    assert.equal(body.error.code, 'VALIDATION_FAILED')
    assert.ok(body.error.details.length > 0 && body.error.details.length <= 1000)
  }
  assert.equal(await countSamples(context), 0)
})

test('a small request cannot cause a huge response', async (t) => {
  const { as, key } = await startSampleApp(t)
  const body = `{"name":"x","${'k'.repeat(12_000)}":[${Array(15_000).fill('"\\u0000"').join(',')}]}`
  const response = await as(key).post('/samples', body)
  assert.equal(response.status, 400)
  assert.ok(JSON.stringify(response.body).length < 100_000)
})

test('texts that cannot be stored are reported with the other errors, also in queries', async (t) => {
  const { as, key } = await startSampleApp(t)
  const bodyResponse = await as(key).post('/samples', '{"name":"a\\u0000b","colour":1}')
  assert.deepEqual(
    bodyResponse.body.error.details.map(({ path }: { path: string }) => path),
    ['colour', 'name'],
  )
  const queryResponse = await as(key).get('/skills/search?q=wel%00ding')
  assert.equal(queryResponse.status, 400)
  assert.deepEqual(queryResponse.body.error.details, [{ path: 'query.q', message: 'must not contain a NUL character' }])
})

test('a route without a scope or a rate limit class cannot be registered', () => {
  const app = fastify()
  guardPartnerRoutes(app as never, { config: {} } as never)
  for (const config of [{}, { scope: 'events:read' }, { limit: 'reads' }] as const)
    assert.throws(
      () => app.get('/samples', { config: config as never }, async () => ''),
      /GET \/samples must declare its scope/,
    )
})
