import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { signInMember } from '../../test/support/console.ts'
import {
  checkOverHttp,
  decide,
  getOffer,
  isRevoked,
  issueCredential,
  passAssessment,
  readPublic,
} from '../../test/support/issued-credentials.ts'
import {
  answerQuestions,
  BRICKLAYING,
  expectOk,
  outcomeOf,
  PLASTERING,
  replaceStudent,
  sharedVerification,
  type VerificationCalls,
} from '../../test/support/verification.ts'
import { switchService } from '../access/service-switch.ts'
import { restoreItem, retireItem } from '../items/item-status.ts'
import { DAY } from '../platform/clock.ts'
import { addMissingEndorsements } from '../verification/endorsements/endorsements.ts'
import { issueDueCredentials } from './engine.ts'
import { decideCredentials } from './holders/consents.ts'
import { addMonths } from './policies.ts'
import { findSource } from './sources.ts'

const setUp = sharedVerification()
const setUpTestMode = sharedVerification('test')

const eventsAbout = async (calls: VerificationCalls) =>
  (await calls.listEvents()).filter(({ type }) => type.startsWith('credential.'))

const statusesOf = ({ credentials }: any) => credentials.map(({ status }: any) => status)

test('nothing is issued without consent; with it, a passed assessment is issued at once', async () => {
  const calls = await setUp()
  const session = await passAssessment(calls, { skills: [BRICKLAYING, PLASTERING] })
  await issueDueCredentials(calls.app.context)
  const before = await getOffer(calls, session)
  assert.deepEqual(
    [before.enabled, before.wanted, before.pending, before.credentials, before.manageUrl],
    [true, null, [], [], null],
  )
  assert.deepEqual(
    before.eligible.map(({ skill }: any) => skill),
    [
      { skillId: BRICKLAYING, name: 'Bricklaying' },
      { skillId: PLASTERING, name: 'Cement plastering' },
    ],
  )
  assert.deepEqual(await eventsAbout(calls), [])
  assert.deepEqual((await calls.getVerification(session)).credentials, [])

  const { data } = (await expectOk(decide(calls, session, { wanted: true }))).body
  assert.deepEqual(statusesOf(data), ['active', 'active'])
  assert.match(data.manageUrl, /\/my-credentials#token=hct_[\w-]{43}$/)
  assert.equal(data.profileUrl, null, 'the profile is off at first')
  const links = (await calls.getVerification(session)).credentials
  assert.deepEqual(
    links.map(({ skillId, url }: any) => [skillId, url]),
    data.credentials.map(({ skill, url }: any) => [skill.skillId, url]),
  )
  for (const { id } of data.credentials) {
    const { credential, jwt } = await readPublic(calls.app, id)
    assert.equal(await isRevoked(calls.app, credential), false)
    for (const text of [credential, jwt]) {
      const check = await checkOverHttp(calls.app, text)
      assert.equal(check.verdict, 'valid', JSON.stringify(check.steps))
    }
  }
})

test('a credential says how the skill was measured, and identifies the person by a salted hash', async () => {
  const calls = await setUp()
  const { id } = await issueCredential(calls)
  const { credential, holderName } = await readPublic(calls.app, id)
  const { identifier, achievement, result } = credential.credentialSubject
  const [identity, ...others] = identifier
  const expectedHash = createHash('sha256').update(`asha@example.com${identity.salt}`).digest('hex')
  assert.deepEqual(
    [identity.identityType, identity.hashed, identity.identityHash, others, holderName],
    ['emailAddress', true, `sha256$${expectedHash}`, [], null],
  )
  assert.deepEqual(
    [achievement.name, achievement.achievementType, achievement.alignment[0].targetCode],
    ['Bricklaying', 'Competency', BRICKLAYING],
  )
  assert.deepEqual(
    achievement.resultDescription.map(({ name }: any) => name),
    ['Certainty of the verdict', 'Questions answered correctly'],
  )
  assert.ok(Number(result[0].value) >= 95 && Number(result[0].value) < 100)
  assert.equal(result[1].value, '5')
  assert.match(
    credential.evidence[0].narrative,
    /^Answered 5 of 5 questions about Bricklaying correctly in an assessment in English on \d{4}-\d\d-\d\d, after naming the work experience “Fabricator”\./,
  )
  const months = addMonths(new Date(credential.validFrom), 24)
  assert.equal(new Date(credential.validUntil).getTime(), months.getTime())
})

test('a skill that ESCO knows is aligned with its concept', async () => {
  const calls = await setUp()
  const uri = 'http://data.europa.eu/esco/skill/00000000-0000-4000-8000-000000001001'
  await calls.app.context.db.queries
    .insertInto('skill_sources')
    .values({
      source: 'esco',
      source_id: uri,
      skill_number: 1001,
      owner: false,
      name: 'lay bricks',
      aliases: [],
      verifiable: false,
    })
    .execute()
  const { id } = await issueCredential(calls)
  const { credential } = await readPublic(calls.app, id)
  assert.deepEqual(
    credential.credentialSubject.achievement.alignment.map(({ targetFramework, targetUrl, targetCode }: any) => [
      targetFramework,
      targetUrl,
      targetCode,
    ]),
    [
      ['Attestry skill catalogue', `${calls.app.url}/api/skills/${BRICKLAYING}`, BRICKLAYING],
      ['ESCO', uri, uri],
    ],
  )
  const response = await fetch(`${calls.app.url}/credentials/${id}`, { headers: { accept: 'text/html' } })
  const page = await response.text()
  assert.ok(page.includes(`ESCO: <a href="${uri}"`), page)
  assert.ok(!page.includes(`href="${calls.app.url}/api/skills/`), 'JSON is of no use on a page')
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid')
})

test('the name is shown only if the person wants it, and a link in a name is rejected', async () => {
  const calls = await setUp()
  const shown = await issueCredential(calls, { showName: true })
  const { credential, holderName } = await readPublic(calls.app, shown.id)
  assert.equal(holderName, 'Asha Rao')
  assert.deepEqual(credential.credentialSubject.identifier[1], {
    type: 'IdentityObject',
    hashed: false,
    identityType: 'name',
    identityHash: 'Asha Rao',
  })
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid')

  const session = await passAssessment(calls, { student: { externalStudentId: 'stu-2', email: 'b@example.com' } })
  const student = { externalStudentId: 'stu-2', name: 'Visit evil.com', email: 'b@example.com' }
  await replaceStudent(calls.app.context, session, student)
  assert.equal(outcomeOf(await decide(calls, session, { wanted: true, showName: true })), '400 VALIDATION_FAILED')
  assert.deepEqual(statusesOf(await getOffer(calls, session)), [])
})

test('a title with a phone number or an email address is left out, also if the name is shown', async () => {
  const calls = await setUp()
  const roles = ['Fabricator, call 9876543210', 'Fabricator ९८७६ ५४३२१०', 'Fabricator asha@home', 'Asha’s workshop']
  const narratives = []
  for (const [index, role] of roles.entries()) {
    const workExperiences = [{ externalExperienceId: 'w-1', companyName: 'Metro Ltd', role }]
    const student = { externalStudentId: `stu-${index}`, email: `s${index}@example.com`, workExperiences }
    const { id } = await issueCredential(calls, { student, showName: true })
    narratives.push((await readPublic(calls.app, id)).credential.evidence[0].narrative)
  }
  assert.deepEqual(
    narratives.map((narrative) => /“(.+)”/.exec(narrative)?.[1]),
    [undefined, undefined, undefined, 'Asha’s workshop'],
  )
})

test('a reviewer withdraws an endorsement: the verification is declined, and its credential is revoked at once', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  const withdraw = (body: object) =>
    calls.call('POST', '/humanverification/withdraw', { body: { serviceVerificationId: session.id, ...body } })
  const reason = 'I confused two people'
  assert.equal(outcomeOf(await withdraw({ token, reason })), '409 NOTHING_TO_WITHDRAW')
  await expectOk(decide(calls, session, { wanted: true }))
  await expectOk(
    calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true, rating: 5 }] }),
  )
  await issueDueCredentials(calls.app.context)
  const { rows: mailed } = await calls.app.context.db.pool.query(
    `select count(*)::int as count from mails m join verification_sessions s on s.person_id = m.person_ids[1]
     where s.verification_id = $1 and m.kind = 'notice'`,
    [session.id],
  )
  assert.equal(mailed[0].count, 1, 'the link to manage credentials is emailed once')
  const [issued] = (await calls.getVerification(session)).credentials
  const { credential } = await readPublic(calls.app, issued.credentialId)

  calls.clock.advance(60 * DAY)
  const page = await expectOk(calls.call('GET', `/humanverification/verify-page/${session.id}`))
  assert.equal(page.body.data.withdrawable, true)
  assert.equal(outcomeOf(await withdraw({ token: 'wrong', reason })), '403 INVALID_TOKEN')
  assert.equal(outcomeOf(await withdraw({ token, reason: '  ' })), '400 VALIDATION_FAILED')
  assert.equal(await isRevoked(calls.app, credential), false)
  const { body } = await expectOk(withdraw({ token, reason }))
  assert.deepEqual(
    [body.data.status, body.data.skills],
    ['declined', [{ skillId: BRICKLAYING, name: 'Bricklaying', outcome: 'not_endorsed' }]],
  )
  assert.equal(await isRevoked(calls.app, credential), true)
  const verification = await calls.getVerification(session)
  assert.deepEqual(
    [verification.status, verification.declineReason, verification.withdrawnBy, verification.evidenceLevel],
    ['declined', reason, 'reviewer', undefined],
  )
  assert.equal(verification.withdrawnAt, new Date(calls.clock.now()).toISOString())
  const events = (await calls.listEvents()).slice(-2)
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.withdrawnBy ?? data.revocation_reason]),
    [
      ['verification.declined', 'reviewer'],
      ['credential.revoked', 'endorsement_withdrawn'],
    ],
  )
  const [email] = await calls.listEmails(session)
  assert.match(email!.subject, /has withdrawn the confirmation of your skills/)
  assert.match(email!.text, /“I confused two people”/)

  await expectOk(withdraw({ token, reason: 'again' }))
  assert.equal((await calls.getVerification(session)).declineReason, reason, 'withdrawing again changes nothing')
  const { context } = calls.app
  const source = (await findSource(context.db.queries, 'session', session.id, calls.clock))!
  const input = { wanted: true, showName: false, language: 'en' }
  await context.db.transaction((tx) => decideCredentials(tx, context, source, input))
  await issueDueCredentials(context)
  assert.equal((await calls.getVerification(session)).credentials.length, 0, 'no further credential is issued')
  await addMissingEndorsements(calls.app.context)
  const { rows } = await calls.app.context.db.pool.query('select from endorsements where verification_id = $1', [
    session.id,
  ])
  assert.equal(rows.length, 0, 'the job does not restore the endorsement')
})

test('a withdrawal needs the link until 90 days after the review; then the owner can withdraw it in the console', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
  calls.clock.advance(90 * DAY)
  const body = { serviceVerificationId: session.id, token, reason: 'Too late' }
  assert.equal(outcomeOf(await calls.call('POST', '/humanverification/withdraw', { body })), '410 LINK_EXPIRED')
  const path = `/orgs/${calls.orgId}/live/verifications/${session.id}/withdraw`
  const recruiter = await signInMember(calls.app, calls.orgId, 'recruiter')
  assert.equal((await recruiter.post(path, { reason: 'No' })).status, 403)
  const owner = await signInMember(calls.app, calls.orgId, 'owner')
  const { status, body: response } = await owner.post(path, { reason: 'The reviewer called us' })
  assert.equal(status, 200, JSON.stringify(response))
  const { data } = response
  assert.deepEqual(
    [data.status, data.withdrawable, data.outcome.withdrawnBy, data.outcome.declineReason],
    ['declined', false, 'organisation', 'The reviewer called us'],
  )
})

test('consent before the end issues the credential when the reviewer endorses the skill, and only once', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview({ skills: [BRICKLAYING, PLASTERING] })
  const { data } = (await expectOk(decide(calls, session, { wanted: true }))).body
  assert.deepEqual([data.eligible, data.pending.length, data.credentials], [[], 2, []])
  const decisions = [
    { skillId: BRICKLAYING, endorsed: true, comment: 'Ask Ravi Menon' },
    { skillId: PLASTERING, endorsed: false },
  ]
  await expectOk(calls.submitReview(session, token, { decisions }))
  assert.deepEqual(statusesOf(await getOffer(calls, session)), [], 'the engine issues it after the commit')
  await Promise.all([1, 2, 3].map(() => issueDueCredentials(calls.app.context)))
  const offer = await getOffer(calls, session)
  assert.deepEqual(
    offer.credentials.map(({ skill, status }: any) => [skill.skillId, status]),
    [[BRICKLAYING, 'active']],
  )
  calls.clock.advance(1000) // resets the rate limit of the token
  await Promise.all([1, 2].map(() => expectOk(decide(calls, session, { wanted: true }))))
  assert.equal((await getOffer(calls, session)).credentials.length, 1, 'a retry issues nothing')
  assert.deepEqual(
    (await eventsAbout(calls)).map(({ type }) => type),
    ['credential.issued'],
  )
  const { credential } = await readPublic(calls.app, offer.credentials[0].id)
  assert.match(
    credential.evidence[0].narrative,
    /^A manager who knows the person's work endorsed the skill Bricklaying on .*, for the work experience “Fabricator”\. The evidence level of the endorsement is (strong|moderate|weak)\.$/,
  )
  assert.deepEqual(
    credential.credentialSubject.achievement.resultDescription.map(({ name }: any) => name),
    ['Evidence level'],
  )
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid')
})

test('credentials of several people that are due at the same time are all issued', async () => {
  const calls = await setUp()
  const sessions: Awaited<ReturnType<typeof calls.requestReview>>['session'][] = []
  for (const student of ['asha@metro.example', 'bina@metro.example', 'carl@metro.example']) {
    const { session, token } = await calls.requestReview({ student: { externalStudentId: student, email: student } })
    await expectOk(decide(calls, session, { wanted: true }))
    await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
    sessions.push(session)
  }
  await issueDueCredentials(calls.app.context)
  for (const session of sessions) assert.deepEqual(statusesOf(await getOffer(calls, session)), ['active'])
})

test('skills that were passed before the attempts were used up are issued', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, PLASTERING] })
  await expectOk(decide(calls, session, { wanted: true }))
  for (let attempt = 0; attempt < 3; attempt++) {
    const answers = await answerQuestions(calls, session, ({ skill }) => skill === 1001)
    await expectOk(calls.submitAnswers(session, answers))
  }
  assert.equal((await calls.getVerification(session)).status, 'failed')
  await issueDueCredentials(calls.app.context)
  assert.deepEqual(
    (await getOffer(calls, session)).credentials.map(({ skill }: any) => skill.skillId),
    [BRICKLAYING],
  )
})

test('withdrawing the consent revokes the credential and deletes its content; it can be given again', async () => {
  const calls = await setUp()
  const { session, id } = await issueCredential(calls, { showName: true })
  const { credential } = await readPublic(calls.app, id)
  const { data } = (await expectOk(decide(calls, session, { wanted: false }))).body
  assert.deepEqual([data.wanted, statusesOf(data), data.manageUrl], [false, ['revoked'], null])
  assert.equal(await isRevoked(calls.app, credential), true)
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'revoked')
  assert.equal(await readPublic(calls.app, id), undefined)
  const row = await calls.app.context.db.queries
    .selectFrom('credentials')
    .selectAll()
    .where('credential_id', '=', id)
    .executeTakeFirstOrThrow()
  assert.doesNotMatch(JSON.stringify(row), /Asha|Fabricator|sha256\$/)
  assert.deepEqual((await calls.getVerification(session)).credentials, [])

  await expectOk(decide(calls, session, { wanted: false }))
  await expectOk(decide(calls, session, { wanted: true }))
  assert.deepEqual(statusesOf(await getOffer(calls, session)), ['revoked', 'active'])
  assert.deepEqual(
    (await eventsAbout(calls)).map(({ type, data: { revocation_reason } }) => [type, revocation_reason]),
    [
      ['credential.issued', null],
      ['credential.revoked', 'consent_withdrawn'],
      ['credential.issued', null],
    ],
  )
})

test('the validity period starts with the verification, so consenting again does not extend it', async () => {
  const calls = await setUp()
  const { session, id } = await issueCredential(calls)
  const { credential } = await readPublic(calls.app, id)
  await expectOk(decide(calls, session, { wanted: false }))
  const consentAt = async (time: number) => {
    const source = await findSource(calls.app.context.db.queries, 'session', session.id, calls.clock)
    const { context } = calls.app
    const later = { ...context, clock: { ...context.clock, now: () => time } }
    const input = { wanted: true, showName: false, language: 'en' }
    return context.db.transaction((tx) => decideCredentials(tx, later, source!, input))
  }
  const expiry = Date.parse(credential.validUntil)
  const expired = await consentAt(expiry)
  assert.deepEqual(
    expired.credentials.map(({ status }) => status),
    ['revoked'],
  )
  const { credentials } = await consentAt(expiry - 86_400_000)
  const issued = await readPublic(calls.app, credentials.at(-1)!.id)
  assert.equal(issued.credential.validUntil, credential.validUntil)
  assert.notEqual(issued.credential.validFrom, credential.validFrom)
})

test('neither address nor phone nor name nor reviewer is in a credential, an event or a list without consent', async () => {
  const calls = await setUp()
  const student = {
    name: 'Zubeida Quraishi',
    email: 'zubeida.q@example.com',
    phone: '+91 98765 43211',
    workExperiences: [{ externalExperienceId: 'w-1', companyName: 'Metro Ltd', role: 'Zubeida’s portfolio' }],
  }
  const { session, token } = await calls.requestReview({ student, reviewer: { name: 'Rustom Wadia' } })
  await expectOk(decide(calls, session, { wanted: true }))
  await expectOk(
    calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true, comment: 'Zubeida!' }] }),
  )
  await issueDueCredentials(calls.app.context)
  const [{ id }] = (await getOffer(calls, session)).credentials
  const key = await calls.app.fixtures.createPartnerKey(calls.orgId)
  const { credential, jwt } = await readPublic(calls.app, id)
  const texts = [
    JSON.stringify(credential),
    Buffer.from(jwt.split('.')[1], 'base64url').toString(),
    JSON.stringify(await eventsAbout(calls)),
    JSON.stringify((await calls.app.as(key).get('/credentials')).body),
  ]
  for (const text of texts) {
    assert.match(text, /Bricklaying/)
    assert.doesNotMatch(text, /zubeida|quraishi|98765|43211|rustom|wadia|menon|metro\.example/i)
  }
})

test('TEST credentials say so, and have another issuer', async () => {
  const calls = await setUpTestMode()
  const { id } = await issueCredential(calls)
  const { credential, organisation } = await readPublic(calls.app, id)
  assert.match(credential.issuer.id, new RegExp(`:organisations:${calls.orgId}:test$`))
  assert.deepEqual([credential.issuer.name, organisation.name], ['Acme Staffing (TEST)', 'Acme Staffing (TEST)'])
  assert.match(credential.description, /TEST credential/)
  assert.match(credential.evidence[0].narrative, /^TEST credential\./)
  assert.equal((await checkOverHttp(calls.app, credential)).verdict, 'valid')
  assert.equal((await calls.app.fetch(`/organisations/${calls.orgId}/test/did.json`)).status, 200)
  assert.equal((await calls.app.fetch(`/organisations/${calls.orgId}/did.json`)).status, 404)
})

test('questions with a wrong key revoke the credential as soon as its verdict depends on them', async () => {
  const calls = await setUp()
  const { app } = calls
  const { id, session } = await issueCredential(calls)
  const { credential } = await readPublic(app, id)
  const asked = (await calls.getCorrectAnswers(session)).toSorted((a, b) => a.difficulty - b.difficulty)
  const retire = (itemId: string, reason: 'miskeyed' | 'manual') =>
    app.context.db.transaction((tx) =>
      retireItem(tx, app.context, { itemId, skillNumber: 1001, source: 'bank', orgId: undefined }, reason),
    )
  await retire(asked.at(-1)!.itemId, 'manual')
  assert.equal(await isRevoked(app, credential), false, 'a question that was only retired does not count')
  await retire(asked[0]!.itemId, 'miskeyed')
  assert.equal(await isRevoked(app, credential), false, 'four correct answers are enough')
  await retire(asked[1]!.itemId, 'miskeyed')
  await retire(asked[2]!.itemId, 'miskeyed')
  assert.equal(await isRevoked(app, credential), true)
  assert.equal((await checkOverHttp(app, credential)).verdict, 'revoked')
  const revocations = (await eventsAbout(calls)).filter(({ type }) => type === 'credential.revoked')
  assert.deepEqual(
    revocations.map(({ data: { credential_id, revocation_reason } }) => [credential_id, revocation_reason]),
    [[id, 'measurement_wrong']],
  )
  await expectOk(decide(calls, session, { wanted: true }))
  assert.deepEqual(statusesOf(await getOffer(calls, session)), ['revoked'], 'it is not issued again')
})

test('questions with a wrong key do not count for a credential that is issued later', async () => {
  const calls = await setUp()
  const { app } = calls
  const session = await passAssessment(calls)
  const asked = (await calls.getCorrectAnswers(session)).toSorted((a, b) => a.difficulty - b.difficulty)
  const retire = ({ itemId }: { itemId: string }) =>
    app.context.db.transaction((tx) =>
      retireItem(tx, app.context, { itemId, skillNumber: 1001, source: 'bank', orgId: undefined }, 'miskeyed'),
    )
  const restore = ({ itemId }: { itemId: string }) =>
    app.context.db.transaction((tx) =>
      restoreItem(tx, app.context, { itemId, skillNumber: 1001, source: 'bank', orgId: undefined }),
    )
  for (const item of asked) await retire(item)
  const { data } = (await expectOk(decide(calls, session, { wanted: true }))).body
  assert.deepEqual([data.eligible, data.credentials], [[], []])
  for (const item of asked.slice(1)) await restore(item)
  const later = (await expectOk(decide(calls, session, { wanted: true }))).body.data
  assert.deepEqual(statusesOf(later), ['active'])
  const { credential } = await readPublic(app, later.credentials[0].id)
  assert.match(credential.evidence[0].narrative, /^Answered 4 of 4 questions/)
  await restore(asked[0]!)
})

test('an organisation that has switched credentials off issues none', async () => {
  const calls = await setUp()
  const { db, clock } = calls.app.context
  await db.queries
    .insertInto('credential_policies')
    .values({ org_id: calls.orgId, enabled: false, validity_months: 24, updated_at: new Date(clock.now()) })
    .execute()
  const session = await passAssessment(calls)
  assert.equal((await getOffer(calls, session)).enabled, false)
  assert.equal(outcomeOf(await decide(calls, session, { wanted: true })), '403 FORBIDDEN')
})

test('only the token of the session decides about its credentials', async () => {
  const calls = await setUp()
  const session = await passAssessment(calls)
  assert.equal(
    outcomeOf(await decide(calls, { ...session, token: 'vst_wrong' }, { wanted: true })),
    '404 SESSION_NOT_FOUND',
  )
  assert.equal(outcomeOf(await decide(calls, session, {})), '400 VALIDATION_FAILED')
  assert.equal(outcomeOf(await decide(calls, session, { wanted: 'yes' })), '400 VALIDATION_FAILED')
  assert.deepEqual(statusesOf(await getOffer(calls, session)), [])
})

test('a session key of the same organisation and mode may send the decision, no other', async () => {
  const calls = await setUp()
  const { fixtures } = calls.app
  const session = await passAssessment(calls)
  const decideWith = (key: string) =>
    calls.call('POST', `/verify/${session.token}/credentials`, { key, body: { wanted: true } })
  const strangers = [
    await fixtures.createSessionKey(calls.orgId, 'test'),
    await fixtures.createSessionKey((await fixtures.createOrg()).orgId),
  ]
  for (const key of strangers) assert.equal(outcomeOf(await decideWith(key)), '404 SESSION_NOT_FOUND')
  const { data } = (await expectOk(decideWith(calls.key))).body
  assert.deepEqual(statusesOf(data), ['active'])
})

test('while the organisation is paused, nothing is issued; existing credentials can still be checked', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const existing = await readPublic(calls.app, (await issueCredential(calls)).id)
  const student = { externalStudentId: 'stu-2', email: 'b@example.com' }
  const { session, token } = await calls.requestReview({ student })
  await expectOk(decide(calls, session, { wanted: true }))
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: true }] }))
  const switchTo = async (state: 'on' | 'off') => {
    await context.db.transaction((tx) =>
      switchService(tx, calls.clock, { orgId: calls.orgId, state, reason: undefined }),
    )
    await context.keyring.refresh()
  }
  await switchTo('off')
  await issueDueCredentials(context)
  assert.equal((await eventsAbout(calls)).length, 1)
  assert.equal((await checkOverHttp(calls.app, existing.credential)).verdict, 'valid')
  await switchTo('on')
  await issueDueCredentials(context)
  assert.equal((await eventsAbout(calls)).length, 2)
})

test('months are added to the last day of a shorter month', () => {
  const sum = (date: string, months: number) => addMonths(new Date(`${date}T10:00:00Z`), months).toISOString()
  assert.equal(sum('2026-01-31', 1), '2026-02-28T10:00:00.000Z')
  assert.equal(sum('2024-02-29', 12), '2025-02-28T10:00:00.000Z')
  assert.equal(sum('2026-03-15', 24), '2028-03-15T10:00:00.000Z')
})
