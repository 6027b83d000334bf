import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN_KEY, startApp } from '../../../test/support/app.ts'
import { sendRaw } from '../../../test/support/raw-http.ts'
import { aReviewer, verificationCalls } from '../../../test/support/verification.ts'

test('if HTTPS is required, every route but the probes rejects plain HTTP', async (t) => {
  const app = await startApp(t, { config: { requireHttps: true, trustProxy: ['127.0.0.1'] } })
  const sessionKey = await app.fixtures.createSessionKey((await app.fixtures.createOrg()).orgId)
  const requests: [string, RequestInit][] = [
    ['/api/v1/partner/workflows', {}],
    ['/api/v1/verify', { method: 'POST', body: '{}', headers: { 'x-api-key': sessionKey } }],
    ['/api/admin/counts', { headers: { 'x-api-key': ADMIN_KEY } }],
    ['/api/skills/search?keyword=welding', {}],
    ['/api/v1/candidate/abc', {}],
    ['/console/api/sign-in', {}],
    ['/console', {}],
    ['/hooks/whatsapp/CH_1', {}],
    ['/docs/', {}],
  ]
  for (const [path, init] of requests) {
    assert.equal((await app.fetch(path, init)).status, 403, path)
    const headers = { ...init.headers, 'x-forwarded-proto': 'https' }
    assert.notEqual((await app.fetch(path, { ...init, headers })).status, 403, path)
  }
  for (const path of ['/healthz', '/readyz', '/metrics']) assert.equal((await app.fetch(path)).status, 200, path)
})

test('with PUBLIC_URL, requests under an unknown host name are rejected', async (t) => {
  const app = await startApp(t, {
    config: { publicUrl: 'https://verify.example.com', allowedHosts: ['attestry.internal'] },
  })
  const statusFor = async (host: string, path = '/api/skills/search?keyword=welding') =>
    (await sendRaw(app.url, `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)).status
  for (const host of [
    'verify.example.com',
    'VERIFY.example.com:443',
    'attestry.internal:8080',
    'localhost',
    '127.0.0.1',
    '[::1]:80',
  ])
    assert.equal(await statusFor(host), 200, host)
  for (const host of ['evil.example', 'verify.example.com.evil.example', 'verify.example.com@evil.example'])
    assert.equal(await statusFor(host), 421, host)
  // The result of one host name must not be used for another one.
  assert.equal(await statusFor('localhost'), 200)
  for (let attempt = 1; attempt <= 2; attempt++) assert.equal(await statusFor('evil.example'), 421)
  assert.equal(await statusFor('evil.example', '/healthz'), 200)
})

test('without PUBLIC_URL, links contain the address of the server, whatever the Host header contains', async (t) => {
  const app = await startApp(t, { config: { trustProxy: ['127.0.0.1'] } })
  const send = (requestLine: string, key = '', body = '') =>
    sendRaw(
      app.url,
      [
        `${requestLine} HTTP/1.1`,
        'host: evil.example',
        'x-forwarded-host: evil.example',
        'forwarded: host=evil.example',
        `x-api-key: ${key}`,
        'content-type: application/json',
        `content-length: ${Buffer.byteLength(body)}`,
        'connection: close',
        '',
        body,
      ].join('\r\n'),
    )
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const session = await calls.openPreparedSession('human')
  const body = JSON.stringify({ serviceVerificationId: session.id, ...aReviewer() })
  const response = await send('POST /api/v1/storereviewerdetails/store', calls.key, body)
  assert.equal(response.status, 200)
  const [email] = await calls.listEmails(session)
  assert.ok(email!.text.includes(`${app.url}/verify/${session.id}#token=`))
  const texts = [JSON.stringify(email), JSON.stringify(response)]
  for (const path of ['/api/v1/partner/nowhere', '/api/nowhere', '/docs', '/docs/', '/.well-known/security.txt'])
    texts.push(JSON.stringify(await send(`GET ${path}`)))
  for (const text of texts) assert.ok(!text.includes('evil.example'), text.slice(0, 300))
})

test('without PUBLIC_URL, only the console and the pages reject unknown host names', async (t) => {
  const app = await startApp(t)
  const statusFor = async (path: string) =>
    (await sendRaw(app.url, `GET ${path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`)).status
  assert.equal(await statusFor('/console/api/sign-in'), 421)
  assert.equal(await statusFor('/console'), 421)
  assert.equal(await statusFor('/api/skills/search?keyword=welding'), 200)
})
