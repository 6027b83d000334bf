import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { inviteCandidate } from '../../test/support/candidate.ts'
import { signIn, signInMember } from '../../test/support/console.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { startSmtp } from '../../test/support/smtp.ts'
import { until } from '../../test/support/until.ts'
import { verificationCalls } from '../../test/support/verification.ts'
import { startWebhookApp } from '../../test/support/webhooks.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { DAY, HOUR, MINUTE } from '../platform/clock.ts'
import { storeExpiredStatuses } from '../verification/jobs.ts'
import { remindReviewers } from '../verification/reviews/review-requests.ts'

/** Switches the service as the operator in the console; for all organisations without an ID. */
async function switchService(app: TestApp, body: object, orgId?: string) {
  const operator = await signIn(app)
  const response = await operator.put(orgId ? `/operator/orgs/${orgId}/service` : '/operator/service', body)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  return response.body.data
}

const OFF = { on: false, reason: 'reported for spam' }
const ON = { on: true }

async function verificationOf(app: TestApp, orgId: string) {
  return verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
}

test('a switched-off organisation gets 503 SERVICE_DISABLED from every API and page, and loses nothing', async (t) => {
  const app = await startApp(t)
  const operator = await signIn(app)
  const { link, token, partner, getCandidacy } = await inviteCandidate(app)
  const calls = await verificationOf(app, partner.orgId)
  const { session, token: reviewToken } = await calls.requestReview()
  const openSession = await calls.openSession({ externalStudentId: 'stu-2' })
  const page = link.slice(app.context.config.publicUrl!.length)
  const requests: [string, () => Promise<{ status: number; body: any }>][] = [
    ['partner read', () => partner.get('/results')],
    ['partner write', () => partner.post('/workflows', { name: 'x' })],
    ['open session', () => calls.call('POST', '/verify', { key: calls.key, body: {} })],
    ['read session by path', () => calls.call('GET', `/verify/${openSession.token}`)],
    [
      'step 1 by token',
      () =>
        calls.call('POST', '/step1/storeskills/store', {
          body: { sessionToken: openSession.token, skills: [{ skillId: 'sk_1001' }] },
        }),
    ],
    ['read verification', () => calls.call('GET', `/verification/${session.id}`, { key: calls.key })],
    ['search skills', () => calls.call('GET', '/skills/search?q=wall', { token: openSession.token })],
    ['session email', () => calls.call('GET', `/step3/store-verification-items/${openSession.token}/email`)],
    ['get reviewer', () => calls.call('GET', `/storereviewerdetails/${session.id}`)],
    ['review page', () => calls.getReviewPage(session)],
    ['submit review', () => calls.submitReview(session, reviewToken, { declined: true, reason: 'no' })],
    ['generate', () => calls.call('POST', '/assessment/generate', { token: openSession.token })],
    ['candidate view', () => app.fetch(`/api/v1/candidate/${token}`)],
    ['candidate reply', () => candidateReply('no')],
  ]
  function candidateReply(value: string) {
    const body = JSON.stringify({ step: 1, value, client_id: `c-${value}` })
    return app.fetch(`/api/v1/candidate/${token}/reply`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  }

  const switched = await switchService(app, OFF, partner.orgId)
  assert.deepEqual([switched.service_off, switched.service_paused], [true, true])
  for (const [name, send] of requests) {
    const { status, body } = await send()
    assert.deepEqual([name, status, body.error.code], [name, 503, 'SERVICE_DISABLED'])
    assert.equal(body.success, false)
  }
  const pausedPage = await fetch(app.url + page, { headers: { 'accept-language': 'hi' } })
  assert.equal(pausedPage.status, 503)
  assert.match(await pausedPage.text(), /यह बातचीत अभी रुकी हुई है/)
  const member = await signInMember(app, partner.orgId, 'owner')
  const [organisation] = (await member.get('/session')).body.data.organisations
  assert.deepEqual([organisation.service_off, organisation.service_paused], [true, true])
  assert.match(
    (await member.post(`/orgs/${partner.orgId}/members`, { email: 'a@example.com', role: 'viewer' })).body.error
      .message,
    /read-only/,
  )
  assert.equal((await member.get(`/orgs/${partner.orgId}`)).status, 200)
  const [audit] = (await operator.get(`/operator/audit?org_id=${partner.orgId}`)).body.data.items
  assert.deepEqual([audit.action, audit.details], ['service.off', { reason: 'reported for spam' }])

  // A second organisation is not affected.
  const other = await inviteCandidate(app)
  assert.equal((await other.partner.get('/results')).status, 200)
  assert.equal((await app.fetch(`/api/v1/candidate/${other.token}`)).status, 200)

  await switchService(app, ON, partner.orgId)
  assert.equal((await calls.getVerification(session)).status, 'pending_review')
  assert.equal((await getCandidacy()).status, 'pending')
  assert.equal((await candidateReply('no')).status, 200)
  assert.equal((await getCandidacy()).reason, 'refused')
})

test('while the service is off, a candidate can still opt out on an open page', async (t) => {
  const app = await startApp(t)
  const { token, partner, getCandidacy } = await inviteCandidate(app)
  await switchService(app, OFF, partner.orgId)
  const body = JSON.stringify({ step: 1, value: 'stop', client_id: 'c-1' })
  const headers = { 'content-type': 'application/json' }
  assert.equal((await app.fetch(`/api/v1/candidate/${token}/reply`, { method: 'POST', headers, body })).status, 200)
  assert.deepEqual([(await getCandidacy()).status, (await getCandidacy()).reason], ['declined', 'stopped'])
})

test('api_only stops the partner API alone', async (t) => {
  const app = await startApp(t)
  const { token, partner } = await inviteCandidate(app)
  const calls = await verificationOf(app, partner.orgId)
  const switched = await switchService(app, { on: false, api_only: true }, partner.orgId)
  assert.deepEqual([switched.service_off, switched.service_paused], [true, false])
  assert.equal((await partner.get('/results')).status, 503)
  assert.equal((await calls.call('POST', '/verify', { key: calls.key, body: {} })).status, 400)
  assert.equal((await app.fetch(`/api/v1/candidate/${token}`)).status, 200)
  const forAll = await switchService(app, { on: false, api_only: true, reason: 'upgrade' })
  assert.deepEqual([forAll.on, forAll.state, forAll.reason], [false, 'api_off', 'upgrade'])
  assert.equal((await app.fetch(`/api/v1/candidate/${token}`)).status, 200)
})

test('contacts and replies of test numbers wait while the service is off, and continue once, in order', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const partner = await createCampaignPartner(app)
  const other = await createCampaignPartner(app)
  const campaigns: string[] = []
  for (const { createMandate, createCampaign } of [partner, other]) {
    const { mandate_id } = await createMandate({ follow_ups: [{ after_hours: 24, channel: 'whatsapp' }] })
    const { campaign } = await createCampaign(mandate_id, [aTestNumberCandidate(1), aCandidate(2)])
    campaigns.push(campaign.campaign_id)
  }
  const messagesOf = async (campaignId: string) => {
    const { rows } = await sql<{ step: number | null; direction: string }>`
      select contact_step as step, direction from messages where campaign_id = ${campaignId} order by message_id`.execute(
      context.db.queries,
    )
    return rows
  }
  const first = await switchService(app, OFF, partner.orgId)
  assert.equal(first.service_paused, true)
  await contactNow(context)
  clock.advance(MINUTE)
  await contactNow(context)
  assert.ok((await messagesOf(campaigns[1]!)).length >= 3, 'the other organisation contacts candidates')
  assert.deepEqual(await messagesOf(campaigns[0]!), [])

  await switchService(app, ON, partner.orgId)
  await contactNow(context)
  const contacted = await messagesOf(campaigns[0]!)
  assert.deepEqual(contacted.filter(({ step }) => step === 0).length, 2, 'each candidate is contacted once')

  // The switch for all stops both, also the replies of test numbers.
  await switchService(app, OFF)
  const before = [await messagesOf(campaigns[0]!), await messagesOf(campaigns[1]!)]
  clock.advance(26 * HOUR)
  await contactNow(context)
  assert.deepEqual([await messagesOf(campaigns[0]!), await messagesOf(campaigns[1]!)], before)
  await switchService(app, ON)
  await contactNow(context)
  const followUps = async (id: string) => (await messagesOf(id)).filter(({ step }) => step === 1).length
  assert.deepEqual([await followUps(campaigns[0]!), await followUps(campaigns[1]!)], [1, 1])
})

test('the time in which a candidate can reply is extended by the pause', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { partner, getCandidacy } = await inviteCandidate(app, { workflow: { follow_ups: [] } })
  clock.advance(70 * HOUR) // the conversation expires after 72 hours
  await switchService(app, OFF, partner.orgId)
  clock.advance(24 * HOUR)
  await switchService(app, OFF, partner.orgId) // a second time, which continues the pause
  clock.advance(24 * HOUR)
  await contactNow(context)
  // Two overlapping pauses count once.
  await switchService(app, OFF)
  clock.advance(10 * HOUR)
  await switchService(app, ON, partner.orgId)
  clock.advance(2 * HOUR)
  await switchService(app, ON)
  await contactNow(context)
  assert.equal((await getCandidacy()).status, 'pending')
  clock.advance(119 * MINUTE)
  await contactNow(context)
  assert.equal((await getCandidacy()).status, 'pending')
  clock.advance(2 * MINUTE)
  await contactNow(context)
  assert.deepEqual([(await getCandidacy()).status, (await getCandidacy()).reason], ['failed', 'no_response'])
})

test('a global pause that ends during the own pause of an organisation counts as its own', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { partner, getCandidacy } = await inviteCandidate(app, { workflow: { follow_ups: [] } })
  clock.advance(70 * HOUR)
  await switchService(app, OFF)
  clock.advance(10 * HOUR)
  await switchService(app, OFF, partner.orgId)
  clock.advance(10 * HOUR)
  await switchService(app, ON)
  await contactNow(context)
  clock.advance(10 * HOUR)
  await switchService(app, ON, partner.orgId)
  clock.advance(119 * MINUTE)
  await contactNow(context)
  assert.equal((await getCandidacy()).status, 'pending')
  clock.advance(2 * MINUTE)
  await contactNow(context)
  assert.equal((await getCandidacy()).status, 'failed')
})

test('sessions, review links and assessments are extended by the pause, and reminders wait', async (t) => {
  const app = await startApp(t)
  const { context, clock } = app
  const { orgId } = await app.fixtures.createOrg()
  const calls = await verificationOf(app, orgId)
  const { session: reviewed, token } = await calls.requestReview()
  const assessed = await calls.openPreparedSession('assessment', { student: { externalStudentId: 'stu-2' } })
  await calls.generateAssessment(assessed)
  const open = await calls.openSession({ externalStudentId: 'stu-3' })
  const emailCount = async () => (await calls.listEmails(reviewed)).length

  await switchService(app, OFF, orgId)
  clock.advance(31 * DAY)
  assert.equal(await remindReviewers(context), 0)
  await storeExpiredStatuses(context)
  assert.equal(await emailCount(), 1)
  await switchService(app, ON, orgId)

  const answers = await calls.getCorrectAnswers(assessed)
  const submitted = await calls.submitAnswers(
    assessed,
    answers.map(({ questionId, option }) => ({ questionId, option })),
  )
  assert.equal(submitted.status, 200, JSON.stringify(submitted.body))
  assert.equal((await calls.storeSkills(open)).status, 200)
  assert.equal((await calls.getReviewPage(reviewed)).status, 200)
  assert.equal(await remindReviewers(context), 1)
  assert.equal(await emailCount(), 2)
  assert.equal((await calls.submitReview(reviewed, token, { declined: true, reason: 'not mine' })).status, 200)
  clock.advance(DAY + 1)
  await storeExpiredStatuses(context)
  assert.equal((await calls.getVerification(open)).status, 'expired')
})

test('emails are held with a visible reason while the service is off, and sent once afterwards', async (t) => {
  const smtp = await startSmtp()
  const app = await startApp(t, { worker: true, config: { smtpUrl: smtp.url } })
  t.after(smtp.stop)
  const operator = await signIn(app)
  const { orgId } = await app.fixtures.createOrg()
  const calls = await verificationOf(app, orgId)
  const session = await calls.openPreparedSession('human')
  await calls.storeReviewer(session)
  await until(async () => smtp.received.length === 1)

  await switchService(app, OFF, orgId)
  const { orgId: otherId } = await app.fixtures.createOrg()
  const others = await verificationOf(app, otherId)
  const resend = () => operator.post(`/orgs/${orgId}/live/verifications/${session.id}/resend`)
  app.clock.advance(2 * MINUTE)
  const resent = await resend()
  assert.equal(resent.status, 200, JSON.stringify(resent.body))
  await until(async () => (await calls.listEmails(session))[0]!.last_error?.startsWith('held:') ?? false)
  const [held] = await calls.listEmails(session)
  assert.deepEqual([held!.status, held!.attempts], ['queued', 0])
  await others.requestReview()
  await until(async () => smtp.received.length === 2)

  await switchService(app, ON, orgId)
  await until(async () => (await calls.listEmails(session))[0]!.status === 'sent')
  assert.equal(smtp.received.length, 3)
  assert.equal((await calls.listEmails(session))[0]!.last_error, null)
})

test('webhook deliveries are held while the service is off: no attempt is made or counted', async (t) => {
  const app = await startWebhookApp(t)
  const { clock, createKey, createEndpoint, recordEvents, listDeliveries, fixtures } = app
  const key = await createKey('test')
  const other = await createKey('test', (await fixtures.createOrg()).orgId)
  const receiver = await startReceiver(t)
  const otherReceiver = await startReceiver(t)
  const { webhook_id } = await createEndpoint(key, receiver.url)
  await createEndpoint(other, otherReceiver.url)
  app.startDelivery()
  await recordEvents(key, { n: 0 })
  await receiver.waitFor(1)

  await switchService(app, OFF, key.orgId)
  const heldIds = await recordEvents(key, { n: 1 }, { n: 2 }, { n: 3 })
  await recordEvents(other, { n: 1 })
  await otherReceiver.waitFor(1)
  clock.advance(DAY)
  await recordEvents(other, { n: 2 })
  await otherReceiver.waitFor(2)
  assert.equal(receiver.received.length, 1)

  await switchService(app, ON, key.orgId)
  await receiver.waitFor(4)
  await until(async () => (await listDeliveries(key, webhook_id)).every(({ status }) => status === 'delivered'))
  assert.deepEqual(receiver.eventIds().slice(1).sort(), heldIds.toSorted())
  assert.deepEqual(
    (await listDeliveries(key, webhook_id)).map(({ attempts }) => attempts.length),
    [1, 1, 1, 1],
  )
})

test('mandates are prepared after the pause', async (t) => {
  const app = await startApp(t, { worker: true })
  const partner = await createCampaignPartner(app)
  const { workflow_id } = await app.fixtures.createWorkflow(partner.scope)
  await switchService(app, OFF, partner.orgId)
  const { mandate_id } = await app.fixtures.createMandate(partner.scope, { workflow_id })
  const statusOf = async () => {
    const row = await app.context.db.queries
      .selectFrom('mandates')
      .select('status')
      .where('mandate_id', '=', mandate_id)
      .executeTakeFirstOrThrow()
    return row.status
  }
  const otherOrg = await app.fixtures.createOrg()
  const otherMandate = await app.fixtures.createMandate({ orgId: otherOrg.orgId, mode: 'live' })
  await until(
    async () => (await app.as(otherOrg.key).get(`/mandates/${otherMandate.mandate_id}`)).body.data.status === 'ready',
  )
  assert.equal(await statusOf(), 'preparing')
  await switchService(app, ON, partner.orgId)
  await until(async () => (await statusOf()) === 'ready')
})

test('a long poll that is open when the service is switched off does not return later events', async (t) => {
  const app = await startWebhookApp(t)
  const key = await app.createKey('test')
  const longPoll = app.as(key).get('/events?wait=25')
  await switchService(app, OFF, key.orgId)
  await app.recordEvents(key, { n: 1 })
  assert.equal((await longPoll).status, 503)
})
