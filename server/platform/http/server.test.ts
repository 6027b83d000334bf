import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startApp } from '../../../test/support/app.ts'
import { signIn } from '../../../test/support/console.ts'
import { measureCpuMs } from '../../../test/support/cpu-limit.ts'
import { sendRaw } from '../../../test/support/raw-http.ts'
import { until } from '../../../test/support/until.ts'
import { problem } from '../../api/problem.ts'
import { bodyTimeoutMs } from './body.ts'

/** Of the test, too, which sends them. One call that reads all migrations takes 11 ms. */
const MAX_PROBES_CPU_MS = 200

const apis = [
  ['/api/v1/partner/nowhere', 'partner'],
  ['/api/v1/nowhere', 'verification'],
  ['/api/nowhere', 'catalogue'],
] as const

function nameOfEnvelope(body: any): string {
  assert.equal(body.success, false)
  if (typeof body.error === 'string') {
    assert.equal(body.message, body.error)
    return 'catalogue'
  }
  assert.equal(typeof body.error.code, 'string')
  assert.equal(typeof body.error.message, 'string')
  return Array.isArray(body.error.details) ? 'partner' : 'verification'
}

/** Sends a request head, then the body byte by byte; returns the response and whether the connection was reset. */
async function sendSlowly(url: string, head: string, length = 'content-length: 1000') {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let text = ''
  let wasReset = false
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {
    wasReset = true
  })
  const isChunked = length.startsWith('transfer-encoding')
  socket.write(`${head}\r\nhost: localhost\r\n${length}\r\n\r\n${isChunked ? '5\r\n{"a":\r\n' : '{"a":'}`)
  const sending = setInterval(() => socket.write(isChunked ? '1\r\n \r\n' : ' '), 20)
  await until(() => wasReset || /\r\n\r\n[{<]/.test(text))
  await pause(200) // the connection must stay open after the response, too
  clearInterval(sending)
  socket.destroy()
  const [responseHead = '', body = ''] = text.split('\r\n\r\n')
  return {
    status: Number(responseHead.split(' ')[1]),
    responseHead,
    body: body.startsWith('{') ? JSON.parse(body) : body,
    wasReset,
  }
}

function setBodyTimeouts(t: TestContext, timeouts: Partial<typeof bodyTimeoutMs>): void {
  const defaultTimeouts = { ...bodyTimeoutMs }
  t.after(() => Object.assign(bodyTimeoutMs, defaultTimeouts))
  Object.assign(bodyTimeoutMs, timeouts)
}

test('a body that takes too long to arrive gets a 408 in the envelope of the API, and the connection is not reset', async (t) => {
  const app = await startApp(t)
  setBodyTimeouts(t, { rejected: 60_000, small: 300, inMemory: 300, toFile: 400 })
  const { orgId, key } = await app.fixtures.createOrg()
  const sessionKey = await app.fixtures.createSessionKey(orgId)
  const timestamp = Math.floor(app.clock.now() / 1000)
  const partnerHeaders = `x-api-key: ${key.keyId}\r\nx-timestamp: ${timestamp}\r\nx-signature: v1=${'0'.repeat(64)}`
  const operator = await signIn(app)
  const sessionHeaders = `cookie: ${operator.cookie}\r\nx-csrf-token: ${operator.csrf}`
  const jsonContentType = 'content-type: application/json'
  const uploadPath = '/console/api/operator/catalogue/imports?format=csv&file_name=a.csv'
  for (const [head, envelope] of [
    [`POST /api/v1/partner/mandates HTTP/1.1\r\n${jsonContentType}\r\n${partnerHeaders}`, 'partner'],
    [`POST /api/v1/verify HTTP/1.1\r\n${jsonContentType}\r\nx-api-key: ${sessionKey}`, 'verification'],
    [`POST /console/api/sign-in/mail HTTP/1.1\r\n${jsonContentType}\r\n${sessionHeaders}`, 'partner'],
    [`POST ${uploadPath} HTTP/1.1\r\ncontent-type: application/octet-stream\r\n${sessionHeaders}`, 'partner'],
  ] as const) {
    const { status, body, responseHead, wasReset } = await sendSlowly(app.url, head)
    assert.deepEqual([status, nameOfEnvelope(body), wasReset], [408, envelope, false], head)
    assert.match(body.error.message, /did not arrive within 0\.[34] seconds/)
    assert.match(responseHead, /x-request-id: req_/)
  }
  const { items } = (await operator.get('/operator/catalogue/imports')).body.data
  assert.deepEqual(items, [], 'no import was started with an incomplete file')
})

test('the server does not wait for the body of a caller without a valid key', async (t) => {
  const app = await startApp(t)
  // A caller for whose body the server waits gets no response in this test.
  setBodyTimeouts(t, { rejected: 300, small: 600_000, inMemory: 600_000, toFile: 600_000 })
  const { orgId, key } = await app.fixtures.createOrg()
  const testKey = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const json = 'content-type: application/json'
  const partnerHead = `POST /api/v1/partner/mandates HTTP/1.1\r\n${json}`
  const signed = `x-timestamp: ${Math.floor(app.clock.now() / 1000)}\r\nx-signature: v1=${'0'.repeat(64)}`
  const unknownKey = `x-api-key: VFN_LIVE_AAAAAAAAAAAAAAAAAAAAAAAA\r\n${signed}`
  const chunked = 'transfer-encoding: chunked'
  for (const [cause, head, status, length] of [
    ['partner: no key', partnerHead, 401],
    ['partner: no key, chunked', partnerHead, 401, chunked],
    ['partner: unknown key', `${partnerHead}\r\n${unknownKey}`, 401],
    ['partner: unknown key, chunked', `${partnerHead}\r\n${unknownKey}`, 401, chunked],
    ['partner: no signature', `${partnerHead}\r\nx-api-key: ${key.keyId}`, 408],
    ['partner: no signature, TEST', `${partnerHead}\r\nx-api-key: ${testKey.keyId}`, 408],
    ['partner: large', `${partnerHead}\r\n${unknownKey}`, 413, 'content-length: 300000'],
    ['partner: not JSON', `POST /api/v1/partner/mandates HTTP/1.1\r\ncontent-type: text/csv\r\n${unknownKey}`, 415],
    ['sessions: no key', `POST /api/v1/verify HTTP/1.1\r\n${json}`, 401],
    ['sessions: unknown key', `POST /api/v1/verify HTTP/1.1\r\n${json}\r\nx-api-key: VSK_unknown`, 401],
    ['console: no session', `POST /console/api/orgs/${orgId}/live/workflows HTTP/1.1\r\n${json}`, 401],
  ] as const) {
    const response = await sendSlowly(app.url, head, length)
    assert.deepEqual([response.status, response.wasReset], [status, false], cause)
  }
})

test('the server does not wait for the body of a caller with an invented token or link', async (t) => {
  const app = await startApp(t)
  setBodyTimeouts(t, { rejected: 300, small: 600_000, inMemory: 600_000, toFile: 600_000 })
  const json = 'content-type: application/json'
  const form = 'content-type: application/x-www-form-urlencoded'
  const inventedToken = `vst_${'a'.repeat(43)}`
  const consentHead = `POST /api/v1/verify/${inventedToken}/credentials HTTP/1.1`
  const chunked = 'transfer-encoding: chunked'
  const requests = [
    ['session token in the path', `${consentHead}\r\n${json}`, 404],
    ['session token in the path, chunked', `${consentHead}\r\n${json}`, 404, chunked],
    ['session token in the path, large', `${consentHead}\r\n${json}`, 413, 'content-length: 300000'],
    ['session token in the path, not JSON', `${consentHead}\r\ncontent-type: text/csv`, 415],
    ...['step2/verification-method', 'assessment/submit', 'storereviewerdetails/store'].map(
      (path) => [path, `POST /api/v1/${path} HTTP/1.1\r\n${json}\r\nx-session-token: ${inventedToken}`, 404] as const,
    ),
    ...['reply', 'language', 'credentials'].map(
      (path) => [path, `POST /api/v1/candidate/${inventedToken}/${path} HTTP/1.1\r\n${json}`, 404] as const,
    ),
    ['candidate, large', `POST /api/v1/candidate/a/reply HTTP/1.1\r\n${json}`, 413, 'content-length: 66000'],
    ['holder', `PATCH /api/v1/holder HTTP/1.1\r\n${json}\r\nauthorization: Bearer ${inventedToken}`, 401],
    ...['consent', 'requests', `requests/PRQ_${'0'.repeat(26)}/confirm`].map(
      (path) =>
        [
          `your-data/${path}`,
          `POST /api/v1/your-data/candidate/${path} HTTP/1.1\r\n${json}\r\nauthorization: Bearer ${inventedToken}`,
          404,
        ] as const,
    ),
    ['SCIM', `POST /scim/v2/Users HTTP/1.1\r\n${json}\r\nauthorization: Bearer scim_${'a'.repeat(43)}`, 401],
    ['holder without a link', `PATCH /api/v1/holder HTTP/1.1\r\n${json}`, 401],
    ['unsubscribe', `POST /unsubscribe/${inventedToken} HTTP/1.1\r\n${form}`, 404],
    ['email report', `POST /hooks/mail/${inventedToken} HTTP/1.1\r\n${form}`, 404],
    ['ATS', `POST /ats/ashby/assessment.start HTTP/1.1\r\n${json}\r\nauthorization: Bearer VAT_LIVE_a`, 401],
    ['channel', `POST /hooks/whatsapp/CH_${'0'.repeat(26)} HTTP/1.1\r\n${json}\r\nx-hub-signature-256: a`, 404],
  ] as const
  await Promise.all(
    requests.map(async ([cause, head, status, length]) => {
      const response = await sendSlowly(app.url, head, length)
      assert.deepEqual([response.status, response.wasReset], [status, false], cause)
    }),
  )
})

test('a body with a session token must arrive soon, and counts as an invalid token otherwise', async (t) => {
  const app = await startApp(t)
  setBodyTimeouts(t, { rejected: 600_000, small: 100, inMemory: 600_000, toFile: 600_000 })
  const head = 'POST /api/v1/step1/storeskills/store HTTP/1.1\r\ncontent-type: application/json'
  const rule = { name: 'unknown-session-tokens', kind: 'fixed', limit: 600, seconds: 60 } as const
  for (let count = 1; count < rule.limit; count++)
    await app.context.limits.limiter.charge('127.0.0.1', [rule], app.clock.now())
  assert.equal((await sendSlowly(app.url, head)).status, 408)
  const { status, body } = await sendSlowly(app.url, head)
  assert.deepEqual([status, body.error.code], [429, 'RATE_LIMITED'])
  assert.match(body.error.message, /with invalid session tokens from this IP address: the limit is 600 per minute/)
})

test('the body of a visitor must arrive soon', async (t) => {
  const { url } = await startApp(t)
  setBodyTimeouts(t, { rejected: 600_000, small: 100, inMemory: 600_000, toFile: 600_000 })
  for (const path of [
    '/api/v1/humanverification/submit',
    '/api/v1/humanverification/withdraw',
    '/api/selected-skills',
    '/console/api/sign-in/link',
    '/credentials/links',
  ])
    assert.equal((await sendSlowly(url, `POST ${path} HTTP/1.1\r\ncontent-type: application/json`)).status, 408, path)
})

test('a request with two Host headers is rejected', async (t) => {
  const { url } = await startApp(t)
  for (const [path, api] of apis) {
    const { status, body } = await sendRaw(
      url,
      `GET ${path} HTTP/1.1\r\nHost: a\r\nhost: b\r\nconnection: close\r\n\r\n`,
    )
    assert.deepEqual([status, nameOfEnvelope(body)], [400, api])
  }
})

test('unknown routes and methods return 404 in the envelope of the API that the path belongs to', async (t) => {
  const { fetch } = await startApp(t)
  for (const [path, api] of apis) {
    for (const method of ['GET', 'POST', 'DELETE', 'PATCH', 'OPTIONS']) {
      const { status, body, headers } = await fetch(path, {
        method,
        ...(method === 'POST' ? { body: '{"broken', headers: { 'content-type': 'application/json' } } : {}),
      })
      assert.equal(status, 404, `${method} ${path}`)
      assert.equal(nameOfEnvelope(body), api)
      assert.ok(headers.get('x-request-id'))
    }
  }
  assert.equal((await fetch('/api/v1/partner/shifts', { method: 'PUT' })).status, 404)
  assert.equal((await fetch('/nowhere')).status, 404)
})

test('outside the partner API, a malformed ID in the path is reported as not found', async (t) => {
  const { fetch } = await startApp(t)
  const { status, body } = await fetch('/api/selected-skills/4711')
  assert.deepEqual([status, body.error], [404, 'Selected skill 4711 not found.'])
})

test('a path belongs to an API only if the base path matches whole segments', async (t) => {
  const { fetch } = await startApp(t)
  assert.equal(nameOfEnvelope((await fetch('/api/v1/partners')).body), 'verification')
  assert.equal(nameOfEnvelope((await fetch('/api/v2/x')).body), 'catalogue')
})

test('URLs that cannot be decoded or are too long return 404 in the envelope of the API', async (t) => {
  const { fetch } = await startApp(t)
  for (const [path, api] of apis) {
    const undecodableResponse = await fetch(`${path}/%zz`)
    assert.equal(undecodableResponse.status, 404)
    assert.equal(nameOfEnvelope(undecodableResponse.body), api)
    assert.ok(undecodableResponse.headers.get('x-request-id'))
    const longUrlResponse = await fetch(`${path}/${'x'.repeat(3000)}`)
    assert.equal(longUrlResponse.status, 404)
    assert.equal(nameOfEnvelope(longUrlResponse.body), api)
  }
})

test('headers that are too large return 431 in the envelope of the API, even above the limit of Node.js', async (t) => {
  const { url } = await startApp(t)
  for (const [path, api] of apis) {
    for (const length of [17_000, 70_000]) {
      const { status, body, head } = await sendRaw(
        url,
        `GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-long: ${'x'.repeat(length)}\r\n\r\n`,
      )
      assert.equal(status, 431, `${path} ${length}`)
      assert.equal(nameOfEnvelope(body), api)
      assert.match(head, /x-request-id: /i)
    }
  }
})

test('bytes that are not HTTP get a 400, and the connection is closed', async (t) => {
  const { url } = await startApp(t)
  for (const bytes of [
    'hello\r\n\r\n',
    'GET /api/skills HTTP/9.9\r\n\r\n',
    'GET / HTTP/1.1\r\nbad header\r\n\r\n',
    'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n',
  ]) {
    const { status, body } = await sendRaw(url, bytes)
    assert.equal(status, 400, bytes)
    assert.equal(body.success, false)
  }
})

test('a valid x-request-id of the caller is used, an invalid one is replaced', async (t) => {
  const { fetch } = await startApp(t)
  const returnedRequestId = async (id: string) =>
    (await fetch('/healthz', { headers: { 'x-request-id': id } })).headers.get('x-request-id')
  assert.equal(await returnedRequestId('abc-123_x.y:z'), 'abc-123_x.y:z')
  assert.match((await returnedRequestId('has space'))!, /^req_/)
  assert.match((await returnedRequestId('x'.repeat(129)))!, /^req_/)
  assert.match((await returnedRequestId('<script>'))!, /^req_/)
})

test('every response has security headers', async (t) => {
  const { fetch } = await startApp(t)
  for (const path of ['/healthz', '/api/v1/partner/shifts', '/nowhere', '/docs/']) {
    const { headers } = await fetch(path)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('content-security-policy')!, /default-src 'none'.*frame-ancestors 'none'/)
    assert.equal(headers.get('x-powered-by'), null)
  }
})

test('logs contain the route instead of the URL, and no secrets', async (t) => {
  const { fetch, logLines } = await startApp(t)
  await fetch('/api/v1/verify/vst_abcdefghijklmnop?token=vst_qrstuvwxyz&mail=asha@example.com', {
    headers: { 'x-api-key': 'VSK_LIVE_secretsecretsecret' },
  })
  const lines = logLines.filter((line) => line.includes('"request"'))
  assert.equal(lines.length, 1)
  assert.ok(!/vst_|VSK_|asha/.test(logLines.join('')), logLines.join(''))
})

test('health, readiness and metrics are served', async (t) => {
  const { fetch, as, fixtures } = await startApp(t)
  assert.equal((await fetch('/healthz')).status, 200)
  assert.deepEqual((await fetch('/readyz')).body, { status: 'ready' })
  await as((await fixtures.createOrg()).key).get('/shifts')
  const { body } = await fetch('/metrics')
  for (const line of [
    'attestry_http_request_duration_seconds_count{method="GET",route="/api/v1/partner/shifts",status="200"} 1',
    'attestry_database_connections{state="open"}',
    'attestry_queue_jobs{queue="forget-idempotency-keys",state="waiting"}',
    'attestry_queue_oldest_seconds',
    'nodejs_eventloop_lag_seconds',
  ]) {
    assert.ok(body.includes(line), line)
  }
})

test('readiness names the migrations that are not applied', async (t) => {
  const { fetch, context } = await startApp(t)
  await context.db.asOwner((owner) => owner.pool.query('delete from schema_migrations'))
  const { status, body } = await fetch('/readyz')
  assert.equal(status, 503)
  assert.ok(body.wrong.includes('migration 0001_access.sql is not applied'))
})

test('the envelope depends on the decoded path, in every notation of the URL', async (t) => {
  const { url } = await startApp(t)
  const send = (requestLine: string, headers = 'host: localhost\r\n') =>
    sendRaw(url, `${requestLine} HTTP/1.1\r\n${headers}connection: close\r\n\r\n`)
  for (const target of ['http://x/api/v1/partner/shifts', '/%61pi/v1/partner/shifts', '/api/v1/%70artner/shifts']) {
    const { status, body } = await send(`GET ${target}`)
    assert.equal(status, 401, target)
    assert.equal(nameOfEnvelope(body), 'partner', target)
  }
  for (const [path, api] of apis) {
    const { status, body } = await send(`QUERY ${path}`)
    assert.equal(status, 404)
    assert.equal(nameOfEnvelope(body), api)
  }
})

test('a missing Host header and an unknown Expect header are accepted', async (t) => {
  const { url } = await startApp(t)
  for (const headers of ['', 'host: localhost\r\nexpect: miracles\r\n']) {
    const { status, head } = await sendRaw(url, `GET /healthz HTTP/1.1\r\n${headers}connection: close\r\n\r\n`)
    assert.equal(status, 200, headers)
    assert.match(head, /x-request-id/i)
  }
})

test('an error code that the API does not have is logged, and answered with an unexpected error', async (t) => {
  const app = await startApp(t, {
    extend: (server) =>
      server.get('/console/wrong-code', () => {
        throw problem('NOTHING_TO_WITHDRAW', 'Nothing to withdraw.')
      }),
  })
  const { status, body } = await app.fetch('/console/wrong-code')
  assert.deepEqual(
    [status, body.error],
    [500, 'Unexpected server error. When you report it, include the x-request-id header of this response.'],
  )
  assert.ok(app.logLines.some((line) => line.includes('"level":"error"') && line.includes('NOTHING_TO_WITHDRAW')))
})

test('many simultaneous calls of /readyz share one check, and migrations are read from disk once', async (t) => {
  const { fetch } = await startApp(t)
  assert.equal((await fetch('/readyz')).status, 200)
  const ms = await measureCpuMs(MAX_PROBES_CPU_MS, {
    input: () => 50,
    run: (count) => Promise.all(Array.from({ length: count }, () => fetch('/readyz'))),
  })
  assert.ok(ms <= MAX_PROBES_CPU_MS, `50 calls took ${ms.toFixed(0)} ms of CPU time`)
})
