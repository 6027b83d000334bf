import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../../test/support/app.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'
import { contactTestCandidate, yourDataCalls } from '../../../test/support/your-data.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { runTestClocks } from '../../test-clocks/runner.ts'
import { timedWorks } from '../../worker.ts'
import { enforceRetention } from './enforce.ts'

async function refuse(app: TestApp, token: string) {
  await app.fetch(`/api/v1/candidate/${token}/reply`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ step: 1, client_id: 'no', text: 'no' }),
  })
}

const NOTHING = { conversations: 0, answers: 0, contact_data: 0, mails: 0, request_log: 0, audit: 0 }

test('each class is erased at the end of its period, and a second run erases nothing', async (t) => {
  const app = await startApp(t)
  const { partner, token, candidateId } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  await refuse(app, token)
  await yourDataCalls(app, 'candidate', token).start('correct', 'phone', { email: 'new@example.com' })
  const conversation = async () =>
    JSON.stringify((await owner.get(`/orgs/${partner.orgId}/test/candidates/${candidateId}`)).body.data.messages)
  assert.match(await conversation(), /Person 1/)

  app.clock.advance(180 * DAY - HOUR)
  assert.equal((await enforceRetention(app.context)).conversations, 0)
  app.clock.advance(HOUR)
  const first = await enforceRetention(app.context)
  assert.deepEqual([first.conversations, first.mails > 0, first.contact_data], [1, true, 0])
  const reader = await signInMember(app, partner.orgId, 'owner')
  const messages = JSON.stringify(
    (await reader.get(`/orgs/${partner.orgId}/test/candidates/${candidateId}`)).body.data.messages,
  )
  assert.doesNotMatch(messages, /Person 1/)
  assert.equal((await enforceRetention(app.context)).conversations, 0)

  app.clock.advance(185 * DAY)
  assert.equal((await enforceRetention(app.context)).answers, 1)
  const result = (await partner.get('/results')).body.data.items[0]
  assert.deepEqual([result.status, result.reason, result.candidate.name], ['declined', 'refused', 'Person 1'])

  app.clock.advance(365 * DAY)
  assert.equal((await enforceRetention(app.context)).contact_data, 1)
  assert.equal((await partner.get('/results')).body.data.items[0].candidate.name, 'erased')
  const again = await enforceRetention(app.context)
  assert.deepEqual({ ...again, request_log: 0 }, NOTHING) // requests are logged with a delay
})

test('people who take part, or whose conversation runs, are not erased', async (t) => {
  const app = await startApp(t)
  const { partner, token } = await contactTestCandidate(app)
  app.clock.advance(3000 * DAY)
  assert.equal((await enforceRetention(app.context)).contact_data, 0) // still pending
  await refuse(app, token)
  app.clock.advance(729 * DAY)
  assert.equal((await enforceRetention(app.context)).contact_data, 0)
  assert.equal((await partner.get('/results')).body.data.items[0].candidate.name, 'Person 1')
})

test('the conversation of a restricted person does not delay the erasure', async (t) => {
  const app = await startApp(t)
  const { partner } = await contactTestCandidate(app)
  const { person_id } = (await partner.get('/people?phone=%2B919810000001')).body.data.items[0]
  assert.equal((await partner.post(`/people/${person_id}/restrict`, {})).status, 200)
  app.clock.advance(730 * DAY - HOUR)
  assert.equal((await enforceRetention(app.context)).contact_data, 0)
  app.clock.advance(HOUR)
  assert.equal((await enforceRetention(app.context)).contact_data, 1)
})

test('the preview counts the people who will be erased, by date', async (t) => {
  const app = await startApp(t)
  app.clock.set('2026-11-01T06:00:00Z')
  const { partner, token } = await contactTestCandidate(app)
  await refuse(app, token)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const previewPath = `/orgs/${partner.orgId}/test/retention-preview`
  assert.deepEqual((await owner.get(previewPath)).body.data.people, [])
  const retention = `/orgs/${partner.orgId}/retention`
  const tooShort = await owner.put(retention, { contact_data: 7 })
  assert.equal(tooShort.status, 400)
  assert.match(tooShort.body.error.message, /between 30 and 2555 days, which the operator allows; got 7/)
  assert.equal((await owner.put(retention, { contact_data: 30, conversations: 10 })).status, 200)
  const { people, due } = (await owner.get(previewPath)).body.data
  assert.deepEqual(people, [{ date: '2026-12-01', count: 1 }])
  assert.deepEqual([due.contact_data, due.conversations, due.answers], [1, 1, 0])
  app.clock.set('2026-12-01T05:00:00Z')
  assert.equal((await enforceRetention(app.context)).contact_data, 0)
  app.clock.set('2026-12-01T07:00:00Z')
  assert.equal((await enforceRetention(app.context)).contact_data, 1)
})

test('the preview counts the emails of the organisation whose period ends within 90 days, unless they are held', async (t) => {
  const app = await startApp(t)
  const { partner, token } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  assert.equal((await owner.put(`/orgs/${partner.orgId}/retention`, { mails: 90 })).status, 200)
  const requestCodes = () =>
    yourDataCalls(app, 'candidate', token).start('correct', 'phone', { email: 'new@example.com' })
  const createdAt = app.clock.now()
  await requestCodes()
  app.clock.advance(1)
  await requestCodes()
  const dueEmails = async () => (await owner.get(`/orgs/${partner.orgId}/test/retention-preview`)).body.data.due.mails
  assert.equal(await dueEmails(), 2)
  app.clock.set(createdAt)
  assert.equal(await dueEmails(), 1)
  await owner.put(`/orgs/${partner.orgId}/privacy/hold`, { reason: 'Audit' })
  assert.equal(await dueEmails(), 0)
})

test('the preview counts the audit entries with personal data whose period ends within 90 days', async (t) => {
  const app = await startApp(t)
  const { orgId } = await app.fixtures.createOrg()
  const owner = await signInMember(app, orgId, 'owner')
  await owner.put(`/orgs/${orgId}/retention`, { mails: 90 })
  const { days } = (await owner.get(`/orgs/${orgId}/retention`)).body.data.classes.find(
    (each: any) => each.class === 'audit',
  )
  const { rows } = await app.context.db.pool.query(
    `select count(*)::int as n from audit_log where org_id = $1 and jsonb_path_exists(personal, '$.* ? (@ != null)')`,
    [orgId],
  )
  assert.ok(rows[0].n > 0)
  app.clock.advance((days - 90) * DAY - 1)
  const laterOwner = await signInMember(app, orgId, 'owner')
  const dueEntries = async () => (await laterOwner.get(`/orgs/${orgId}/test/retention-preview`)).body.data.due.audit
  assert.equal(await dueEntries(), 0)
  app.clock.advance(1)
  assert.equal(await dueEntries(), rows[0].n)
})

test('the bounds of the operator apply to all organisations, also to periods that were set before', async (t) => {
  const app = await startApp(t)
  const { partner } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  await owner.put(`/orgs/${partner.orgId}/retention`, { mails: 7 })
  const operator = await signIn(app)
  const bound = { class: 'mails', bound: { min_days: 60, max_days: 90 } }
  assert.equal((await operator.put('/operator/retention-bounds', bound)).status, 200)
  const readPeriod = async () => {
    const { classes } = (await owner.get(`/orgs/${partner.orgId}/retention`)).body.data
    const { days, min_days, max_days } = classes.find((each: any) => each.class === 'mails')
    return { days, min_days, max_days }
  }
  assert.deepEqual(await readPeriod(), { days: 60, min_days: 60, max_days: 90 })
  const saveDays = async (mails: number) => (await owner.put(`/orgs/${partner.orgId}/retention`, { mails })).status
  assert.deepEqual(
    [await saveDays(59), await saveDays(60), await saveDays(91), await saveDays(90)],
    [400, 200, 400, 200],
  )
  assert.equal((await readPeriod()).days, 90)
  assert.equal((await owner.put('/operator/retention-bounds', bound)).status, 403)
})

test('a legal hold of a person or of the organisation stops the erasure until it ends', async (t) => {
  const app = await startApp(t)
  const { partner, token, candidateId } = await contactTestCandidate(app)
  await refuse(app, token)
  const { rows } = await app.context.db.pool.query('select person_id from candidates where candidate_id = $1', [
    candidateId,
  ])
  const personHold = `/orgs/${partner.orgId}/test/people/${rows[0].person_id}/hold`
  const organisationHold = `/orgs/${partner.orgId}/privacy/hold`
  const owner = await signInMember(app, partner.orgId, 'owner')
  assert.equal((await owner.put(personHold, { reason: 'Lawsuit 12/2026' })).status, 200)
  assert.equal((await owner.put(organisationHold, { reason: 'Audit' })).status, 200)
  app.clock.advance(1000 * DAY)
  const held = await enforceRetention(app.context)
  assert.deepEqual([held.contact_data, held.conversations, held.answers], [0, 0, 0])
  const laterOwner = await signInMember(app, partner.orgId, 'owner')
  await laterOwner.put(organisationHold, { reason: null })
  assert.equal((await enforceRetention(app.context)).contact_data, 0) // the person is still held
  await laterOwner.put(personHold, { reason: null })
  assert.equal((await enforceRetention(app.context)).contact_data, 1)
})

test('the data of a campaign with a test clock is erased when the clock moves', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const created = await partner.post('/test-clocks', { starts_at: '2026-03-02T06:00:00Z' })
  assert.equal(created.status, 201, JSON.stringify(created.body))
  const { test_clock_id } = created.body.data
  const { mandate_id } = await partner.createMandate({})
  await partner.createCampaign(mandate_id, [aCandidate(1)], { test_clock_id })
  const advance = async (to: string) => {
    const response = await partner.post(`/test-clocks/${test_clock_id}/advance`, { to })
    assert.equal(response.status < 300, true, JSON.stringify(response.body))
    await runTestClocks(app.context, timedWorks)
  }
  await advance('2026-06-01T06:00:00Z') // the conversation has expired without a reply
  const name = async () => (await partner.get('/results')).body.data.items[0].candidate.name
  assert.equal(await name(), 'Person 1')
  await advance('2027-06-01T06:00:00Z')
  await advance('2028-02-01T06:00:00Z')
  assert.equal(await name(), 'Person 1')
  await advance('2028-06-01T06:00:00Z')
  assert.equal(await name(), 'erased')
  assert.equal((await enforceRetention(app.context)).contact_data, 0)
})

test('the time of the server does not erase the data of a campaign with a test clock before the clock is archived', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { test_clock_id } = (await partner.post('/test-clocks', { starts_at: '2026-03-02T06:00:00Z' })).body.data
  const { mandate_id } = await partner.createMandate({})
  await partner.createCampaign(mandate_id, [aCandidate(1)], { test_clock_id })
  await partner.post(`/test-clocks/${test_clock_id}/advance`, { to: '2026-06-01T06:00:00Z' })
  await runTestClocks(app.context, timedWorks)
  app.clock.advance(2000 * DAY)
  assert.equal((await enforceRetention(app.context)).contact_data, 0)
  assert.equal((await partner.remove(`/test-clocks/${test_clock_id}`)).status, 200)
  assert.equal((await enforceRetention(app.context)).contact_data, 1)
})
