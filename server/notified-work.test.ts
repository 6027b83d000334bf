import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prepareMandates, startApp } from '../test/support/app.ts'
import { startAts } from '../test/support/ats/connection.ts'
import { oncePerFile } from '../test/support/cleanup.ts'
import { signIn, signInMember } from '../test/support/console.ts'
import { decide } from '../test/support/issued-credentials.ts'
import { aCandidate, createCampaignPartner } from '../test/support/partners.ts'
import { TWILIO } from '../test/support/provider.ts'
import { answerQuestions, verificationCalls } from '../test/support/verification.ts'
import { COUNTS_ADDED_TOPIC } from './analytics/rollups.ts'
import { changeConnection, TESTS_DUE } from './ats/connections.ts'
import { CONTACT_DUE } from './campaigns/contact/messages.ts'
import { saveCredentials } from './channels/credentials.ts'
import { AUDIT_RECORDED } from './console/audit.ts'
import { CREDENTIALS_DUE } from './credentials/holders/consents.ts'
import { MANDATE_TO_PREPARE } from './mandates/mandates.ts'
import { DELAYED_JOBS_TOPIC } from './platform/jobs/delayed-jobs.ts'
import { REVIEW_MESSAGE_DUE } from './review-messages/review-messages.ts'
import { WEBHOOK_CREATED } from './webhooks/webhooks.ts'

// An engine that is not notified finds its work with the next poll only, seconds later.
const setUp = oncePerFile(async (t) => {
  const app = await startApp(t)
  app.clock.set('2026-03-11T06:30:00Z') // noon in India
  const published = new Set<string>()
  for (const topic of [
    AUDIT_RECORDED,
    CONTACT_DUE,
    COUNTS_ADDED_TOPIC,
    CREDENTIALS_DUE,
    DELAYED_JOBS_TOPIC,
    MANDATE_TO_PREPARE,
    REVIEW_MESSAGE_DUE,
    TESTS_DUE,
    WEBHOOK_CREATED,
  ])
    app.context.db.onCommitted(topic, () => published.add(topic))

  /** Runs a change, and returns which of the topics it published. */
  async function topicsOf(change: () => Promise<unknown>): Promise<string[]> {
    published.clear()
    const result = (await change()) as { status?: number; body?: unknown } | undefined
    assert.ok((result?.status ?? 200) < 300, JSON.stringify(result?.body))
    return [...published].sort()
  }
  return { app, topicsOf }
})

test('enrolling, pausing, spending caps and restrictions notify the engine that contacts people', async () => {
  const { app, topicsOf } = await setUp()
  const partner = await createCampaignPartner(app, { mode: 'test' })
  const { mandate_id } = await partner.createMandate()
  const enrolled = await topicsOf(() => partner.createCampaign(mandate_id, [aCandidate(1)]))
  assert.ok(enrolled.includes(CONTACT_DUE) && enrolled.includes(COUNTS_ADDED_TOPIC), enrolled.join())
  const { person_id } = (await partner.get('/people?phone=%2B919810000001')).body.data.items[0]
  for (const action of ['restrict', 'unrestrict'])
    assert.ok((await topicsOf(() => partner.post(`/people/${person_id}/${action}`, {}))).includes(CONTACT_DUE), action)
})

test('switching the service of an organisation on again notifies the engine that contacts people', async () => {
  const { app, topicsOf } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const operator = await signIn(app)
  const path = `/operator/orgs/${orgId}/service`
  assert.equal((await operator.put(path, { on: false })).status, 200)
  app.clock.advance(60_000)
  const topics = await topicsOf(() => operator.put(path, { on: true }))
  assert.deepEqual(topics, [AUDIT_RECORDED, CONTACT_DUE])
})

test('creating, changing and retrying a mandate notifies the engine that prepares it', async () => {
  const { app, topicsOf } = await setUp()
  const partner = await createCampaignPartner(app, { mode: 'test' })
  const { context } = app
  const { mandate_id } = await partner.createMandate()
  const { workflow_id, ...mandate } = (await partner.get(`/mandates/${mandate_id}`)).body.data
  const { title, company_name, location } = mandate
  const body = { workflow_id, title, company_name, location, skills: [{ skill_id: 'sk_2001', verify: true }] }
  assert.deepEqual(await topicsOf(() => partner.post('/mandates', { ...body, title: 'Wireman' })), [MANDATE_TO_PREPARE])
  assert.deepEqual(await topicsOf(() => partner.put(`/mandates/${mandate_id}`, body)), [MANDATE_TO_PREPARE])
  await prepareMandates(context)
  await context.db.pool.query("update mandates set status = 'failed' where mandate_id = $1", [mandate_id])
  assert.deepEqual(await topicsOf(() => partner.post(`/mandates/${mandate_id}/retry`, {})), [MANDATE_TO_PREPARE])
})

test('approving the skill that a mandate waits for notifies the engine that prepares it', async () => {
  const { app, topicsOf } = await setUp()
  const partner = await createCampaignPartner(app, { mode: 'live' })
  const { mandate_id } = await partner.createMandate()
  const { workflow_id, title, company_name, location } = (await partner.get(`/mandates/${mandate_id}`)).body.data
  const name = 'Rope ladder weaving'
  const { request_id } = (await partner.post('/skill-requests', { name })).body.data
  const skills = [
    { skill_id: 'sk_2001', verify: true },
    { name, pending: true },
  ]
  const created = await partner.post('/mandates', { workflow_id, title, company_name, location, skills })
  assert.equal(created.status, 202, JSON.stringify(created.body))
  await prepareMandates(app.context)
  const operator = await signIn(app)
  const [{ sub_skill_id }] = (await operator.get('/operator/catalogue/sub-skills?limit=1')).body.data.items
  const approve = () => operator.post(`/operator/skill-requests/${request_id}/approve`, { sub_skill_id })
  const topics = await topicsOf(approve)
  assert.ok(topics.includes(MANDATE_TO_PREPARE), topics.join())
})

test('connecting an ATS and changing its connection notify the engine that sends the list of tests', async (t) => {
  const { app, topicsOf } = await setUp()
  const { partner, connectionId } = await startAts(t, app, 'kombo')
  const change = () =>
    app.context.db.transaction((tx) => changeConnection(tx, app.context, partner.scope, connectionId, { name: 'New' }))
  assert.ok((await topicsOf(change)).includes(TESTS_DUE))
  assert.ok((await topicsOf(() => startAts(t, app, 'kombo').then(() => undefined))).includes(TESTS_DUE))
})

test('passing an assessment notifies the engine that issues the credentials that the student wants', async () => {
  const { app, topicsOf } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const session = await calls.openPreparedSession('assessment')
  assert.equal((await decide(calls, session, { wanted: true, showName: false })).status, 200)
  const answers = await answerQuestions(calls, session)
  const topics = await topicsOf(() => calls.submitAnswers(session, answers))
  assert.ok(topics.includes(CREDENTIALS_DUE), topics.join())
})

test('the link of a review to a phone notifies the engine that sends it', async () => {
  const { app, topicsOf } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const { context } = app
  await context.db.transaction((tx) =>
    saveCredentials(tx, context.vault, app.clock, orgId, 'sms', { ...TWILIO, from: '+14155550100' }),
  )
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const topics = await topicsOf(async () => {
    await calls.requestReview({ reviewer: { phone: '+14155550101' } })
  })
  assert.ok(topics.includes(REVIEW_MESSAGE_DUE), topics.join())
})

test('a new webhook is announced to the engine that calls it', async () => {
  const { app, topicsOf } = await setUp()
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createPartnerKey(orgId)
  const owner = await signInMember(app, orgId, 'owner')
  const url = 'https://203.0.113.7/hook'
  assert.ok((await topicsOf(() => app.as(key).post('/webhooks', { url }))).includes(WEBHOOK_CREATED))
  const created = await topicsOf(() => owner.post(`/orgs/${orgId}/live/webhooks`, { url }))
  assert.ok(created.includes(WEBHOOK_CREATED), created.join())
})
