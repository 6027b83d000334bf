import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { oncePerFile } from '../../test/support/cleanup.ts'
import { signInMember } from '../../test/support/console.ts'
import { BRICKLAYING, verificationCalls } from '../../test/support/verification.ts'
import {
  contactTestCandidate,
  readEmailCode,
  readLink,
  readPhoneCode,
  yourDataCalls,
} from '../../test/support/your-data.ts'
import { getOrganisation } from '../access/organisations.ts'
import { noticeTexts, noticeVersion } from '../notices/notice.ts'
import { DAY, HOUR, MINUTE } from '../platform/clock.ts'
import { LANGUAGES } from '../platform/text/languages.ts'

const startSharedApp = oncePerFile((t) => startApp(t))

async function openPage({ url }: TestApp, link: string) {
  const response = await fetch(new URL(new URL(link, url).pathname, url))
  return { status: response.status, html: await response.text() }
}

const SLOTS = /\{\w+\}/g

test('the notice has the same keys, slots and version in all languages', () => {
  const english = noticeTexts('en')
  for (const language of LANGUAGES) {
    const texts = noticeTexts(language)
    assert.deepEqual(Object.keys(texts), Object.keys(english), language)
    for (const [key, text] of Object.entries(texts))
      assert.deepEqual(new Set(text.match(SLOTS)), new Set(english[key]!.match(SLOTS)), `${language} ${key}`)
    assert.equal(texts.version, english.version)
  }
})

test('the notice names the organisation, its contacts and the retention periods, in the language asked for', async () => {
  const app = await startSharedApp()
  const { partner, token } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const settings = { grievance_name: 'Meera Nair', grievance_email: 'grievance@example.com' }
  assert.equal((await owner.put(`/orgs/${partner.orgId}/privacy`, settings)).status, 200)
  const { body } = await yourDataCalls(app, 'candidate', token).view()
  const text = JSON.stringify(body.data.notice)
  assert.match(text, /Meera Nair, grievance@example\.com/)
  const { name } = await getOrganisation(app.context.db.queries, partner.orgId)
  assert.ok(text.includes(`Your answers go to ${name} and Metro Ltd.`), text)
  assert.match(text, /Messages: 180 days\. Answers: 365 days\./)
  assert.match(text, /Data Protection Board of India/)
  assert.deepEqual(body.data.addresses, [{ kind: 'phone', masked: '+91 •••• 0001' }])
  const hindi = await yourDataCalls(app, 'candidate', token).view('hi')
  assert.match(JSON.stringify(hindi.body.data.notice), /संदेश: 180 दिन/)
  const invalid = await owner.put(`/orgs/${partner.orgId}/privacy`, { grievance_email: 'nobody' })
  assert.deepEqual([invalid.status, invalid.body.error.details[0].path], [400, 'grievance_email'])
})

test('consent is stored with the version of the notice when the candidate agrees to the conversation', async () => {
  const app = await startSharedApp()
  const { token } = await contactTestCandidate(app)
  const { view } = yourDataCalls(app, 'candidate', token)
  assert.equal((await view()).body.data.consent, null)
  await app.fetch(`/api/v1/candidate/${token}/reply`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ step: 1, client_id: 'yes', value: 'yes' }),
  })
  const { consent } = (await view()).body.data
  assert.deepEqual([consent.version, consent.withdrawn_at], [noticeVersion(), null])
})

test('a candidate sees their data after confirming the code that was sent to the phone', async () => {
  const app = await startSharedApp()
  const { partner, candidateId, token } = await contactTestCandidate(app)
  const { start, confirm } = yourDataCalls(app, 'candidate', token)
  const started = await start('export', 'phone')
  assert.equal(started.status, 200, JSON.stringify(started.body))
  const { request_id, new_sent_to, minutes } = started.body.data
  assert.deepEqual([new_sent_to, minutes], [null, 15])
  const wrong = await confirm(request_id, { code: '000000' })
  assert.deepEqual([wrong.status, wrong.body.error.code], [403, 'FORBIDDEN'])
  const code = await readPhoneCode(app, candidateId)
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  const phonePath = `/orgs/${partner.orgId}/test/phone/${candidateId}`
  const [question, codeMessage] = (await recruiter.get(phonePath)).body.data.messages
  assert.match(codeMessage.text, new RegExp(`^${code} is your code .*\\. Do not give it to anyone\\.$`))
  const reply = await recruiter.post(`${phonePath}/reply`, { value: 'yes', step: 1, client_id: 'yes' })
  assert.equal(reply.body.data.messages[2].channel, question.channel, 'the reply is to the question')
  const confirmed = await confirm(request_id, { code: `${code.slice(0, 3)} ${code.slice(3)}` })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  assert.match(confirmed.body.data.export.html, /Person 1/)
  assert.match(confirmed.body.data.export.json, /person1@example\.com/)
  const time = new Date(app.clock.now()).toISOString()
  assert.match(
    confirmed.body.data.export.html,
    new RegExp(`<dt>Created at</dt><dd>${time}</dd><dt>Confirmed at</dt><dd>${time}</dd>`),
  )
  assert.equal((await confirm(request_id, { code })).status, 403) // a code works once
})

test('a code expires, and stops working after five wrong attempts', async () => {
  const app = await startSharedApp()
  const { candidateId, token } = await contactTestCandidate(app)
  const { start, confirm } = yourDataCalls(app, 'candidate', token)
  const late = (await start('export', 'phone')).body.data
  const lateCode = await readPhoneCode(app, candidateId)
  app.clock.advance(15 * MINUTE)
  assert.equal((await confirm(late.request_id, { code: lateCode })).status, 403)
  const guessed = (await start('export', 'phone')).body.data
  const code = await readPhoneCode(app, candidateId)
  for (let attempt = 0; attempt < 5; attempt++) await confirm(guessed.request_id, { code: 'guess' })
  assert.equal((await confirm(guessed.request_id, { code })).status, 403)
})

test('a candidate corrects the name and the email address, which gets a code of its own', async () => {
  const app = await startSharedApp()
  const { partner, token, candidateId } = await contactTestCandidate(app)
  const { start, confirm, view } = yourDataCalls(app, 'candidate', token)
  const { request_id } = (await start('correct', 'phone', { email: 'new@example.com' })).body.data
  const changes = { name: 'Corrected Name', email: 'new@example.com' }
  const code = await readPhoneCode(app, candidateId)
  assert.equal((await confirm(request_id, { code, ...changes })).status, 403) // without the code of the new address
  const newCode = await readEmailCode(app, 'new@example.com')
  const other = await confirm(request_id, { code, new_code: newCode, name: 'X', email: 'other@example.com' })
  assert.equal(other.status, 403) // the code belongs to one address
  assert.equal((await confirm(request_id, { code, new_code: newCode, ...changes })).status, 200)
  const { candidate } = (await partner.get('/results')).body.data.items[0]
  assert.equal(candidate.name, 'Corrected Name')
  assert.deepEqual(
    (await view()).body.data.addresses.map(({ kind }: { kind: string }) => kind),
    ['phone'],
  )
})

test('no code is sent to the email address of a candidate with a phone number, because it is not verified', async () => {
  const app = await startSharedApp()
  const { token } = await contactTestCandidate(app)
  const rejected = await yourDataCalls(app, 'candidate', token).start('export', 'email')
  assert.deepEqual([rejected.status, rejected.body.error.code], [403, 'FORBIDDEN'])
})

test('emails with codes are sealed for the person, and exports do not contain the codes', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const { id, token } = await calls.openSession({ email: 'student@example.com' })
  const { start, confirm, view } = yourDataCalls(app, 'session', token)
  assert.deepEqual((await view()).body.data.addresses, [{ kind: 'email', masked: 's•••@example.com' }])
  const { request_id } = (await start('export', 'email')).body.data
  const code = await readEmailCode(app, 'student@example.com')
  const { rows } = await app.context.db.pool.query(
    `select to_address, content, person_ids from mails where about = $1 and kind = 'confirmation_code'`,
    [id],
  )
  assert.deepEqual([rows.length, rows[0].to_address, rows[0].content, rows[0].person_ids.length], [1, null, null, 1])
  const exported = (await confirm(request_id, { code })).body.data.export
  assert.doesNotMatch(exported.json, new RegExp(code))
  assert.match(exported.json, /confirmation code, which only its recipient can read/)
})

test('a student who withdraws consent is no longer processed, and can still have the data erased', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const { token } = await calls.openSession({ email: 'withdrawn@example.com' })
  const { start, confirm } = yourDataCalls(app, 'session', token)
  const { request_id } = (await start('withdraw', 'email')).body.data
  await confirm(request_id, { code: await readEmailCode(app, 'withdrawn@example.com') })
  const stored = await app.fetch('/api/v1/step1/storeskills/store', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sessionToken: token, skills: [{ skillId: BRICKLAYING }] }),
  })
  assert.deepEqual([stored.status, stored.body.error.code], [403, 'FORBIDDEN'])
  const erasure = (await start('erase', 'email')).body.data
  const erased = await confirm(erasure.request_id, { code: await readEmailCode(app, 'withdrawn@example.com') })
  assert.equal(erased.status, 200, JSON.stringify(erased.body))
})

test('a student cannot take the email address of another person', async () => {
  const app = await startSharedApp()
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  await calls.openSession({ externalStudentId: 'stu-2', email: 'taken@example.com' })
  const { token } = await calls.openSession({ email: 'student@example.com' })
  const { start, confirm } = yourDataCalls(app, 'session', token)
  const { request_id } = (await start('correct', 'email', { email: 'taken@example.com' })).body.data
  const [code, newCode] = [
    await readEmailCode(app, 'student@example.com'),
    await readEmailCode(app, 'taken@example.com'),
  ]
  const rejected = await confirm(request_id, { code, new_code: newCode, email: 'taken@example.com' })
  assert.deepEqual([rejected.status, rejected.body.error.code], [403, 'FORBIDDEN'])
  assert.match(rejected.body.error.message, /stored for another person/)
})

test('a person with a legal hold learns that the data must be kept, but not the reason', async () => {
  const app = await startSharedApp()
  const { partner, token, candidateId } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const { rows } = await app.context.db.pool.query('select person_id from candidates where candidate_id = $1', [
    candidateId,
  ])
  const held = await owner.put(`/orgs/${partner.orgId}/test/people/${rows[0].person_id}/hold`, { reason: 'Case 4711' })
  assert.equal(held.status, 200, JSON.stringify(held.body))
  const { start, confirm } = yourDataCalls(app, 'candidate', token)
  const erasure = (await start('erase', 'phone')).body.data
  const rejected = await confirm(erasure.request_id, { code: await readPhoneCode(app, candidateId) })
  assert.equal(rejected.status, 403)
  assert.match(rejected.body.error.message, /must keep your data for a legal reason/)
  assert.doesNotMatch(JSON.stringify(rejected.body), /4711/)
  const { request_id } = (await start('export', 'phone')).body.data
  const exported = await confirm(request_id, { code: await readPhoneCode(app, candidateId) })
  assert.equal(exported.status, 200, JSON.stringify(exported.body))
  assert.doesNotMatch(JSON.stringify(exported.body), /4711/)
})

test('withdrawing consent ends the conversation and all contact', async () => {
  const app = await startSharedApp()
  const { partner, token, candidateId } = await contactTestCandidate(app)
  const { start, confirm, view, agree } = yourDataCalls(app, 'candidate', token)
  await agree()
  const { request_id } = (await start('withdraw', 'phone')).body.data
  const confirmed = await confirm(request_id, { code: await readPhoneCode(app, candidateId) })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  assert.notEqual((await view()).body.data.consent.withdrawn_at, null)
  const result = (await partner.get('/results')).body.data.items[0]
  assert.deepEqual([result.status, result.reason], ['declined', 'stopped'])
})

test('the page of a restricted candidate shows that the conversation is paused, and asks no question', async () => {
  const app = await startSharedApp()
  const { partner, token } = await contactTestCandidate(app)
  const read = async () => (await app.fetch(`/api/v1/candidate/${token}`)).body.data
  const reply = (clientId: string, value: string, more: object = {}) =>
    app.fetch(`/api/v1/candidate/${token}/reply`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ step: 1, client_id: clientId, value, ...more }),
    })
  const [{ person_id }] = (await partner.get('/people?phone=%2B919810000001')).body.data.items
  await partner.post(`/people/${person_id}/restrict`, {})
  for (const { prompts, ahead } of [(await reply('first', 'yes', { have: 1 })).body.data, await read()]) {
    assert.deepEqual(
      prompts.map(({ kind, text }: { kind: string; text: string }) => [kind, text]),
      [['notice', 'This conversation is paused. We will let you know when it resumes.']],
    )
    assert.deepEqual(ahead, [])
  }
  await partner.post(`/people/${person_id}/unrestrict`, {})
  assert.equal((await read()).prompts.at(-1).kind, 'yes_no')
  await partner.post(`/people/${person_id}/restrict`, {})
  assert.equal((await reply('second', 'stop')).body.data.status, 'ended') // an opt-out is still stored
})

test('after the erasure, every link shows only that the data was erased', async () => {
  const app = await startSharedApp()
  const { partner, token, link, candidateId } = await contactTestCandidate(app)
  const { start, confirm, view } = yourDataCalls(app, 'candidate', token)
  const { request_id } = (await start('erase', 'phone')).body.data
  const confirmed = await confirm(request_id, { code: await readPhoneCode(app, candidateId) })
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.body))
  const { candidate, status, reason } = (await partner.get('/results')).body.data.items[0]
  assert.deepEqual([candidate.name, status, reason], ['erased', 'failed', 'stopped'])
  const { data } = (await view()).body
  assert.deepEqual([data.erased, data.addresses], [true, []])
  assert.equal((await start('export', 'phone')).status, 410)
  const page = await openPage(app, link)
  assert.equal(page.status, 410)
  assert.match(page.html, /data of this link was erased/)
  assert.doesNotMatch(page.html, /Person 1/)
  assert.equal((await app.fetch(`/api/v1/candidate/${token}`)).status, 410)
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  for (const section of ['phone', 'candidates']) {
    const record = (await recruiter.get(`/orgs/${partner.orgId}/test/${section}/${candidateId}`)).body.data
    assert.deepEqual([record.erased, record.link], [true, null])
    assert.ok(record.messages.length > 0)
    assert.deepEqual([...new Set(record.messages.map((message: { text: string }) => message.text))], ['erased'])
    assert.doesNotMatch(JSON.stringify(record), /\/c\//)
  }
  const event = (await partner.get('/events?type=person.erased')).body
  assert.doesNotMatch(JSON.stringify(event), /person1@/)
})

test('a reviewer still uses their rights after the student is erased, and the review shows only that it has ended', async () => {
  const app = await startSharedApp()
  const { orgId, key } = await app.fixtures.createOrg()
  const partner = app.as(key)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
  const eraseByEmail = async (email: string) => {
    const [person] = (await partner.get(`/people?email=${email}`)).body.data.items
    const request = { basis: 'GDPR Article 17', requested_by: 'the person' }
    assert.equal((await partner.post(`/people/${person.person_id}/erase`, request)).status, 200)
  }
  const { session, token } = await calls.requestReview({
    student: { name: 'Erased Student', email: 'erased@example.com' },
    reviewer: { email: 'reviewer@metro.example' },
  })
  await eraseByEmail('erased@example.com')
  const page = await calls.getReviewPage(session)
  assert.deepEqual([page.status, page.body.error.code], [410, 'DATA_ERASED'])
  const submitted = await calls.submitReview(session, token, { declined: true, reason: 'No time' })
  assert.deepEqual([submitted.status, submitted.body.error.code], [410, 'DATA_ERASED'])
  const { start, confirm, view } = yourDataCalls(app, 'review', token)
  assert.equal((await view()).body.data.erased, false)
  const change = (await start('correct', 'email')).body.data
  const code = await readEmailCode(app, 'reviewer@metro.example')
  assert.equal((await confirm(change.request_id, { code, name: 'New Name' })).status, 200)
  const started = (await start('export', 'email')).body.data
  const exported = await confirm(started.request_id, { code: await readEmailCode(app, 'reviewer@metro.example') })
  assert.match(exported.body.data.export.json, /New Name/)
  assert.doesNotMatch(exported.body.data.export.json, /Erased Student|erased@example/)
  await eraseByEmail('reviewer@metro.example')
  assert.equal((await view()).body.data.erased, true)
})

test('a link expires when the campaign is archived, and some days after it was completed', async () => {
  const app = await startSharedApp()
  const archived = await contactTestCandidate(app)
  const page = (link: string) => openPage(app, link)
  assert.equal((await page(archived.link)).status, 200)
  await archived.partner.remove(`/campaigns/${archived.campaign.campaign_id}`)
  const ended = await page(archived.link)
  assert.equal(ended.status, 410)
  assert.match(ended.html, /This link has expired/)
  assert.doesNotMatch(ended.html, /Person 1/)
  // The rights do not end with the link.
  assert.equal((await yourDataCalls(app, 'candidate', archived.token).view()).status, 200)

  const completed = await contactTestCandidate(app)
  await app.fetch(`/api/v1/candidate/${completed.token}/reply`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ step: 1, client_id: 'no', value: 'no' }),
  })
  app.clock.advance(30 * DAY - HOUR)
  assert.equal((await page(completed.link)).status, 200)
  app.clock.advance(HOUR)
  assert.equal((await page(completed.link)).status, 410)
})

test('a partner revokes a link: the old one stops working, and the next message has a new one', async () => {
  const app = await startSharedApp()
  const { partner, campaign, candidateId, link } = await contactTestCandidate(app)
  const path = `/campaigns/${campaign.campaign_id}/candidates/${candidateId}/revoke-link`
  const response = await partner.post(path)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  assert.equal((await openPage(app, link)).status, 404)
  const newLink = await readLink(app, candidateId)
  assert.notEqual(newLink, link)
  assert.equal((await openPage(app, newLink)).status, 200)
  const other = await contactTestCandidate(app)
  assert.equal((await other.partner.post(path)).status, 404) // another organisation
})

test('unknown tokens and kinds are rejected', async () => {
  const app = await startSharedApp()
  assert.equal((await yourDataCalls(app, 'candidate', 'unknown').view()).status, 404)
  assert.equal((await yourDataCalls(app, 'other' as never, 'unknown').view()).status, 404)
  assert.equal((await app.fetch('/api/v1/your-data/candidate')).status, 401)
})
