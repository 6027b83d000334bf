import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { verificationCalls } from '../../../test/support/verification.ts'
import { eventTypes } from '../../events/types.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { enforceRetention } from '../../privacy/retention/enforce.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function setUp() {
  const app = await startSharedApp()
  const { context, clock, as } = app
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  const base = `/orgs/${orgId}/test`
  return { app, context, clock, as, orgId, owner, base }
}

test('a key is created, used, rotated and revoked', async () => {
  const { context, clock, as, orgId, owner, base } = await setUp()
  const createResponse = await owner.post(`${base}/keys`, { kind: 'partner', scopes: ['workflows:read'] })
  assert.equal(createResponse.status, 201)
  const { key_id, secret } = createResponse.body.data
  await context.keyring.refresh()
  const callWith = (secret: string) => as({ orgId, mode: 'test', keyId: key_id, secret })
  assert.equal((await callWith(secret).get('/workflows')).status, 200)
  assert.equal((await callWith(secret).post('/workflows', { name: 'One' })).status, 403)
  const rotateResponse = await owner.post(`${base}/keys/${key_id}/rotate`, { grace_hours: 1 })
  await context.keyring.refresh()
  assert.equal((await callWith(rotateResponse.body.data.secret).get('/workflows')).status, 200)
  const oldSecretExpiry = new Date(clock.now() + HOUR).toISOString()
  assert.equal(rotateResponse.body.data.previous_secret_until, oldSecretExpiry)
  const keyList = (await owner.get(`${base}/keys`)).body.data
  assert.deepEqual(keyList.grace_hours, { usual: 24, most: 720 })
  assert.deepEqual([keyList.items[0].previous_secret_until, keyList.items[0].expires_at], [oldSecretExpiry, null])
  for (const grace_hours of [-1, 721, 1.5]) {
    const rejectedResponse = await owner.post(`${base}/keys/${key_id}/rotate`, { grace_hours })
    assert.deepEqual(
      [rejectedResponse.status, rejectedResponse.body.error.details[0].path],
      [400, 'grace_hours'],
      `${grace_hours}`,
    )
  }

  const limits = (await owner.get(`${base}/keys/${key_id}/limits`)).body.data
  const readsBucket = limits.buckets.find(({ name }: { name: string }) => name === 'reads')
  assert.deepEqual([readsBucket.minute_used, readsBucket.per_minute, limits.cooldown_until], [2, 120, null])

  assert.equal((await owner.post(`${base}/keys/${key_id}/revoke`)).body.data.status, 'revoked')
  await context.keyring.refresh()
  assert.equal((await callWith(secret).get('/workflows')).status, 401)
  const { items } = (await owner.get(`${base}/keys`)).body.data
  assert.deepEqual(
    items.map((key: any) => [key.key_id, key.status, 'secret' in key]),
    [[key_id, 'revoked', false]],
  )
  const liveKey = (await owner.get(`/orgs/${orgId}/live/keys`)).body.data.items[0]
  assert.equal((await owner.post(`${base}/keys/${liveKey.key_id}/revoke`)).status, 404, 'a key of the other mode')
  for (const expires_at of [new Date(clock.now()).toISOString(), '2027-01-01', 'soon']) {
    const rejectedResponse = await owner.post(`${base}/keys`, { kind: 'session', expires_at })
    assert.deepEqual(
      [rejectedResponse.status, rejectedResponse.body.error.details[0].path],
      [400, 'expires_at'],
      expires_at,
    )
  }
  assert.deepEqual((await owner.get('/event-types')).body.data.items, [...eventTypes])
  const sessionKeyResponse = await owner.post(`${base}/keys`, { kind: 'session' })
  assert.match(sessionKeyResponse.body.data.key, /^VSK_TEST_/)
  const actions = (await owner.get(`/orgs/${orgId}/audit?limit=3`)).body.data.items.map(({ action }: any) => action)
  assert.deepEqual(actions, ['POST /keys', 'POST /keys/:key_id/revoke', 'POST /keys/:key_id/rotate'])
})

test('requests are logged; an invalid TEST signature is logged with its reason', async () => {
  const { app, clock, as, orgId, base } = await setUp()
  clock.advance(MINUTE)
  const key = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const viewer = await signInMember(app, orgId, 'viewer')
  await as(key).get('/workflows')
  await as(key).get('/workflows/WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV?secret=1')
  await as(key).get('/workflows', { headers: { 'x-timestamp': String(Math.floor(clock.now() / 1000) - 999) } })
  await as({ ...key, keyId: 'VFN_TEST_UNKNOWN' }).get('/workflows')
  const { items, next_cursor } = (await viewer.get(`${base}/requests?limit=2`)).body.data
  const [expiredRequest, notFoundRequest] = items
  assert.deepEqual(
    [expiredRequest.method, expiredRequest.route, expiredRequest.status, expiredRequest.code, expiredRequest.key_id],
    ['GET', '/api/v1/partner/workflows', 401, 'UNAUTHORIZED', key.keyId],
  )
  assert.match(expiredRequest.differed[0].message, /999 seconds behind/)
  assert.match(expiredRequest.differed[1].message, /^The server expected this string to sign:\nVFN1\n/)
  assert.deepEqual(
    [notFoundRequest.route, notFoundRequest.status, notFoundRequest.code, notFoundRequest.differed],
    ['/api/v1/partner/workflows/:workflow_id', 404, 'NOT_FOUND', []],
  )
  assert.ok(notFoundRequest.duration_ms > 0)
  assert.ok(!JSON.stringify(items).includes('secret=1'), 'no query string')
  assert.ok(next_cursor)
  const requestsById = (await viewer.get(`${base}/requests?request_id=${expiredRequest.request_id}`)).body.data.items
  assert.deepEqual(requestsById, [expiredRequest])
  await app.fetch('/api/v1/verification/SV_UNKNOWN', {
    headers: { 'x-api-key': await app.fixtures.createSessionKey(orgId, 'test') },
  })
  const routesOf = async (api: string) =>
    (await viewer.get(`${base}/requests?api=${api}`)).body.data.items.map(({ route }: any) => route)
  assert.deepEqual(await routesOf('verification'), ['/api/v1/verification/:serviceVerificationId'])
  assert.deepEqual([...new Set(await routesOf('partner'))].sort(), [
    '/api/v1/partner/workflows',
    '/api/v1/partner/workflows/:workflow_id',
  ])
  const failedRequests = (await viewer.get(`${base}/requests?failed=true&api=partner`)).body.data.items
  assert.ok(failedRequests.length > 1 && failedRequests.every(({ status }: any) => status >= 400))
  assert.equal((await viewer.get(`/orgs/${orgId}/live/requests`)).body.data.items.length, 0)
})

test('requests with an invalid signature do not displace other entries of the log, and their text is cut', async () => {
  const { app, clock, as, orgId, base } = await setUp()
  clock.advance(MINUTE)
  const key = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const viewer = await signInMember(app, orgId, 'viewer')
  const stranger = as({ ...key, secret: 'VFN_SK_wrong' })
  const longPath = `/workflows?text=${'x'.repeat(8000)}`
  await Promise.all(Array.from({ length: 55 }, () => stranger.get(longPath)))
  for (let call = 0; call < 3; call++) await as(key).get('/workflows/WF_BC_01ARZ3NDEKTSV4RRFFQ69G5FAV')
  const { items } = (await viewer.get(`${base}/requests?failed=true&limit=100`)).body.data
  const ofKey = items.filter(({ key_id }: any) => key_id === key.keyId)
  assert.equal(ofKey.filter(({ code }: any) => code === 'NOT_FOUND').length, 3)
  const rejectedRequests = ofKey.filter(({ code }: any) => code === 'UNAUTHORIZED')
  assert.equal(rejectedRequests.length, 20)
  for (const { differed } of rejectedRequests) {
    assert.equal(differed.length, 2)
    for (const { message } of differed) assert.ok(message.length <= 1001, `${message.length} characters`)
  }
  clock.advance(MINUTE)
  await stranger.get('/workflows')
  const [latestRequest] = (await viewer.get(`${base}/requests?failed=true&limit=1`)).body.data.items
  assert.equal(latestRequest.code, 'UNAUTHORIZED', 'the next minute has its own quota')
})

test('a request flood does not fill the log, and old requests are deleted', async () => {
  const { app, context, clock, as, orgId, owner, base } = await setUp()
  clock.advance(MINUTE)
  const key = await app.fixtures.createPartnerKey(orgId)
  for (let n = 0; n < 80; n++) await as(key).get('/shifts')
  const countLogEntries = async () => {
    const { rows } = await context.db.pool.query('select count(*)::int as n from request_log where mode = $1', ['live'])
    return rows[0].n as number
  }
  await owner.get(`${base}/requests`)
  const loggedCount = await countLogEntries()
  assert.ok(loggedCount >= 50 && loggedCount <= 120, `${loggedCount} logged`)
  clock.advance(3 * DAY + SECOND)
  await enforceRetention(context)
  assert.equal(await countLogEntries(), 0)
})

test('verifications are listed by status with their emails, and the review request can be resent', async () => {
  const { app, clock, orgId, owner, base } = await setUp()
  const user = await signIn(app, owner.email)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'))
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
  const tooSoonResponse = await user.post(`${path}/resend`)
  assert.deepEqual([tooSoonResponse.status, tooSoonResponse.headers.get('retry-after')], [429, '60'], 'within a minute')
  assert.match(tooSoonResponse.body.error.message, /less than a minute ago\. Try again in 60 seconds/)
  clock.advance(MINUTE)
  const resendResponse = await user.post(`${path}/resend`)
  assert.equal(resendResponse.status, 200, JSON.stringify(resendResponse.body))
  assert.equal(resendResponse.body.data.mails.length, 2)
  assert.equal((await user.get(path.replace('/test/', '/live/'))).status, 404)

  for (let n = 0; n < 4; n++) {
    clock.advance(MINUTE)
    assert.equal((await user.post(`${path}/resend`)).status, 200)
  }
  clock.advance(MINUTE)
  const sixthResendResponse = await user.post(`${path}/resend`)
  assert.equal(sixthResendResponse.status, 429)
  assert.match(sixthResendResponse.body.error.message, /maximum of 5 reminders per day .* in 24 hours/)
  clock.advance(DAY)
  const nextUser = await signIn(app, owner.email)
  assert.equal((await nextUser.post(`${path}/resend`)).status, 200)
})

test('an expired session or link is listed as expired before a job stores the status', async () => {
  const { app, clock } = await setUp()
  const { orgId } = await app.fixtures.createOrg('Ending')
  const email = 'ending@example.com'
  await signInMember(app, orgId, 'viewer', email)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'))
  await calls.openSession({ externalStudentId: 'left' })
  await calls.requestReview({ student: { externalStudentId: 'asked' } })
  const listIdsAndStatuses = async (status: string) => {
    const viewer = await signIn(app, email)
    const { items } = (await viewer.get(`/orgs/${orgId}/test/verifications?status=${status}`)).body.data
    return items.map((item: any) => `${item.external_student_id} ${item.status}`)
  }
  clock.advance(DAY)
  assert.deepEqual(await listIdsAndStatuses('open'), [])
  assert.deepEqual(await listIdsAndStatuses('expired'), ['left expired'])
  assert.deepEqual(await listIdsAndStatuses('pending_review'), ['asked pending_review'])
  clock.advance(29 * DAY)
  assert.deepEqual(await listIdsAndStatuses('pending_review'), [])
  assert.deepEqual((await listIdsAndStatuses('expired')).sort(), ['asked expired', 'left expired'])
})
