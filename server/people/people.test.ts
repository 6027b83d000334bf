import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../test/support/app.ts'
import { inviteCandidates } from '../../test/support/candidate.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { aCandidate, createCampaignPartner } from '../../test/support/partners.ts'
import { until } from '../../test/support/until.ts'
import { contactNow } from '../campaigns/contact/engine.ts'
import { correctPerson } from './correction.ts'

const startSharedApp = oncePerFile((t) => startApp(t))
const ERASURE = { basis: 'GDPR Article 17', requested_by: 'data subject, ticket 4711' }

const QUESTIONS = {
  methods: ['data_enrichment', 'interest_collection'],
  enrichment_questions: [
    { key: 'experience', type: 'voice', text: 'Describe your experience.' },
    { key: 'licence', type: 'yes_no', text: 'Do you hold a licence?', knockout: 'no' },
  ],
} as const

async function setUp() {
  const app = await startSharedApp()
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ languages: ['en'] }, QUESTIONS as never)
  return { app, partner, mandate_id }
}

/** Enrols two candidates with the same phone number in two campaigns; the first one answers all questions. */
async function enrolTwice() {
  const { app, partner, mandate_id } = await setUp()
  const asha = aCandidate(1, { name: 'Asha Verma', email: 'Asha.Verma@example.com', metadata: { city: 'Nashik' } })
  const [first] = await inviteCandidates(app, partner, mandate_id, [asha])
  const [second] = await inviteCandidates(app, partner, mandate_id, [asha])
  await first!.page.view()
  await first!.page.reply({ value: 'yes' })
  await first!.page.reply({ text: 'Twelve years at Lakshmi Textiles' })
  await first!.page.reply({ value: 'yes' })
  app.clock.advance(60_000)
  await first!.page.reply({ value: 'yes' })
  const { body } = await partner.get('/people?phone=%2B919810000001')
  return { app, partner, mandate_id, asha, first: first!, second: second!, people: body.data.items }
}

test('candidates with the same phone number are one person, found by phone number and by mailbox', async () => {
  const { partner, people } = await enrolTwice()
  assert.equal(people.length, 1)
  const [person] = people
  assert.match(person.person_id, /^PER_/)
  assert.equal(person.status, 'active')
  assert.deepEqual(
    person.candidates.map(({ external_candidate_id }: any) => external_candidate_id),
    ['ext-1', 'ext-1'],
  )
  const byEmail = await partner.get('/people?email=asha.verma%2Bjobs@example.com')
  assert.deepEqual(byEmail.body.data.items, people)
  assert.deepEqual((await partner.get(`/people/${person.person_id}`)).body.data, person)
  assert.deepEqual((await partner.get('/people?phone=%2B919810000002')).body.data.items, [])
  assert.equal((await partner.get('/people')).status, 400)
})

test('an unverified email address does not join two people', async () => {
  const { app, partner, mandate_id } = await setUp()
  await inviteCandidates(app, partner, mandate_id, [
    aCandidate(1, { email: 'family@example.com' }),
    aCandidate(2, { email: 'family@example.com' }),
  ])
  const { body } = await partner.get('/people?email=family@example.com')
  assert.equal(body.data.items.length, 2)
})

test('the export contains the values, answers and messages of the person', async () => {
  const { partner, first, people } = await enrolTwice()
  const { body } = await partner.get(`/people/${people[0].person_id}/export`)
  const text = JSON.stringify(body.data.sections)
  for (const value of [
    'Asha Verma',
    '+919810000001',
    'Asha.Verma@example.com',
    'Nashik',
    'Twelve years at Lakshmi Textiles',
  ])
    assert.ok(text.includes(value), value)
  const { records } = body.data.sections.find(({ name }: any) => name === 'candidacies')
  const started = Date.parse(records[0].started_at)
  const time = (secondsLater: number) => new Date(started + 1000 * secondsLater).toISOString()
  assert.deepEqual(records[0], {
    candidate_id: first.candidateId,
    external_candidate_id: 'ext-1',
    company: 'Metro Ltd',
    job: 'Electrician',
    name: 'Asha Verma',
    phone: '+919810000001',
    email: 'Asha.Verma@example.com',
    metadata: { city: 'Nashik' },
    consent: null,
    language: 'en',
    status: 'completed',
    reason: null,
    answers: { experience: 'Twelve years at Lakshmi Textiles', licence: 'yes' },
    interested: true,
    skills: [],
    enrolled_at: time(0),
    started_at: time(0),
    completed_at: time(60),
  })
  assert.deepEqual(
    [records[1].status, records[1].completed_at, records[1].answers, records[1].interested],
    ['pending', null, {}, null],
  )
  const html = (await partner.get(`/people/${people[0].person_id}/export?format=html`)).body.data.html
  assert.match(html, /^<!doctype html>/)
  assert.ok(html.includes('Twelve years at Lakshmi Textiles'))
})

test('an erased person is not contacted; results, lists and events carry the marker', async () => {
  const { app, partner, first, second, people } = await enrolTwice()
  const { person_id } = people[0]
  const before = (await partner.get('/events?acknowledged=all')).body.data.items
  assert.ok(JSON.stringify(before).includes('Asha Verma'))
  const { status, body } = await partner.post(`/people/${person_id}/erase`, ERASURE)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.data.status, 'erased')
  assert.equal((await second.getCandidacy()).status, 'failed')
  const result = await first.getResult()
  assert.deepEqual(result.candidate.name, 'erased')
  assert.deepEqual(result.candidate.metadata, {})
  assert.deepEqual(result.output.enrichment.experience.answer, 'erased')
  assert.equal(result.output.qualified, true)
  const after = (await partner.get('/events?acknowledged=all')).body.data.items
  assert.ok(!/Asha|Nashik|Lakshmi/.test(JSON.stringify(after)))
  assert.deepEqual(
    after.slice(0, before.length).map(({ event_id, sequence }: any) => [event_id, sequence]),
    before.map(({ event_id, sequence }: any) => [event_id, sequence]),
  )
  const erased = after.find(({ type }: any) => type === 'person.erased')
  assert.equal(erased.data.person_id, person_id)
  assert.equal(erased.data.candidates.length, 2)
  assert.deepEqual((await partner.get('/people?phone=%2B919810000001')).body.data.items, [])
  assert.deepEqual((await partner.get(`/people/${person_id}/export`)).body.data.sections, [])
  await assert.rejects(second.page.view(), /^Error: 410 .*was erased/)
  app.clock.advance(5 * 24 * 3_600_000)
  await contactNow(app.context)
  assert.equal((await partner.post(`/people/${person_id}/erase`, ERASURE)).body.data.erased_at, body.data.erased_at)
})

test('after the erasure, the same phone number is a new person, and an opt-out stays', async () => {
  const { app, partner, mandate_id, asha, first, people } = await enrolTwice()
  await first.page.reply({ value: 'stop' })
  await partner.post(`/people/${people[0].person_id}/erase`, ERASURE)
  const [again] = await inviteCandidates(app, partner, mandate_id, [asha])
  const candidacy = await again!.getCandidacy()
  assert.deepEqual([candidacy.status, candidacy.reason, candidacy.name], ['declined', 'stopped', 'Asha Verma'])
  assert.notEqual(candidacy.person_id, people[0].person_id)
})

test('a corrected person is found by the new values', async () => {
  const { partner, people, first } = await enrolTwice()
  const { person_id } = people[0]
  const correction = { name: 'Asha Sharma', phone: '+919810000077', email: 'asha@example.org' }
  assert.equal((await partner.patch(`/people/${person_id}`, correction)).status, 200)
  const { name, phone, email } = await first.getCandidacy()
  assert.deepEqual({ name, phone, email }, correction)
  assert.deepEqual((await partner.get('/people?phone=%2B919810000001')).body.data.items, [])
  assert.equal((await partner.get('/people?phone=%2B919810000077')).body.data.items[0].person_id, person_id)
  assert.equal((await partner.get('/people?email=asha@example.org')).body.data.items[0].person_id, person_id)
  for (const [wrong, path] of [
    [{ basis: 'x' }, 'body'],
    [{ phone: '+911111111111' }, 'phone'],
    [{ phone: '+9109810000077' }, 'phone'],
    [{ name: 'Sign in at evil.example' }, 'name'],
  ] as const) {
    const { status, body } = await partner.patch(`/people/${person_id}`, wrong)
    assert.deepEqual([status, body.error?.details?.[0]?.path], [400, path], JSON.stringify(wrong))
  }
})

test('a phone number that becomes a duplicate during an enrolment is reported as one', async () => {
  const { app, partner, mandate_id } = await setUp()
  const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(1)])
  const { campaign_id } = await invited!.getResult()
  const [person] = (await partner.get('/people?phone=%2B919810000001')).body.data.items
  const { context } = app
  const { promise: enrolmentWaits, resolve: continueCorrection } = Promise.withResolvers<void>()
  const { promise: correctionLocks, resolve: startEnrolment } = Promise.withResolvers<void>()
  const correction = context.db.transaction(async (tx) => {
    await correctPerson(tx, context, partner.scope, person.person_id, { phone: '+919810000002' })
    startEnrolment()
    await enrolmentWaits
  })
  await correctionLocks
  const enrolment = partner.enrol(campaign_id, [aCandidate(2)])
  await until(async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into person_addresses%'`.execute(
      context.db.queries,
    )
    return rows.length > 0
  })
  continueCorrection()
  await correction
  const { status, body } = await enrolment
  assert.equal(status, 202)
  assert.deepEqual(body.data.enrolment.duplicate_rows, [
    {
      index: 0,
      external_candidate_id: 'ext-2',
      reason: 'phone',
      kept_candidate_id: person.candidates[0].candidate_id,
    },
  ])
})

test('a restricted person is neither contacted nor processed until the restriction is lifted', async () => {
  const { app, partner, mandate_id } = await setUp()
  const [invited] = await inviteCandidates(app, partner, mandate_id, [aCandidate(5)])
  const [{ person_id }] = (await partner.get('/people?phone=%2B919810000005')).body.data.items
  assert.equal((await partner.post(`/people/${person_id}/restrict`, {})).body.data.status, 'restricted')
  const { version } = await invited!.getCandidacy()
  await invited!.page.view()
  await invited!.page.reply({ value: 'yes' })
  app.clock.advance(5 * 24 * 3_600_000)
  await contactNow(app.context)
  assert.equal((await invited!.getCandidacy()).version, version)
  const [later] = await inviteCandidates(app, partner, mandate_id, [aCandidate(5)])
  assert.equal((await later!.getCandidacy()).contact_step, null)
  assert.equal((await partner.post(`/people/${person_id}/unrestrict`, {})).body.data.status, 'active')
  await contactNow(app.context)
  assert.ok((await invited!.getCandidacy()).version > version)
  assert.equal((await later!.getCandidacy()).contact_step, 0)
})

test('people of another organisation or mode are not found, and a key needs the scopes', async () => {
  const { app, partner, people } = await enrolTwice()
  const { person_id } = people[0]
  const other = await createCampaignPartner(app)
  assert.equal((await other.get(`/people/${person_id}`)).status, 404)
  assert.equal((await other.post(`/people/${person_id}/erase`, ERASURE)).status, 404)
  assert.deepEqual((await other.get('/people?phone=%2B919810000001')).body.data.items, [])
  const live = await createCampaignPartner(app, { mode: 'live', orgId: partner.orgId, credits: 0 })
  assert.equal((await live.get(`/people/${person_id}`)).status, 404)
  const key = await app.fixtures.createPartnerKey(partner.orgId, { mode: 'test', scopes: ['results:read'] })
  assert.equal((await app.as(key).get(`/people/${person_id}`)).status, 403)
  const reader = await app.fixtures.createPartnerKey(partner.orgId, { mode: 'test', scopes: ['people:read'] })
  assert.equal((await app.as(reader).post(`/people/${person_id}/erase`, ERASURE)).status, 403)
  assert.equal((await partner.post(`/people/${person_id}/erase`, { basis: 'x' })).status, 400)
})
