import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { verificationCalls } from '../../../test/support/verification.ts'
import { eventTypes } from '../../events/types.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { deleteOldRequests } from './request-log.ts'

const startShared = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startShared()
  const { context, clock, as } = app
  const { orgId } = await app.given.org()
  const owner = await signInMember(app, orgId, 'owner')
  const base = `/orgs/${orgId}/test`
  return { app, context, clock, as, orgId, owner, base }
}

test('a key is created, used, rotated and revoked', async () => {
  const { context, clock, as, orgId, owner, base } = await setUp()
  const created = await owner.post(`${base}/keys`, { kind: 'partner', scopes: ['workflows:read'] })
  assert.equal(created.status, 201)
  const { key_id, secret } = created.body.data
  await context.keyring.refresh()
  const callWith = (secret: string) => as({ orgId, mode: 'test', keyId: key_id, secret })
  assert.equal((await callWith(secret).get('/workflows')).status, 200)
  assert.equal((await callWith(secret).post('/workflows', { name: 'One' })).status, 403)
  const rotated = await owner.post(`${base}/keys/${key_id}/rotate`, { grace_hours: 1 })
  await context.keyring.refresh()
  assert.equal((await callWith(rotated.body.data.secret).get('/workflows')).status, 200)
  const until = new Date(clock.now() + HOUR).toISOString()
  assert.equal(rotated.body.data.previous_secret_until, until)
  const keys = (await owner.get(`${base}/keys`)).body.data
  assert.deepEqual(keys.grace_hours, { usual: 24, most: 720 })
  assert.deepEqual([keys.items[0].previous_secret_until, keys.items[0].expires_at], [until, null])
  for (const grace_hours of [-1, 721, 1.5]) {
    const rejected = await owner.post(`${base}/keys/${key_id}/rotate`, { grace_hours })
    assert.deepEqual([rejected.status, rejected.body.error.details[0].path], [400, 'grace_hours'], `${grace_hours}`)
  }

  const limits = (await owner.get(`${base}/keys/${key_id}/limits`)).body.data
  const reads = limits.buckets.find(({ name }: { name: string }) => name === 'reads')
  assert.deepEqual([reads.minute_used, reads.per_minute, limits.cooldown_until], [2, 120, null])

  assert.equal((await owner.post(`${base}/keys/${key_id}/revoke`)).body.data.status, 'revoked')
  await context.keyring.refresh()
  assert.equal((await callWith(secret).get('/workflows')).status, 401)
  const { items } = (await owner.get(`${base}/keys`)).body.data
  assert.deepEqual(
    items.map((key: any) => [key.key_id, key.status, 'secret' in key]),
    [[key_id, 'revoked', false]],
  )
  const other = (await owner.get(`/orgs/${orgId}/live/keys`)).body.data.items[0]
  assert.equal((await owner.post(`${base}/keys/${other.key_id}/revoke`)).status, 404, 'a key of the other mode')
  for (const expires_at of [new Date(clock.now()).toISOString(), '2027-01-01', 'soon']) {
    const rejected = await owner.post(`${base}/keys`, { kind: 'session', expires_at })
    assert.deepEqual([rejected.status, rejected.body.error.details[0].path], [400, 'expires_at'], expires_at)
  }
  assert.deepEqual((await owner.get('/event-types')).body.data.items, [...eventTypes])
  const session = await owner.post(`${base}/keys`, { kind: 'session' })
  assert.match(session.body.data.key, /^VSK_TEST_/)
  const actions = (await owner.get(`/orgs/${orgId}/audit?limit=3`)).body.data.items.map(({ action }: any) => action)
  assert.deepEqual(actions, ['POST /keys', 'POST /keys/:key_id/revoke', 'POST /keys/:key_id/rotate'])
})

test('requests are logged, with the reason of an invalid TEST signature', async () => {
  const { app, clock, as, orgId, base } = await setUp()
  clock.advance(MINUTE)
  const key = await app.given.key(orgId, { mode: 'test' })
  const viewer = await signInMember(app, orgId, 'viewer')
  await as(key).get('/workflows')
  await as(key).get('/workflows/WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV?secret=1')
  await as(key).get('/workflows', { headers: { 'x-timestamp': String(Math.floor(clock.now() / 1000) - 999) } })
  await as({ ...key, keyId: 'VFN_TEST_UNKNOWN' }).get('/workflows')
  const { items, next_cursor } = (await viewer.get(`${base}/requests?limit=2`)).body.data
  const [expired, missing] = items
  assert.deepEqual(
    [expired.method, expired.route, expired.status, expired.code, expired.key_id],
    ['GET', '/api/v1/partner/workflows', 401, 'UNAUTHORIZED', key.keyId],
  )
  assert.match(expired.differed[0].message, /999 seconds behind/)
  assert.match(expired.differed[1].message, /^The server expected this string to sign:\nVFN1\n/)
  assert.deepEqual(
    [missing.route, missing.status, missing.code, missing.differed],
    ['/api/v1/partner/workflows/:workflow_id', 404, 'NOT_FOUND', []],
  )
  assert.ok(missing.duration_ms > 0)
  assert.ok(!JSON.stringify(items).includes('secret=1'), 'no query string')
  assert.ok(next_cursor)
  const byId = (await viewer.get(`${base}/requests?request_id=${expired.request_id}`)).body.data.items
  assert.deepEqual(byId, [expired])
  const failed = (await viewer.get(`${base}/requests?failed=true&api=partner`)).body.data.items
  assert.ok(failed.length > 1 && failed.every(({ status }: any) => status >= 400))
  assert.equal((await viewer.get(`/orgs/${orgId}/live/requests`)).body.data.items.length, 0)
})

test('a request flood does not fill the log, and old requests are deleted', async () => {
  const { app, context, clock, as, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const key = await app.given.key(orgId)
  for (let n = 0; n < 80; n++) await as(key).get('/shifts')
  const count = async () => {
    const { rows } = await context.db.pool.query('select count(*)::int as n from request_log where mode = $1', ['live'])
    return rows[0].n as number
  }
  await owner.get(`${base}/requests`)
  const logged = await count()
  assert.ok(logged >= 50 && logged <= 120, `${logged} logged`)
  clock.advance(3 * DAY + SECOND)
  await context.db.transaction((tx) => deleteOldRequests(tx, clock.now()))
  assert.equal(await count(), 0)
})

test('verifications are listed by status with their emails, and the review request can be resent', async () => {
  const { app, clock, orgId, owner, base } = await setUp()
  const user = await signIn(app, owner.email)
  const calls = verificationCalls(app, orgId, await app.given.sessionKey(orgId, 'test'))
  await calls.requestReview()
  const { items } = (await user.get(`${base}/verifications?status=pending_review`)).body.data
  assert.equal(items.length, 1)
  assert.equal(items[0].student_name, 'Asha Rao')
  assert.equal((await user.get(`${base}/verifications?status=open`)).body.data.items.length, 0)
  const path = `${base}/verifications/${items[0].verification_id}`
  const details = (await user.get(path)).body.data
  assert.equal(details.outcome.status, 'pending_review')
  assert.equal(details.reviewer.company, 'Metro Ltd')
  assert.deepEqual(
    details.mails.map(({ kind }: any) => kind),
    ['review_request'],
  )
  assert.ok(!JSON.stringify(details).includes('#token='), 'the review link is not included')
  const tooSoon = await user.post(`${path}/resend`)
  assert.deepEqual([tooSoon.status, tooSoon.headers.get('retry-after')], [429, '60'], 'within a minute')
  assert.match(tooSoon.body.error.message, /less than a minute ago\. Try again in 60 seconds/)
  clock.advance(MINUTE)
  const resent = await user.post(`${path}/resend`)
  assert.equal(resent.status, 200, JSON.stringify(resent.body))
  assert.equal(resent.body.data.mails.length, 2)
  assert.equal((await user.get(path.replace('/test/', '/live/'))).status, 404)

  for (let n = 0; n < 4; n++) {
    clock.advance(MINUTE)
    assert.equal((await user.post(`${path}/resend`)).status, 200)
  }
  clock.advance(MINUTE)
  const sixth = await user.post(`${path}/resend`)
  assert.equal(sixth.status, 429)
  assert.match(sixth.body.error.message, /maximum of 5 emails per day .* in 24 hours/)
  clock.advance(DAY)
  const next = await signIn(app, owner.email)
  assert.equal((await next.post(`${path}/resend`)).status, 200)
})

test('an expired session or link is listed as expired before a job stores the status', async () => {
  const { app, clock } = await setUp()
  const { orgId } = await app.given.org('Ending')
  const email = 'ending@example.com'
  await signInMember(app, orgId, 'viewer', email)
  const calls = verificationCalls(app, orgId, await app.given.sessionKey(orgId, 'test'))
  await calls.openSession({ externalStudentId: 'left' })
  await calls.requestReview({ student: { externalStudentId: 'asked' } })
  const listed = async (status: string) => {
    const viewer = await signIn(app, email)
    const { items } = (await viewer.get(`/orgs/${orgId}/test/verifications?status=${status}`)).body.data
    return items.map((item: any) => `${item.external_student_id} ${item.status}`)
  }
  clock.advance(DAY)
  assert.deepEqual(await listed('open'), [])
  assert.deepEqual(await listed('expired'), ['left expired'])
  assert.deepEqual(await listed('pending_review'), ['asked pending_review'])
  clock.advance(29 * DAY)
  assert.deepEqual(await listed('pending_review'), [])
  assert.deepEqual((await listed('expired')).sort(), ['asked expired', 'left expired'])
})
