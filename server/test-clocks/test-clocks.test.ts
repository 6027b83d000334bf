import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import {
  aCandidate,
  aTestNumberCandidate,
  type CampaignPartner,
  createCampaignPartner,
  createPartner,
  errorPaths,
} from '../../test/support/partners.ts'
import { expectOk, verificationCalls } from '../../test/support/verification.ts'
import { switchService } from '../access/service-switch.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { DAY, HOUR } from '../platform/clock.ts'
import { storeExpiredStatuses } from '../verification/jobs.ts'
import { timedWorks } from '../worker.ts'
import { runTestClocks } from './runner.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

/** 21:30 in India, when candidates are not contacted. */
const EVENING = '2030-01-15T16:00:00.000Z'
const NEXT_MORNING = '2030-01-16T03:30:00.000Z'

async function setUp(mode: 'test' | 'live' = 'test') {
  const app = await startSharedApp()
  app.clock.advance(61_000) // resets rate limits
  const partner = await createCampaignPartner(app, { mode })
  return { app, partner }
}

async function createClock(partner: Pick<CampaignPartner, 'post'>, body: object = {}): Promise<string> {
  const response = await partner.post('/test-clocks', body)
  assert.equal(response.status, 201, JSON.stringify(response.body))
  return response.body.data.test_clock_id
}

/** Advances a test clock and runs it, as the worker does. */
async function advance(app: TestApp, partner: CampaignPartner, id: string, body: { to?: string; seconds?: number }) {
  const response = await partner.post(`/test-clocks/${id}/advance`, body)
  assert.equal(response.status, 202, JSON.stringify(response.body))
  assert.equal(response.body.data.status, 'advancing')
  await runTestClocks(app.context, timedWorks)
  const { data } = (await partner.get(`/test-clocks/${id}`)).body
  assert.equal(data.status, 'ready')
  return data
}

async function listEvents({ get }: CampaignPartner): Promise<{ type: string; created_at: string; data: any }[]> {
  return (await get('/events?limit=100')).body.data.items
}

const listResults = async ({ get }: CampaignPartner, campaignId: string) =>
  (await get(`/results?campaign_id=${campaignId}&limit=100`)).body.data.items

test('test clocks are created, read, listed and archived', async () => {
  const { app, partner } = await setUp()
  const created = await partner.post('/test-clocks', { name: 'Follow-ups', starts_at: '2030-01-15T21:30:00+05:30' })
  assert.equal(created.status, 201)
  const now = new Date(app.clock.now()).toISOString()
  assert.deepEqual(
    { ...created.body.data, test_clock_id: '' },
    {
      test_clock_id: '',
      name: 'Follow-ups',
      status: 'ready',
      starts_at: EVENING,
      now: EVENING,
      advancing_to: null,
      created_at: now,
      updated_at: now,
    },
  )
  const id = created.body.data.test_clock_id
  assert.match(id, /^TC_[0-9A-HJKMNP-TV-Z]{26}$/)
  const second = await partner.post('/test-clocks', {})
  assert.deepEqual([second.body.data.name, second.body.data.now], [null, now])
  const firstPage = (await partner.get('/test-clocks?limit=1')).body.data
  assert.deepEqual(firstPage.items, [second.body.data])
  const secondPage = (await partner.get(`/test-clocks?limit=1&cursor=${firstPage.next_cursor}`)).body.data
  assert.deepEqual(secondPage, { items: [created.body.data], next_cursor: null })

  const archived = await partner.remove(`/test-clocks/${id}`)
  assert.deepEqual([archived.status, archived.body.data.status], [200, 'archived'])
  assert.deepEqual((await partner.remove(`/test-clocks/${id}`)).body.data, archived.body.data)
  assert.equal((await partner.post(`/test-clocks/${id}/advance`, { seconds: 1 })).status, 409)
  const { mandate_id } = await partner.createMandate()
  const campaign = await partner.post('/campaigns', { mandate_id, test_clock_id: id }, { idempotencyKey: true })
  assert.deepEqual([campaign.status, errorPaths(campaign)], [400, ['test_clock_id']])
})

test('a LIVE key, another organisation and a key without the scope cannot use a test clock', async () => {
  const { app, partner } = await setUp()
  const id = await createClock(partner)
  const live = await createCampaignPartner(app, { mode: 'live', orgId: partner.orgId })
  for (const response of [
    await live.post('/test-clocks', {}),
    await live.get('/test-clocks'),
    await live.get(`/test-clocks/${id}`),
    await live.post(`/test-clocks/${id}/advance`, { seconds: 1 }),
    await live.remove(`/test-clocks/${id}`),
  ]) {
    assert.deepEqual([response.status, response.body.error.code], [403, 'FORBIDDEN'])
    assert.match(response.body.error.message, /TEST mode only\. Send a TEST key/)
  }
  const { mandate_id } = await live.createMandate()
  const campaign = await live.post('/campaigns', { mandate_id, test_clock_id: id }, { idempotencyKey: true })
  assert.deepEqual([campaign.status, errorPaths(campaign)], [400, ['test_clock_id']])

  const other = await createPartner(app, 'test')
  assert.equal((await other.get(`/test-clocks/${id}`)).status, 404)
  assert.equal((await other.post(`/test-clocks/${id}/advance`, { seconds: 1 })).status, 404)
  assert.equal((await other.delete(`/test-clocks/${id}`)).status, 404)
  assert.deepEqual((await other.get('/test-clocks')).body.data.items, [])
  const otherCalls = verificationCalls(
    app,
    other.orgId,
    await app.fixtures.createSessionKey(other.orgId, 'test'),
    'test',
  )
  await assert.rejects(otherCalls.openSession({ testClockId: id }), /is not a test clock of this organisation/)
  const liveCalls = verificationCalls(app, partner.orgId, await app.fixtures.createSessionKey(partner.orgId))
  await assert.rejects(liveCalls.openSession({ testClockId: id }), /TEST mode only/)

  const reader = app.as(
    await app.fixtures.createPartnerKey(partner.orgId, { mode: 'test', scopes: ['campaigns:read'] }),
  )
  assert.equal((await reader.get(`/test-clocks/${id}`)).status, 200)
  assert.equal((await reader.post(`/test-clocks/${id}/advance`, { seconds: 1 })).body.error.code, 'SCOPE_MISSING')
})

test('invalid times and a second advance are rejected, and a repeated request has no effect', async () => {
  const { app, partner } = await setUp()
  for (const starts_at of ['tomorrow', '2010-01-01T00:00:00Z', '2040-01-01T00:00:00Z']) {
    const response = await partner.post('/test-clocks', { starts_at })
    assert.deepEqual([response.status, errorPaths(response)], [400, ['starts_at']], starts_at)
  }
  const id = await createClock(partner, { starts_at: EVENING })
  const post = (body: object, options = {}) => partner.post(`/test-clocks/${id}/advance`, body, options)
  for (const [body, path] of [
    [{}, 'body'],
    [{ to: NEXT_MORNING, seconds: 1 }, 'body'],
    [{ to: EVENING }, 'to'],
    [{ to: 'later' }, 'to'],
    [{ to: '2031-01-17T16:00:00Z' }, 'to'],
    [{ seconds: 0 }, 'seconds'],
    [{ seconds: 367 * 86_400 }, 'seconds'],
  ] as const) {
    const response = await post(body)
    assert.deepEqual([response.status, errorPaths(response)], [400, [path]], JSON.stringify(body))
  }
  const first = await post({ seconds: 60 }, { idempotencyKey: 'advance-1' })
  assert.equal(first.status, 202)
  assert.deepEqual((await post({ seconds: 60 }, { idempotencyKey: 'advance-1' })).body, first.body)
  const second = await post({ seconds: 60 })
  assert.equal(second.body.error.code, 'CONFLICT')
  assert.match(second.body.error.message, /advancing to 2030-01-15T16:01:00\.000Z\. Wait until/)
  await runTestClocks(app.context, timedWorks)
  assert.deepEqual((await post({ seconds: 60 }, { idempotencyKey: 'advance-1' })).body, first.body)
  assert.equal((await partner.get(`/test-clocks/${id}`)).body.data.now, '2030-01-15T16:01:00.000Z')
})

test('a campaign runs on its test clock: contact hours, follow-ups and expiry, with events in order', async () => {
  const { app, partner } = await setUp()
  const id = await createClock(partner, { starts_at: EVENING })
  const { mandate_id } = await partner.createMandate({
    follow_ups: [
      { after_hours: 24, channel: 'whatsapp' },
      { after_hours: 48, channel: 'whatsapp' },
    ],
  })
  const people = [1, 6, 9].map((number) => aTestNumberCandidate(number))
  const { campaign, enrolment } = await partner.createCampaign(mandate_id, people, { test_clock_id: id })
  assert.deepEqual([campaign.test_clock_id, campaign.created_at, campaign.status], [id, EVENING, 'running'])
  assert.equal(enrolment.accepted, 3)

  // Neither real time nor the clock, which stands still outside of contact hours, contacts anyone.
  await contactNow(app.context)
  await runTestClocks(app.context, timedWorks)
  const waiting = await listResults(partner, campaign.campaign_id)
  assert.deepEqual(
    waiting.map(({ started_at }: any) => started_at ?? null),
    [null, null, null],
  )

  assert.equal((await advance(app, partner, id, { to: '2030-01-16T03:31:00Z' })).now, '2030-01-16T03:31:00.000Z')
  const results = await listResults(partner, campaign.campaign_id)
  const byPhone = (number: number) =>
    results.find(({ candidate }: any) => candidate.external_candidate_id === `ext-${number}`)
  assert.equal(byPhone(1).status, 'completed')
  assert.ok(results.every(({ started_at }: any) => started_at === NEXT_MORNING))
  assert.ok(byPhone(1).completed_at > NEXT_MORNING && byPhone(1).completed_at < '2030-01-16T03:31:00.000Z')

  // The follow-up after 24 hours gets a reply from the number that answers late. The other one expires 72 hours after the last follow-up.
  await advance(app, partner, id, { seconds: 30 * 86_400 })
  const ended = await listResults(partner, campaign.campaign_id)
  const endOf = (number: number) =>
    ended.find(({ candidate }: any) => candidate.external_candidate_id === `ext-${number}`)
  assert.equal(endOf(9).status, 'completed')
  assert.ok(endOf(9).completed_at.startsWith('2030-01-17T03:30'), endOf(9).completed_at)
  assert.deepEqual([endOf(6).status, endOf(6).reason], ['failed', 'no_response'])
  const expectedExpiry = Date.parse(NEXT_MORNING) + 24 * HOUR + 48 * HOUR + 72 * HOUR
  assert.equal(endOf(6).completed_at, new Date(expectedExpiry).toISOString())

  const events = (await listEvents(partner)).filter(({ type }) => /^(result|campaign)\./.test(type))
  assert.deepEqual(
    events.map(({ type }) => type),
    ['result.completed', 'result.completed', 'result.failed', 'campaign.completed'],
  )
  const times = events.map(({ created_at }) => created_at)
  assert.deepEqual(times, times.toSorted())
  assert.equal(events[2]!.created_at, endOf(6).completed_at)
  assert.equal(events[3]!.data.completed_at, endOf(6).completed_at)
  const read = (await partner.get(`/campaigns/${campaign.campaign_id}`)).body.data
  assert.deepEqual([read.status, read.completed_at], ['completed', endOf(6).completed_at])
})

test('30 days of a campaign and of sessions pass in less than 20 seconds', async (t) => {
  const { app, partner } = await setUp()
  const sessionKey = await app.fixtures.createSessionKey(partner.orgId, 'test')
  const calls = verificationCalls(app, partner.orgId, sessionKey, 'test')
  const id = await createClock(partner, { starts_at: NEXT_MORNING })
  const { mandate_id } = await partner.createMandate({ follow_ups: [{ after_hours: 24, channel: 'whatsapp' }] })
  const people = Array.from({ length: 11 }, (_, index) => aTestNumberCandidate(index + 1))
  const { campaign } = await partner.createCampaign(mandate_id, people, { test_clock_id: id })
  const reviewers = ['endorse', 'refuse', 'silent']
  for (const name of reviewers)
    await calls.requestReview({
      student: { testClockId: id, externalStudentId: `thirty-days-${name}` },
      reviewer: { email: `${name}@test.attestry.example` },
    })

  // The guide promises this time. The advance took 8.5 s on two cores with a load of 19, so that a busy machine does not fail the test.
  const startedAt = performance.now()
  await advance(app, partner, id, { seconds: 30 * 86_400 })
  const elapsedMs = performance.now() - startedAt
  t.diagnostic(`${Math.round(elapsedMs)} ms`)
  assert.ok(elapsedMs < 20_000, `${elapsedMs} ms`)

  const results = await listResults(partner, campaign.campaign_id)
  assert.deepEqual(
    results.filter(({ status }: any) => status === 'pending'),
    [],
  )
  const events = (await listEvents(partner)).map(({ type }) => type)
  for (const type of ['campaign.completed', 'verification.completed', 'verification.declined', 'verification.expired'])
    assert.ok(events.includes(type), type)
})

test('a paused campaign waits on its test clock and continues when it is resumed', async () => {
  const { app, partner } = await setUp()
  const id = await createClock(partner, { starts_at: NEXT_MORNING })
  const { mandate_id } = await partner.createMandate({ follow_ups: [{ after_hours: 24, channel: 'whatsapp' }] })
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1)], { test_clock_id: id })
  await runTestClocks(app.context, timedWorks) // within contact hours, the first message is due at once
  const path = `/campaigns/${campaign.campaign_id}`
  const messages = async () =>
    (
      await app.context.db.queries
        .selectFrom('messages')
        .select(['created_at', 'contact_step'])
        .where('campaign_id', '=', campaign.campaign_id)
        .orderBy('message_id')
        .execute()
    ).map(({ created_at, contact_step }) => [created_at.toISOString(), contact_step])
  assert.deepEqual(await messages(), [[NEXT_MORNING, 0]])

  assert.equal((await partner.post(`${path}/pause`)).body.data.updated_at, NEXT_MORNING)
  await advance(app, partner, id, { seconds: 2 * 86_400 })
  assert.equal((await messages()).length, 1)
  const resumed = (await partner.post(`${path}/resume`)).body.data
  const twoDaysLater = new Date(Date.parse(NEXT_MORNING) + 2 * DAY).toISOString()
  assert.deepEqual([resumed.status, resumed.updated_at], ['running', twoDaysLater])
  await runTestClocks(app.context, timedWorks)
  assert.deepEqual((await messages())[1], [twoDaysLater, 1])

  const archived = await partner.remove(path)
  assert.deepEqual([archived.body.data.status, archived.body.data.updated_at], ['archived', twoDaysLater])
})

test('two test clocks and real time do not affect each other', async () => {
  const { app, partner } = await setUp()
  const first = await createClock(partner, { starts_at: NEXT_MORNING })
  const second = await createClock(partner, { starts_at: '2022-01-17T06:00:00Z' })
  const { mandate_id } = await partner.createMandate({ follow_ups: [{ after_hours: 24, channel: 'whatsapp' }] })
  // The number 10 opts out, which applies to all campaigns of an organisation.
  const people = [aTestNumberCandidate(10), aTestNumberCandidate(6)]
  const campaigns: string[] = []
  for (const test_clock_id of [first, second, undefined]) {
    const overrides = test_clock_id ? { test_clock_id } : {}
    campaigns.push((await partner.createCampaign(mandate_id, people, overrides)).campaign.campaign_id)
  }
  const statuses = async (index: number) =>
    (await listResults(partner, campaigns[index]!)).map(({ status, reason }: any) => `${status} ${reason ?? ''}`).sort()
  await advance(app, partner, first, { seconds: 30 * 86_400 })
  assert.deepEqual(await statuses(0), ['declined stopped', 'failed no_response'])
  for (const index of [1, 2]) assert.deepEqual(await statuses(index), ['pending ', 'pending '])
  assert.equal((await partner.get(`/test-clocks/${second}`)).body.data.now, '2022-01-17T06:00:00.000Z')

  await contactNow(app.context)
  app.clock.advance(10 * 1000)
  for (let round = 0; round < 8; round++) {
    await contactNow(app.context)
    app.clock.advance(1000)
  }
  assert.deepEqual(await statuses(2), ['declined stopped', 'failed no_response'])
  assert.deepEqual(await statuses(1), ['pending ', 'pending '])
  await advance(app, partner, second, { seconds: 30 * 86_400 })
  assert.deepEqual(await statuses(1), ['declined stopped', 'failed no_response'])

  // The list of results is in real time, so that pollers miss nothing, and credits are listed in the order of their times.
  const results = (await partner.get('/results?limit=100')).body.data.items
  const now = new Date(app.clock.now()).toISOString()
  assert.ok(
    results.every(({ updated_at }: any) => updated_at <= now && updated_at > '2026-03-11'),
    JSON.stringify(results),
  )
  const entries = (await partner.get('/credits/entries')).body.data.items
  assert.ok(entries.every(({ created_at }: any) => created_at <= now && created_at > '2026-03-11'))
})

test('TEST campaigns without a test clock contact people at any hour, and LIVE campaigns wait', async () => {
  const { app, partner } = await setUp()
  const live = await createCampaignPartner(app, { mode: 'live' })
  const time = app.clock.now()
  app.clock.set('2026-03-12T17:00:00Z') // 22:30 in India
  const startedAt: (string | null)[] = []
  for (const each of [partner, live]) {
    const { mandate_id } = await each.createMandate()
    const { campaign } = await each.createCampaign(mandate_id, [aCandidate(1)])
    await contactNow(app.context)
    startedAt.push((await listResults(each, campaign.campaign_id))[0].started_at ?? null)
  }
  assert.deepEqual(startedAt, ['2026-03-12T17:00:00.000Z', null])
  app.clock.set(Math.max(time, app.clock.now()))
})

test('a verification session runs on its test clock: reminders, expiry and the window of failed attempts', async () => {
  const { app, partner } = await setUp()
  const calls = verificationCalls(
    app,
    partner.orgId,
    await app.fixtures.createSessionKey(partner.orgId, 'test'),
    'test',
  )
  const id = await createClock(partner, { starts_at: NEXT_MORNING })
  const student = { testClockId: id }
  const open = await calls.openSession(student)
  assert.equal((await calls.getVerification(open)).testClockId, id)
  const { session: silent } = await calls.requestReview({
    student: { ...student, externalStudentId: 's-2' },
    reviewer: { email: 'silent@test.attestry.example' },
  })
  const { session: endorsed } = await calls.requestReview({
    student: { ...student, externalStudentId: 's-3' },
    reviewer: { email: 'endorse@test.attestry.example' },
  })
  const assessed = { ...student, externalStudentId: 's-4', email: 'fail@test.attestry.example' }
  const failing = await calls.openPreparedSession('assessment', { student: assessed })
  await expectOk(calls.generateAssessment(failing))

  const past = await createClock(partner, { starts_at: '2022-01-17T06:00:00Z' })
  const early = await calls.openSession({ testClockId: past, externalStudentId: 's-5' })

  // Real time ends nothing, and the sessions of another clock or of real time belong to other students.
  await storeExpiredStatuses(app.context)
  for (const session of [open, early]) assert.equal((await calls.getVerification(session)).status, 'open')
  const realTime = await calls.openSession({ externalStudentId: 's-4' })
  assert.notEqual(realTime.userId, failing.userId)
  assert.equal((await calls.openSession(assessed)).userId, failing.userId)

  await advance(app, partner, id, { seconds: 3600 })
  assert.equal((await calls.getVerification(endorsed)).status, 'completed')
  assert.equal((await calls.getVerification(open)).status, 'open')
  assert.equal(
    (await calls.call('POST', '/assessment/submit', { key: calls.key, token: failing.token, body: { answers: [] } }))
      .body.error.code,
    'ASSESSMENT_EXPIRED',
  )
  for (let attempt = 2; attempt <= 3; attempt++) {
    await expectOk(calls.generateAssessment(failing))
    await advance(app, partner, id, { seconds: 3600 })
  }
  assert.equal((await calls.getVerification(failing)).status, 'failed')

  await advance(app, partner, id, { seconds: 86_400 })
  assert.equal((await calls.getVerification(open)).status, 'expired')
  assert.equal((await calls.call('GET', `/verify/${open.token}`, { key: calls.key })).status, 404)
  const retried = await calls.openPreparedSession('assessment', { student: assessed })
  assert.equal((await calls.generateAssessment(retried)).body.error.code, 'ATTEMPTS_EXHAUSTED')

  await advance(app, partner, id, { seconds: 30 * 86_400 })
  assert.equal((await calls.getVerification(silent)).status, 'expired')
  const kinds = (await calls.listEmails(silent)).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['review_reminder', 'review_reminder', 'review_request'])
  const again = await calls.openPreparedSession('assessment', { student: assessed })
  await expectOk(calls.generateAssessment(again)) // the failed attempts are older than 30 days

  const events = (await listEvents(partner)).filter(({ type }) => type.startsWith('verification.'))
  const eventOf = (session: { id: string }, type: string) =>
    events.find((event) => event.type === type && event.data.serviceVerificationId === session.id)?.created_at
  assert.equal(eventOf(endorsed, 'verification.completed'), '2030-01-16T03:30:02.000Z')
  assert.equal(eventOf(open, 'verification.expired'), '2030-01-17T03:30:00.000Z')
  assert.equal(eventOf(silent, 'verification.expired'), '2030-02-15T03:30:00.000Z')
  assert.equal(eventOf(failing, 'verification.failed'), '2030-01-16T06:30:00.000Z')
})

test('a paused organisation holds its test clocks', async () => {
  const { app, partner } = await setUp()
  const id = await createClock(partner, { starts_at: NEXT_MORNING })
  const { mandate_id } = await partner.createMandate()
  const { campaign } = await partner.createCampaign(mandate_id, [aTestNumberCandidate(6)], { test_clock_id: id })
  assert.equal((await partner.post(`/test-clocks/${id}/advance`, { seconds: 30 * 86_400 })).status, 202)
  const { db, keyring } = app.context
  const setService = async (state: 'on' | 'off') => {
    await db.transaction((tx) => switchService(tx, app.clock, { orgId: partner.orgId, state }))
    await keyring.refresh()
  }
  await setService('off')
  await runTestClocks(app.context, timedWorks)
  app.clock.advance(HOUR)
  await setService('on')
  assert.equal((await partner.get(`/test-clocks/${id}`)).body.data.now, NEXT_MORNING)
  await runTestClocks(app.context, timedWorks)
  assert.equal((await partner.get(`/test-clocks/${id}`)).body.data.status, 'ready')
  const [result] = await listResults(partner, campaign.campaign_id)
  assert.deepEqual([result.status, result.reason], ['failed', 'no_response'])
})
