import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { sign } from '../../sdk/index.ts'
import { type StartOptions, startApp, type TestApp, type TestKey } from '../../test/support/app.ts'
import { addThings, countThings, createThingsTable, type ThingsOptions } from '../../test/support/sample-resource.ts'
import { HOUR, MINUTE, SECOND } from '../platform/clock.ts'
import { BODY_LIMIT } from '../platform/http/body.ts'
import { revokeKey, rotateKey } from './keys.ts'
import { switchService } from './organisations.ts'

async function startThings(t: TestContext, options: ThingsOptions = {}, start: StartOptions = {}) {
  const app = await startApp(t, { ...start, extend: (server, context) => addThings(server, context, options) })
  await createThingsTable(app.context)
  const { orgId, key } = await app.given.org()
  return { ...app, orgId, key }
}

const UNAUTHORIZED = 'The request could not be authenticated: check the key, the clock and the signature.'

test('a signed call passes and carries the minute window of its class', async (t) => {
  const { as, key } = await startThings(t)
  const { status, body, headers } = await as(key).get('/things?limit=3')
  assert.equal(status, 200)
  assert.deepEqual(body, { success: true, message: 'Things', data: { limit: 3 } })
  assert.equal(headers.get('ratelimit-limit'), '1200')
  assert.equal(headers.get('ratelimit-remaining'), '1199')
  assert.equal(headers.get('ratelimit-reset'), '60')
  assert.match(headers.get('x-request-id')!, /^req_/)
})

test('tampering with any signed part is refused', async (t) => {
  const { url, clock, key } = await startThings(t)
  const signed = {
    secret: key.secret,
    timestamp: Math.floor(clock.now() / 1000),
    method: 'POST',
    target: '/api/v1/partner/things?a=1',
    onBehalfOf: 'asha',
    idempotencyKey: 'k-1',
    body: '{"name":"one"}',
  }
  const signature = await sign(signed)
  const send = async (
    changes: Partial<Record<'method' | 'target' | 'body' | 'timestamp' | 'onBehalfOf' | 'idempotencyKey', string>>,
  ) => {
    const sent = { ...signed, ...changes }
    return fetch(url + sent.target, {
      method: sent.method,
      body: sent.body,
      headers: {
        'content-type': 'application/json',
        'x-api-key': key.keyId,
        'x-timestamp': String(sent.timestamp),
        'x-signature': signature,
        'x-on-behalf-of': sent.onBehalfOf,
        'idempotency-key': sent.idempotencyKey,
      },
    })
  }
  assert.equal((await send({})).status, 201)
  const tampered = [
    { method: 'PUT' },
    { target: '/api/v1/partner/paid-things?a=1' },
    { target: '/api/v1/partner/things?a=2' },
    { target: '/api/v1/partner/things' },
    { target: '/api/v1/partner//things?a=1' },
    { target: '/api/v1/partner/%74hings?a=1' },
    { body: '{"name":"two"}' },
    { body: '{"name":"one"} ' },
    { timestamp: String(signed.timestamp + 1) },
    { onBehalfOf: 'vikram' },
    { idempotencyKey: 'k-2' },
  ]
  for (const change of tampered) {
    const { status } = await send(change)
    // A path or method that no route has is answered before anybody looks at signatures.
    const unrouted = 'method' in change || change.target?.includes('//')
    assert.equal(status, unrouted ? 404 : 401, JSON.stringify(change))
  }
})

test('every cause gets one and the same answer', async (t) => {
  const { as, given, context, clock, key, orgId } = await startThings(t)
  const expired = await given.key(orgId, { expiresAt: new Date(clock.now() + MINUTE) })
  const revoked = await given.key(orgId)
  await context.db.transaction((tx) => revokeKey(tx, clock, revoked.keyId))
  await context.keyring.refresh()
  const other = await given.org('Other')
  clock.advance(MINUTE)
  const stale = String(Math.floor(clock.now() / 1000) - 301)
  const causes: [string, TestKey, Record<string, string | undefined>][] = [
    ['missing key', key, { 'x-api-key': undefined }],
    ['unknown key', { ...key, keyId: 'VFN_LIVE_AAAAAAAAAAAAAAAAAAAAAAAA' }, {}],
    ['key that is no key', { ...key, keyId: 'hello' }, {}],
    ['missing timestamp', key, { 'x-timestamp': undefined }],
    ['stale timestamp', key, { 'x-timestamp': stale }],
    ['timestamp that is no number', key, { 'x-timestamp': 'now' }],
    ['missing signature', key, { 'x-signature': undefined }],
    ['malformed signature', key, { 'x-signature': 'v1=zz' }],
    ["another key's secret", { ...key, secret: other.key.secret }, {}],
    ['expired key', expired, {}],
    ['revoked key', revoked, {}],
  ]
  for (const [cause, with_, headers] of causes) {
    const { status, body } = await as(with_).get('/things', { headers })
    assert.equal(status, 401, cause)
    assert.deepEqual(
      body,
      { success: false, error: { code: 'UNAUTHORIZED', message: UNAUTHORIZED, details: [] } },
      cause,
    )
  }
})

test('a known TEST key gets help: the clock difference and the seven lines, never the signature', async (t) => {
  const { as, given, clock, orgId } = await startThings(t)
  const key = await given.key(orgId, { mode: 'test' })
  const ahead = String(Math.floor(clock.now() / 1000) + 400)
  const { status, body } = await as(key).post(
    '/things',
    { name: 'x' },
    { onBehalfOf: 'asha', headers: { 'x-timestamp': ahead } },
  )
  assert.equal(status, 401)
  assert.equal(body.error.message, UNAUTHORIZED)
  const [clockHint, linesHint] = body.error.details
  assert.equal(clockHint.path, 'headers.x-timestamp')
  assert.match(clockHint.message, /400 seconds/)
  assert.equal(linesHint.path, 'headers.x-signature')
  assert.ok(linesHint.message.includes(`VFN1\n${ahead}\nPOST\n/api/v1/partner/things\nasha\n\n`), linesHint.message)
  const expected = await sign({
    secret: key.secret,
    timestamp: Number(ahead),
    method: 'POST',
    target: '/api/v1/partner/things',
    onBehalfOf: 'asha',
    body: '{"name":"x"}',
  })
  assert.ok(!JSON.stringify(body).includes(expected.slice(3)))
})

test('clocks may differ by 300 seconds to either side, and no more', async (t) => {
  const { as, clock, key } = await startThings(t)
  const now = Math.floor(clock.now() / 1000)
  for (const [difference, status] of [
    [-300, 200],
    [300, 200],
    [-301, 401],
    [301, 401],
  ] as const) {
    clock.set((now - difference) * SECOND)
    const call = as(key)
    clock.set((now - difference) * SECOND)
    const signing = call.get('/things')
    clock.set(now * SECOND)
    assert.equal((await signing).status, status, String(difference))
  }
})

test('both secrets are valid during a rotation, the old one until its grace ends, an older one not at all', async (t) => {
  const { as, context, clock, key } = await startThings(t)
  const rotate = async () => {
    const { secret } = await context.db.transaction((tx) => rotateKey(tx, context.vault, clock, key.keyId))
    await context.keyring.refresh()
    return { ...key, secret }
  }
  const second = await rotate()
  assert.equal((await as(key).get('/things')).status, 200)
  assert.equal((await as(second).get('/things')).status, 200)
  const third = await rotate()
  assert.equal((await as(key).get('/things')).status, 401)
  assert.equal((await as(second).get('/things')).status, 200)
  clock.advance(24 * HOUR)
  assert.equal((await as(second).get('/things')).status, 401)
  assert.equal((await as(third).get('/things')).status, 200)
})

test('a key made or revoked by another process is in force within a second', async (t) => {
  const { as, given, context, clock, orgId } = await startThings(t)
  const key = await given.key(orgId)
  assert.equal((await as(key).get('/things')).status, 200, 'at once')
  await context.db.transaction((tx) => revokeKey(tx, clock, key.keyId))
  const revoked = Date.now()
  while ((await as(key).get('/things')).status === 200)
    assert.ok(Date.now() - revoked < 1000, 'still valid after a second')
})

test('failed authentications are limited per address; valid calls still pass', async (t) => {
  const { as, clock, key } = await startThings(t)
  const wrong = as({ ...key, secret: 'VFN_SK_wrong' })
  const statuses = await Promise.all(
    Array.from({ length: 65 }, () => wrong.get('/things').then(({ status }) => status)),
  )
  assert.equal(statuses.filter((status) => status === 401).length, 60)
  assert.equal(statuses.filter((status) => status === 429).length, 5)
  const limited = await wrong.get('/things')
  assert.equal(limited.body.error.code, 'RATE_LIMITED')
  assert.ok(Number(limited.headers.get('retry-after')) >= 1)
  assert.equal(limited.headers.get('ratelimit-limit'), null)
  assert.equal((await as(key).get('/things')).status, 200)
  clock.advance(MINUTE)
  assert.equal((await wrong.get('/things')).status, 401)
})

test('plain HTTP is refused where HTTPS is required, before anything else; a trusted proxy may vouch for it', async (t) => {
  const { as, key } = await startThings(t, {}, { config: { requireHttps: true, trustProxy: ['127.0.0.1'] } })
  const plain = await as({ ...key, secret: 'wrong' }).post('/things', 'x'.repeat(BODY_LIMIT + 1))
  assert.equal(plain.status, 403)
  assert.equal(plain.body.error.code, 'HTTPS_REQUIRED')
  assert.equal((await as(key).get('/things', { headers: { 'x-forwarded-proto': 'https' } })).status, 200)
  assert.equal((await as(key).get('/things', { headers: { 'x-forwarded-proto': 'https, http' } })).status, 403)
})

test('X-Forwarded headers of anybody else do not count', async (t) => {
  const { as, key } = await startThings(t, {}, { config: { requireHttps: true, trustProxy: ['10.0.0.0/8'] } })
  assert.equal((await as(key).get('/things', { headers: { 'x-forwarded-proto': 'https' } })).status, 403)
})

test('the order of checks: each refusal hides the later ones and charges nothing that they count', async (t) => {
  const { as, given, context, orgId, key } = await startThings(t, { scope: 'mandates:write' })
  const wrong = { ...key, secret: 'VFN_SK_wrong' }
  const large = JSON.stringify({ name: 'x'.repeat(BODY_LIMIT) })
  // Size before media type before the signature.
  assert.equal(
    (await as(wrong).post('/things', large, { headers: { 'content-type': 'text/plain' } })).body.error.code,
    'PAYLOAD_TOO_LARGE',
  )
  assert.equal(
    (await as(wrong).post('/things', 'hello', { headers: { 'content-type': 'text/plain' } })).body.error.code,
    'UNSUPPORTED_MEDIA_TYPE',
  )
  // Signature before the service switch.
  await context.db.transaction((tx) => switchService(tx, true, orgId))
  await context.keyring.refresh()
  assert.equal((await as(wrong).post('/things', {})).status, 401)
  // Service before limits.
  const off = await as(key).post('/things', {})
  assert.equal(off.status, 503)
  assert.equal(off.body.error.code, 'SERVICE_DISABLED')
  assert.equal(off.headers.get('ratelimit-limit'), '300')
  assert.equal(off.headers.get('ratelimit-remaining'), '300', 'nothing was charged')
  await context.db.transaction((tx) => switchService(tx, false, orgId))
  await context.keyring.refresh()
  // Limits before scope, scope before the schema, the schema before idempotency.
  const reader = await given.key(orgId, { scopes: ['mandates:read'], mode: 'test' })
  const first = await as(reader).post('/things', {})
  assert.equal(first.status, 403)
  assert.equal(first.body.error.code, 'SCOPE_MISSING')
  assert.match(first.body.error.message, /mandates:write/)
  assert.equal(first.headers.get('ratelimit-remaining'), '29', 'the call was charged')
  await as(reader).post('/things', {})
  const limited = await as(reader).post('/things', {})
  assert.equal(limited.status, 429)
  assert.equal(limited.body.error.code, 'RATE_LIMITED')
  assert.equal(limited.headers.get('ratelimit-remaining'), '28', 'a refused call is not charged')
  const invalid = await as(key).post('/things', { nome: 1 }, { idempotencyKey: 'k' })
  assert.equal(invalid.status, 400)
  assert.deepEqual(invalid.body.error.details, [
    { path: 'name', message: 'is required' },
    { path: 'nome', message: 'is not a known property; did you mean name?' },
  ])
  assert.equal(
    (await as(key).post('/things', { name: 'now right' }, { idempotencyKey: 'k' })).status,
    201,
    'what fails the schema is not kept',
  )
})

test('one organisation can be switched off, or all', async (t) => {
  const { as, given, context, orgId, key } = await startThings(t)
  const other = await given.org('Other')
  const statuses = async () => [(await as(key).get('/things')).status, (await as(other.key).get('/things')).status]
  const set = async (off: boolean, org?: string) => {
    await context.db.transaction((tx) => switchService(tx, off, org))
    await context.keyring.refresh()
  }
  await set(true, orgId)
  assert.deepEqual(await statuses(), [503, 200])
  await set(true)
  assert.deepEqual(await statuses(), [503, 503])
  await set(false)
  assert.deepEqual(await statuses(), [503, 200])
  await set(false, orgId)
  assert.deepEqual(await statuses(), [200, 200])
})

test('a body of exactly 262,144 bytes passes the size check, one more byte does not', async (t) => {
  const { as, key } = await startThings(t)
  const body = (bytes: number) => `{"name":"${'x'.repeat(bytes - 11)}"}`
  assert.equal(Buffer.byteLength(body(BODY_LIMIT)), 262_144)
  assert.equal((await as(key).post('/things', body(BODY_LIMIT))).body.error.code, 'VALIDATION_FAILED')
  const over = await as(key).post('/things', body(BODY_LIMIT + 1))
  assert.equal(over.status, 413)
  assert.equal(over.body.error.code, 'PAYLOAD_TOO_LARGE')
})

test('chunked bodies are signed, limited and read like any other', async (t) => {
  const { url, clock, key } = await startThings(t)
  const send = async (body: string) => {
    const target = '/api/v1/partner/things'
    const timestamp = Math.floor(clock.now() / 1000)
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'x-api-key': key.keyId,
      'x-timestamp': String(timestamp),
      'x-signature': await sign({ secret: key.secret, timestamp, method: 'POST', target, body }),
    }
    return new Promise<number>((resolve, reject) => {
      const sent = httpRequest(url + target, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode!)
      })
      sent.on('error', reject)
      for (let at = 0; at < body.length; at += 50_000) sent.write(body.slice(at, at + 50_000))
      sent.end()
    })
  }
  assert.equal(await send('{"name":"in pieces"}'), 201)
  assert.equal(await send(`{"name":"${'x'.repeat(BODY_LIMIT)}"}`), 413)
})

test('a body shorter than its Content-Length gets no effect', async (t) => {
  const { url, context, clock, key } = await startThings(t)
  const timestamp = Math.floor(clock.now() / 1000)
  const signature = await sign({
    secret: key.secret,
    timestamp,
    method: 'POST',
    target: '/api/v1/partner/things',
    body: '{"name":"x"}',
  })
  const { port } = new URL(url)
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.end(
        `POST /api/v1/partner/things HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-api-key: ${key.keyId}\r\nx-timestamp: ${timestamp}\r\nx-signature: ${signature}\r\ncontent-length: 500\r\n\r\n{"name":"x"}`,
      )
    })
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
    socket.resume()
  })
  assert.equal(await countThings(context), 0)
})

test('media types: JSON in UTF-8 passes, everything else is refused', async (t) => {
  const { as, key } = await startThings(t)
  const post = (type: string | undefined, more = {}) =>
    as(key).post('/things', { name: 'x' }, { headers: { 'content-type': type, ...more } })
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
})

test('x-on-behalf-of is 1 to 128 printable ASCII characters', async (t) => {
  const { as, key } = await startThings(t)
  assert.equal((await as(key).get('/things', { onBehalfOf: 'a'.repeat(128) })).status, 200)
  const long = await as(key).get('/things', { onBehalfOf: 'a'.repeat(129) })
  assert.equal(long.status, 400)
  assert.deepEqual(long.body.error.details, [
    { path: 'headers.x-on-behalf-of', message: 'must be 1 to 128 printable ASCII characters' },
  ])
  const empty = await as(key).get('/things', { headers: { 'x-on-behalf-of': '' } })
  assert.equal(empty.status, 400)
})

test('header bytes beyond ASCII are signed as sent, then refused as such', async (t) => {
  const { url, clock, key } = await startThings(t)
  const target = '/api/v1/partner/things'
  const timestamp = Math.floor(clock.now() / 1000)
  const signature = await sign({ secret: key.secret, timestamp, method: 'GET', target, onBehalfOf: 'आशा' })
  const { port } = new URL(url)
  const answer = await new Promise<string>((resolve, reject) => {
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
  assert.match(answer, /^HTTP\/1.1 400 /)
  assert.match(answer, /headers\.x-on-behalf-of/)
})

test('a signed unicode query is read exactly as sent', async (t) => {
  const { as, key } = await startThings(t)
  assert.equal((await as(key).get('/things?q=%E0%A4%AC%E0%A4%BF&x=a+b%20c&&=')).status, 200)
})

test('a malformed id in the path answers 400 and says where', async (t) => {
  const { as, key } = await startThings(t)
  const { status, body } = await as(key).get('/things/nonsense')
  assert.equal(status, 400)
  assert.deepEqual(body.error.details, [
    { path: 'path.id', message: 'must be an id that begins with TH_, and match ^TH_[0-9]{1,9}$' },
  ])
})

test('query parameters: bad numbers are named, unknown ones ignored', async (t) => {
  const { as, key } = await startThings(t)
  for (const [query, message] of [
    ['limit=0', 'must be at least 1'],
    ['limit=101', 'must be at most 100'],
    ['limit=ten', 'must be a whole number'],
    ['limit=1.5', 'must be a whole number'],
    ['limit=', 'must be a whole number'],
    ['limit=1&limit=2', 'must be a whole number'],
  ]) {
    const { status, body } = await as(key).get(`/things?${query}`)
    assert.equal(status, 400, query)
    assert.deepEqual(body.error.details, [{ path: 'query.limit', message }], query)
  }
  assert.deepEqual((await as(key).get('/things?colour=red')).body.data, { limit: 25 })
})

test('unexpected errors say nothing of what happened', async (t) => {
  const { as, key, logged } = await startThings(t)
  const { status, body, headers } = await as(key).get('/broken')
  assert.equal(status, 500)
  assert.equal(body.error.code, 'SERVER_ERROR')
  assert.ok(!JSON.stringify(body).includes('hunter2'))
  assert.ok(logged.some((line) => line.includes('unexpected error') && line.includes(headers.get('x-request-id')!)))
})

test('malformed JSON, a body of the wrong kind and none at all are told apart', async (t) => {
  const { as, key } = await startThings(t)
  const at = async (body: string | undefined) => (await as(key).post('/things', body)).body.error
  assert.equal((await at('{"name":')).code, 'VALIDATION_FAILED')
  assert.equal((await at('{"name":')).details[0].path, 'body')
  assert.deepEqual((await at('[1]')).details, [{ path: 'body', message: 'must be an object with name' }])
  assert.deepEqual((await at(undefined)).details, [{ path: 'body', message: 'a JSON body is required' }])
  assert.deepEqual((await at('{"name":"a\\u0000b"}')).details, [
    { path: 'name', message: 'must not hold a NUL character' },
  ])
  assert.deepEqual((await at('{"name":"\\ud800"}')).details, [
    { path: 'name', message: 'must not hold half a surrogate pair' },
  ])
  assert.match((await at(`${'['.repeat(5000)}"\\u0041"${']'.repeat(5000)}`)).details[0].message, /nested/)
})

test('lengths count code points', async (t) => {
  const { as, key } = await startThings(t)
  assert.equal((await as(key).post('/things', { name: '👷'.repeat(40) })).status, 201)
  assert.equal((await as(key).post('/things', { name: '👷'.repeat(41) })).status, 400)
})

test('TEST and LIVE keys of one organisation have limits of their own', async (t: TestContext) => {
  const app: TestApp & { orgId: string; key: TestKey } = await startThings(t)
  const testKey = await app.given.key(app.orgId, { mode: 'test' })
  assert.equal((await app.as(testKey).get('/things')).headers.get('ratelimit-limit'), '120')
  assert.equal((await app.as(app.key).get('/things')).headers.get('ratelimit-limit'), '1200')
})

test('everything that is wrong is told at once: path, query, headers and body', async (t) => {
  const { as, key } = await startThings(t)
  const { status, body } = await as(key).put('/things/nonsense?limit=0', { colour: 1 }, { onBehalfOf: 'x'.repeat(129) })
  assert.equal(status, 400)
  assert.deepEqual(
    body.error.details.map(({ path }: { path: string }) => path),
    ['path.id', 'query.limit', 'name', 'colour', 'headers.x-on-behalf-of'],
  )
  assert.match(body.error.message, /^5 things are wrong/)
})

test('more violations than can be listed are still violations', async (t) => {
  const { as, key, context } = await startThings(t)
  const junk = Array.from({ length: 12_000 }, (_, index) => `"${index.toString(36)}x":1`).join(',')
  for (const name of ['"fine"', '""', '5', `"${'y'.repeat(50_000)}"`]) {
    const { status, body } = await as(key).post('/things', `{"name":${name},${junk}}`)
    assert.equal(status, 400, name.slice(0, 10))
    assert.equal(body.error.code, 'VALIDATION_FAILED')
    assert.ok(body.error.details.length > 0 && body.error.details.length <= 1000)
  }
  assert.equal(await countThings(context), 0)
})

test('a small request cannot make a huge answer', async (t) => {
  const { as, key } = await startThings(t)
  const body = `{"name":"x","${'k'.repeat(12_000)}":[${Array(15_000).fill('"\\u0000"').join(',')}]}`
  const answer = await as(key).post('/things', body)
  assert.equal(answer.status, 400)
  assert.ok(JSON.stringify(answer.body).length < 100_000)
})

test('texts that cannot be stored are told together with everything else, and refused in queries too', async (t) => {
  const { as, key } = await startThings(t)
  const both = await as(key).post('/things', '{"name":"a\\u0000b","colour":1}')
  assert.deepEqual(
    both.body.error.details.map(({ path }: { path: string }) => path),
    ['colour', 'name'],
  )
  const query = await as(key).get('/skills/search?q=wel%00ding')
  assert.equal(query.status, 400)
  assert.deepEqual(query.body.error.details, [{ path: 'query.q', message: 'must not hold a NUL character' }])
})
