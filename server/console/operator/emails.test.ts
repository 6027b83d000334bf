import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { CONSOLE_API, signIn, signInMember } from '../../../test/support/console.ts'
import { queueEmail } from '../../mail/mail.ts'

const HTML = '<h1 style="color: green">Hello</h1><script>alert(1)</script>'

test("only operators can read an email's HTML, and it is sandboxed", async (t) => {
  const app = await startApp(t)
  const { context } = app
  const { orgId } = await app.fixtures.createOrg()
  const scope = { orgId, mode: 'live' as const }
  const email = { subject: 'Hello', text: 'Hello', html: HTML, to: { address: 'asha@example.com' } }
  const emailId = await context.db.transaction((tx) => queueEmail(tx, context, { ...email, kind: 'notice', scope }))
  const path = `/operator/mails/${emailId}/html`
  const operator = await signIn(app)

  const { status, headers, body } = await operator.get(path)
  assert.equal(status, 200)
  assert.equal(body, HTML)
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  const policy = new Map(
    headers
      .get('content-security-policy')!
      .split('; ')
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  )
  assert.deepEqual(Object.fromEntries(policy), {
    'default-src': "'none'",
    'style-src': "'unsafe-inline'",
    'img-src': 'data:',
    'form-action': "'none'",
    'base-uri': "'none'",
    'frame-ancestors': "'self'",
    sandbox: '',
  })
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.ok(
    !('html' in (await operator.get(`/operator/mails/${emailId}`)).body.data),
    'only the sandboxed route returns the HTML',
  )

  assert.equal((await app.fetch(CONSOLE_API + path)).status, 401, 'without a session')
  for (const role of ['viewer', 'recruiter', 'owner'] as const) {
    const response = await (await signInMember(app, orgId, role)).get(path)
    assert.equal(response.status, 403, role)
    assert.ok(!JSON.stringify(response.body).includes('Hello'), role)
    assert.match(response.headers.get('content-security-policy')!, /frame-ancestors 'none'/)
  }
  assert.equal((await operator.get('/operator/mails/ML_01ARZ3NDEKTSV4RRFFQ69G5FAV/html')).status, 404)
  await operator.post('/sign-out')
  assert.equal((await operator.get(path)).status, 401, 'after signing out')
})

test('an operator sees the address for replies and the texts of an email, but not its unsubscribe link', async (t) => {
  const app = await startApp(t)
  const { context } = app
  const { orgId } = await app.fixtures.createOrg()
  const queue = (more: object) =>
    context.db.transaction((tx) =>
      queueEmail(tx, context, {
        kind: 'notice',
        scope: { orgId, mode: 'live' },
        to: { address: 'asha@example.com' },
        subject: 'Hello',
        text: 'A text',
        html: HTML,
        ...more,
      }),
    )
  const emailId = await queue({ replyTo: 'help@example.com', unsubscribeUrl: 'https://example.com/unsubscribe/token' })
  const operator = await signIn(app)
  const { body } = await operator.get(`/operator/mails/${emailId}`)
  const { subject, text, replyTo } = body.data
  assert.deepEqual([subject, text, replyTo], ['Hello', 'A text', 'help@example.com'])
  assert.doesNotMatch(JSON.stringify(body), /unsubscribe/)
  assert.ok(!('replyTo' in (await operator.get(`/operator/mails/${await queue({})}`)).body.data))
})

test('no page allows inline code; only the console allows frames, and only from its own origin', async (t) => {
  const { fetch } = await startApp(t)
  for (const path of ['/', '/console', '/console/operator/mails', '/session', '/verify/SV_x']) {
    const policy = (await fetch(path)).headers.get('content-security-policy')!
    assert.doesNotMatch(policy, /unsafe/, path)
    assert.match(policy, /frame-ancestors 'none'/, path)
    assert.equal(policy.includes("frame-src 'self'"), path.startsWith('/console'), path)
  }
})
