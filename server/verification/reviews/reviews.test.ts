import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import {
  aReviewer,
  BRICKLAYING,
  expectOk,
  outcomeOf,
  sharedVerification,
  startVerification,
  WIRING,
} from '../../../test/support/verification.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { storeExpiredStatuses } from '../jobs.ts'
import { mailboxOf } from './mailboxes.ts'
import { remindReviewers, resendRequest } from './review-requests.ts'

const endorsedDecision = (skillId: string, overrides: object = {}) => ({ skillId, endorsed: true, ...overrides })
const rejectedDecision = (skillId: string, overrides: object = {}) => ({ skillId, endorsed: false, ...overrides })

const setUp = sharedVerification()

test('a reviewer gets an email, opens the page and endorses; partner and student are notified', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('human', { skills: [BRICKLAYING, WIRING], type: 'mentor' })
  assert.equal(
    outcomeOf(await calls.getReviewPage(session)),
    '404 VERIFICATION_NOT_FOUND',
    'the page does not exist before the email was sent',
  )

  const storeResponse = await calls.storeReviewer(session, { website: 'https://metro.example' })
  assert.deepEqual(storeResponse.body.data, {
    serviceVerificationId: session.id,
    name: 'Ravi Menon',
    email: 'ravi.menon@metro.example',
    company: 'Metro Ltd',
    website: 'https://metro.example',
  })
  assert.deepEqual((await calls.call('GET', `/storereviewerdetails/${session.id}`)).body, {
    success: true,
    data: storeResponse.body.data,
  })
  const [email, ...otherEmails] = await calls.listEmails(session)
  assert.deepEqual(otherEmails, [])
  assert.equal(email!.to_address, 'ravi.menon@metro.example')
  assert.equal(email!.kind, 'review_request')
  assert.equal(email!.replyTo, 'asha@example.com')
  const link = /https?:\S+#token=\S+/.exec(email!.text)![0]
  assert.ok(link.startsWith(`${calls.app.context.config.publicUrl}/verify/${session.id}#token=`))
  assert.ok(email!.html.includes(`href="${link}"`))
  assert.match(email!.text, /Fabricator, Metro Ltd, Jan 2023 – Jun 2024/)

  const page = await calls.getReviewPage(session)
  assert.deepEqual(page.body.data, {
    serviceVerificationId: session.id,
    endorserInfo: { name: 'Ravi Menon', company: 'Metro Ltd', email: 'ravi.menon@metro.example' },
    requesterInfo: { name: 'Asha Rao', email: 'asha@example.com', externalStudentId: 'stu-1' },
    source: {
      type: 'experience',
      title: 'Fabricator',
      subtitle: 'Metro Ltd',
      meta: '2023-01 – 2024-06',
      description: null,
    },
    skills: [
      { skillId: BRICKLAYING, name: 'Bricklaying', proofUrl: [] },
      { skillId: WIRING, name: 'House wiring', proofUrl: [] },
    ],
    proofFiles: [],
    endorsementType: 'mentor',
    organisationName: 'Acme Staffing',
    status: 'pending_review',
    withdrawable: false,
    expiresAt: new Date(calls.clock.now() + 30 * DAY).toISOString(),
  })
  assert.equal((await calls.getFullVerification(session)).status, 'pending_review')

  const token = link.split('#token=')[1]!
  const response = await calls.submitReview(session, token, {
    decisions: [endorsedDecision(BRICKLAYING, { rating: 4, comment: 'Clean joints 👍' }), rejectedDecision(WIRING)],
  })
  const skills = [
    { skillId: BRICKLAYING, name: 'Bricklaying', outcome: 'endorsed', rating: 4, comment: 'Clean joints 👍' },
    { skillId: WIRING, name: 'House wiring', outcome: 'not_endorsed' },
  ]
  assert.deepEqual(response.body.data, { serviceVerificationId: session.id, status: 'completed', skills })
  const { status, completedAt, skills: storedSkills } = await calls.getVerification(session)
  assert.deepEqual(
    { status, completedAt, read: storedSkills },
    { status: 'completed', completedAt: new Date(calls.clock.now()).toISOString(), read: skills },
  )

  const events = await calls.listEvents()
  const commonData = {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    externalStudentId: 'stu-1',
    verificationMethod: 'human',
  }
  assert.deepEqual(
    events.map(({ type, data: { version, evidenceLevel, reasons, ...data } }) => ({ type, ...data })),
    [
      { type: 'verification.requested', ...commonData, status: 'pending_review' },
      { type: 'verification.completed', ...commonData, status: 'completed', skills },
    ],
  )
  assert.ok(events[1]!.data.version > events[0]!.data.version)
  const [outcomeEmail] = await calls.listEmails(session)
  assert.equal(outcomeEmail!.kind, 'review_outcome')
  assert.equal(outcomeEmail!.to_address, 'asha@example.com')
  assert.match(outcomeEmail!.text, /Bricklaying: confirmed, 4 of 5/)
})

test('the reviewer is emailed when the last missing step is stored, in any order', async () => {
  const calls = await setUp()
  const steps = {
    skills: (session: any) => calls.storeSkills(session),
    method: (session: any) => calls.chooseMethod(session, 'human'),
    items: (session: any) => calls.storeItems(session),
    reviewer: (session: any) => calls.storeReviewer(session),
  }
  for (const order of [
    ['skills', 'method', 'items', 'reviewer'],
    ['skills', 'method', 'reviewer', 'items'],
    ['method', 'reviewer', 'items', 'skills'],
  ] as (keyof typeof steps)[][]) {
    calls.clock.advance(31 * DAY)
    const session = await calls.openSession()
    for (const [index, step] of order.entries()) {
      assert.deepEqual(await calls.listEmails(session), [], `${order} before ${step}`)
      assert.equal((await steps[step](session)).status, 200, `${order}: ${step}`)
      assert.equal((await calls.listEmails(session)).length, index === 3 ? 1 : 0)
    }
  }
  // The method can be the last missing step too, if it was changed in between.
  calls.clock.advance(31 * DAY)
  const session = await calls.openSession()
  await expectOk(calls.storeSkills(session))
  await expectOk(calls.chooseMethod(session, 'human'))
  await expectOk(calls.storeReviewer(session))
  await expectOk(calls.chooseMethod(session, 'assessment'))
  await expectOk(calls.storeItems(session))
  assert.deepEqual(await calls.listEmails(session), [])
  await expectOk(calls.chooseMethod(session, 'human'))
  assert.equal((await calls.listEmails(session)).length, 1)
})

test('storing a reviewer reports errors in the documented order', async () => {
  const calls = await setUp()
  const { call, key } = calls
  const session = await calls.openSession()
  const storeReviewer = (changes: object) =>
    call('POST', '/storereviewerdetails/store', {
      key,
      body: { serviceVerificationId: session.id, ...aReviewer(), ...changes },
    }).then(outcomeOf)
  const invalidFields = { serviceVerificationId: '', name: '', email: '', company: '', website: 'x' }
  assert.equal(await storeReviewer(invalidFields), '400 MISSING_VERIFICATION_ID')
  const { serviceVerificationId: _, ...fieldsWithoutId } = invalidFields
  assert.equal(await storeReviewer(fieldsWithoutId), '400 MISSING_NAME')
  assert.equal(await storeReviewer({ ...fieldsWithoutId, name: 'R' }), '400 MISSING_EMAIL')
  assert.equal(await storeReviewer({ ...fieldsWithoutId, name: 'R', email: 'bad' }), '400 MISSING_COMPANY')
  assert.equal(await storeReviewer({ email: 'bad', website: 'x' }), '400 INVALID_EMAIL')
  for (const email of [
    'a@b',
    'a b@c.example',
    'A <a@c.example>',
    'a@c.example,b@c.example',
    'a@c.example\nBcc: x@y.example',
    5,
  ])
    assert.equal(await storeReviewer({ email }), '400 INVALID_EMAIL', String(email))
  for (const website of ['metro.example', 'javascript:alert(1)', 'https://a b', 7])
    assert.equal(await storeReviewer({ website }), '400 INVALID_WEBSITE', String(website))
  assert.equal(await storeReviewer({ name: 'x'.repeat(201) }), '400 VALIDATION_FAILED')
  assert.equal(await storeReviewer({ name: 5 }), '400 VALIDATION_FAILED')
  assert.equal(await storeReviewer({ serviceVerificationId: 'SV_UNKNOWN' }), '404 VERIFICATION_NOT_FOUND')
  assert.equal(await storeReviewer({}), '400 VERIFICATION_METHOD_NOT_SET')
  await expectOk(calls.chooseMethod(session, 'assessment'))
  assert.equal(await storeReviewer({}), '400 INVALID_VERIFICATION_TYPE')
  await expectOk(calls.chooseMethod(session, 'human'))
  assert.equal(await storeReviewer({ email: 'ASHA@example.com' }), '400 INVALID_EMAIL', 'the student')
  for (const website of [null, '', undefined]) assert.equal(await storeReviewer({ website }), '200')
  const otherSession = await calls.openSession({ externalStudentId: 'stu-2' })
  const otherSessionRequest = { token: otherSession.token, body: { serviceVerificationId: session.id, ...aReviewer() } }
  assert.equal(
    outcomeOf(await call('POST', '/storereviewerdetails/store', otherSessionRequest)),
    '404 VERIFICATION_NOT_FOUND',
  )

  for (const path of ['/storereviewerdetails', '/storereviewerdetails/', '/storereviewerdetails/%20'])
    assert.equal(outcomeOf(await call('GET', path)), '400 MISSING_VERIFICATION_ID')
  assert.equal(outcomeOf(await call('GET', '/storereviewerdetails/SV_UNKNOWN')), '404 NOT_FOUND')
  assert.equal(outcomeOf(await call('GET', `/storereviewerdetails/${otherSession.id}`)), '404 NOT_FOUND')
})

test('students cannot review themselves with another spelling of their address', async () => {
  const calls = await setUp()
  const storeReviewerOf = async (student: string, reviewer: string) => {
    const session = await calls.openSession({ externalStudentId: student, email: student })
    await expectOk(calls.chooseMethod(session, 'human'))
    return outcomeOf(await calls.storeReviewer(session, { email: reviewer }))
  }
  const invalidEmailOutcome = '400 INVALID_EMAIL'
  assert.equal(await storeReviewerOf('asha@example.com', 'Asha+manager@example.com'), invalidEmailOutcome)
  assert.equal(await storeReviewerOf('asha+school@example.com', 'asha@example.com'), invalidEmailOutcome)
  assert.equal(await storeReviewerOf('asha+school@example.com', 'asha+SCHOOL@EXAMPLE.com'), invalidEmailOutcome)
  assert.equal(await storeReviewerOf('asha.rao@gmail.com', 'a.s.h.a.rao+boss@googlemail.com'), invalidEmailOutcome)
  assert.equal(await storeReviewerOf('asha@bücher.example', 'asha@xn--bcher-kva.example'), invalidEmailOutcome)
  assert.equal(await storeReviewerOf('asha+one@example.com', 'asha+two@example.com'), invalidEmailOutcome)
  assert.equal(await storeReviewerOf('asha@icloud.com', 'asha+x@me.com'), invalidEmailOutcome)
  assert.equal(await storeReviewerOf('asha-jobs@yahoo.co.in', 'asha-boss@yahoo.co.in'), invalidEmailOutcome)
  // Other domains distinguish dots and hyphens.
  assert.equal(await storeReviewerOf('asha.rao@example.com', 'asharao@example.com'), '200')
  assert.equal(await storeReviewerOf('asha-rao@example.com', 'asha@example.com'), '200')
  assert.equal(await storeReviewerOf('asha@gmail.com', 'asha@example.com'), '200')
})

test('an address that the student used in another session cannot review', async () => {
  const calls = await setUp()
  await calls.openSession({ email: 'asha.private@gmail.com' })
  const session = await calls.openPreparedSession('human', { student: { email: 'asha@example.com' } })
  assert.equal(
    outcomeOf(await calls.storeReviewer(session, { email: 'ashaprivate+boss@gmail.com' })),
    '400 INVALID_EMAIL',
  )
  // The student can also use the address of a stored reviewer before the review is requested.
  const laterSession = await calls.openSession()
  await expectOk(calls.chooseMethod(laterSession, 'human'))
  await expectOk(calls.storeReviewer(laterSession, { email: 'second.asha@gmail.com' }))
  await expectOk(calls.storeSkills(laterSession))
  await calls.openSession({ email: 'secondasha@gmail.com' })
  assert.equal(outcomeOf(await calls.storeItems(laterSession)), '400 INVALID_EMAIL')
  assert.deepEqual(await calls.listEmails(laterSession), [])
})

test('one mailbox is one reviewer of a source, however the address is spelled', async () => {
  const calls = await setUp()
  await calls.requestReview({ reviewer: { email: 'bigboss@gmail.com' } })
  const storeReviewer = async (type: string, email: string, skill = WIRING) => {
    const session = await calls.openPreparedSession('human', { type, skills: [skill] })
    return outcomeOf(await calls.storeReviewer(session, { email }))
  }
  for (const [type, email] of [
    ['peer', 'bigboss@gmail.com'],
    ['peer', 'big.boss@gmail.com'],
    ['mentor', 'bigboss+2@gmail.com'],
    ['client', 'BigBoss@GoogleMail.com'],
    ['manager', 'b.i.g.boss@gmail.com'],
    ['manager', 'ｂｉｇｂｏｓｓ+x@gmail.com'],
  ] as const)
    assert.equal(await storeReviewer(type, email), '409 DUPLICATE_REVIEWER_EMAIL', `${type} ${email}`)
  assert.equal(await storeReviewer('manager', 'BIGBOSS@gmail.com'), '200', 'the same reviewer, for another skill')
  assert.equal(await storeReviewer('peer', 'bigboss@metro.example'), '200')
})

test('a reviewer whose data may not be processed is not asked again, until the restriction is lifted', async () => {
  const calls = await setUp()
  const reviewer = { email: 'paused@example.com' }
  await calls.requestReview({ reviewer })
  const partner = calls.app.as(await calls.app.fixtures.createPartnerKey(calls.orgId))
  const [{ person_id }] = (await partner.get('/people?email=paused%40example.com')).body.data.items
  const session = await calls.openPreparedSession('human', { type: 'peer', student: { externalStudentId: 'stu-2' } })
  for (const [change, outcome] of [
    ['restrict', '409 REVIEWER_UNREACHABLE'],
    ['unrestrict', '200'],
  ] as const) {
    assert.equal((await partner.post(`/people/${person_id}/${change}`, {})).status, 200)
    assert.equal(outcomeOf(await calls.storeReviewer(session, reviewer)), outcome)
  }
})

test('addresses of one mailbox are recognised by the rules of each provider', () => {
  const sameMailbox: [string, string][] = [
    ['Ravi+a@metro.example', 'ravi@METRO.example'],
    ['ravi@xn--bcher-kva.example', 'ravi@BÜCHER.example'],
    ['r.a.v.i@gmail.com', 'ravi+x@googlemail.com'],
    ['ravi-shop@yahoo.com', 'ravi-news@ymail.com'],
    ['ravi-shop@yahoo.co.uk', 'ravi@yahoo.co.uk'],
    ['shop@ravi.fastmail.com', 'ravi+x@fastmail.fm'],
    ['shop@ravi.fastmail.in', 'ravi@fastmail.in'],
    ['shop@ravi.sent.com', 'ravi+x@sent.com'],
    ['ravi@mac.com', 'ravi@icloud.com'],
    ['ravi+x@hotmail.com', 'ravi@outlook.com'],
    ['ra.vi_k-m@proton.me', 'ravikm+x@pm.me'],
    ['ravi.k@yandex.ru', 'ravi-k@ya.ru'],
  ]
  for (const [first, second] of sameMailbox) assert.equal(mailboxOf(first), mailboxOf(second), `${first} ${second}`)
  const differentMailboxes: [string, string][] = [
    ['ra.vi@metro.example', 'ravi@metro.example'],
    ['ravi-k@metro.example', 'ravi@metro.example'],
    ['ravi@yahoo.com', 'ravi@yahoo.co.in'],
    ['ravi@gmail.com', 'ravi@gmail.co'],
    ['+ravi@metro.example', '+asha@metro.example'],
    ['ravi@fastmail.com', 'ravi@sent.com'],
    ['x@ravi.metro.example', 'ravi@metro.example'],
  ]
  for (const [first, second] of differentMailboxes)
    assert.notEqual(mailboxOf(first), mailboxOf(second), `${first} ${second}`)
})

test('a new reviewer address gets a new email and invalidates the old link, up to three addresses', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  await expectOk(calls.storeReviewer(session, { name: 'Ravi M.' }))
  assert.equal((await calls.listEmails(session)).length, 1, 'the same address gets no second email')
  assert.equal((await calls.getReviewPage(session)).body.data.endorserInfo.name, 'Ravi M.')

  await expectOk(calls.storeReviewer(session, { email: 'second@metro.example' }))
  const secondToken = await calls.getReviewToken(session)
  assert.notEqual(secondToken, token)
  const decline = { declined: true, reason: 'No time' }
  assert.equal(outcomeOf(await calls.submitReview(session, token, decline)), '403 INVALID_TOKEN')
  await expectOk(calls.storeReviewer(session, { email: 'third@metro.example' }))
  assert.equal(
    outcomeOf(await calls.storeReviewer(session, { email: 'fourth@metro.example' })),
    '409 TOO_MANY_REVIEWERS',
  )
  await expectOk(calls.storeReviewer(session, { email: 'SECOND@metro.example' }))
  assert.equal((await calls.listEmails(session)).length, 4)
  assert.equal((await calls.listEvents()).filter(({ type }) => type === 'verification.requested').length, 1)
  assert.deepEqual(
    (await calls.storeReviewer(session, { email: 'Ravi.Menon+new@Metro.example' })).body.error.code,
    'TOO_MANY_REVIEWERS',
  )

  // Switching repeatedly between addresses is rate limited.
  for (let count = 4; count < 10; count++)
    await expectOk(calls.storeReviewer(session, { email: count % 2 ? 'second@metro.example' : 'third@metro.example' }))
  const floodResponse = await calls.storeReviewer(session, { email: 'third@metro.example' })
  assert.equal(outcomeOf(floodResponse), '429 RATE_LIMITED')
  assert.equal(Number(floodResponse.headers.get('retry-after')), DAY / 1000)
  assert.equal((await calls.listEmails(session)).length, 10)
  calls.clock.advance(DAY)
  await expectOk(calls.storeReviewer(session, { email: 'third@metro.example' }))

  assert.equal(outcomeOf(await calls.submitReview(session, await calls.getReviewToken(session), decline)), '200')
  assert.equal(outcomeOf(await calls.storeReviewer(session)), '409 ALREADY_SUBMITTED')
})

test('submitting a review reports errors in the documented order', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview({ skills: [BRICKLAYING, WIRING] })
  const submit = (review: object, reviewToken = token) =>
    calls.submitReview(session, reviewToken, review).then(outcomeOf)
  const completeReview = { decisions: [endorsedDecision(BRICKLAYING), rejectedDecision(WIRING)] }
  assert.equal(
    outcomeOf(await calls.call('POST', '/humanverification/submit', { body: {} })),
    '400 MISSING_VERIFICATION_ID',
  )
  assert.equal(await submit({ decisions: 'nonsense' }, 'vrt_wrong'), '403 INVALID_TOKEN')
  assert.equal(await submit({ ...completeReview, token: 5 }), '403 INVALID_TOKEN')
  const unknownSessionReview = { serviceVerificationId: 'SV_UNKNOWN', token, ...completeReview }
  assert.equal(
    outcomeOf(await calls.call('POST', '/humanverification/submit', { body: unknownSessionReview })),
    '403 INVALID_TOKEN',
  )
  const otherReview = await calls.requestReview({ student: { externalStudentId: 'stu-2' } })
  assert.equal(await submit(completeReview, otherReview.token), '403 INVALID_TOKEN', 'the token of another review')
  for (const answer of [
    {},
    { decisions: [] },
    { decisions: [endorsedDecision(BRICKLAYING)] },
    { decisions: [...completeReview.decisions, endorsedDecision(WIRING)] },
    { decisions: [...completeReview.decisions, endorsedDecision('sk_1002')] },
    { decisions: [endorsedDecision(BRICKLAYING, { rating: 6 }), rejectedDecision(WIRING)] },
    { decisions: [endorsedDecision(BRICKLAYING, { rating: 0 }), rejectedDecision(WIRING)] },
    { decisions: [endorsedDecision(BRICKLAYING, { rating: 2.5 }), rejectedDecision(WIRING)] },
    { decisions: [endorsedDecision(BRICKLAYING, { comment: 'x'.repeat(1001) }), rejectedDecision(WIRING)] },
    { decisions: [{ skillId: BRICKLAYING, endorsed: 'yes' }, rejectedDecision(WIRING)] },
    { declined: true },
    { declined: true, reason: ' ' },
    { declined: true, reason: 'x'.repeat(501) },
    { ...completeReview, declined: true, reason: 'Both' },
  ]) {
    assert.equal(await submit(answer), '400 VALIDATION_FAILED', JSON.stringify(answer).slice(0, 80))
  }
  assert.equal((await calls.getVerification(session)).status, 'pending_review')
  const comment = '✓'.repeat(1000)
  assert.equal(
    await submit({ decisions: [endorsedDecision(BRICKLAYING, { comment }), rejectedDecision(WIRING)] }),
    '200',
  )
  assert.equal(await submit(completeReview), '409 ALREADY_SUBMITTED')
  assert.equal(await submit(completeReview, 'vrt_wrong'), '403 INVALID_TOKEN')
})

test('only one of two concurrent submissions is stored', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  const responses = await Promise.all([
    calls.submitReview(session, token, { decisions: [endorsedDecision(BRICKLAYING)] }),
    calls.submitReview(session, token, { declined: true, reason: 'No' }),
    calls.submitReview(session, token, { decisions: [rejectedDecision(BRICKLAYING)] }),
  ])
  assert.deepEqual(responses.map(outcomeOf).sort(), ['200', '409 ALREADY_SUBMITTED', '409 ALREADY_SUBMITTED'])
  assert.equal((await calls.listEvents()).length, 2)
  assert.equal((await calls.listEmails(session)).length, 2)
})

test('the student is emailed the reason for declining, and the skills can be reviewed again', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  await expectOk(calls.submitReview(session, token, { declined: true, reason: 'I left before\nthey joined' }))
  const verification = await calls.getVerification(session)
  assert.equal(verification.status, 'declined')
  assert.equal(verification.declineReason, 'I left before\nthey joined')
  assert.equal(verification.skills[0].outcome, 'not_endorsed')
  assert.deepEqual((await calls.listEvents()).at(-1)!.type, 'verification.declined')
  assert.match((await calls.listEmails(session))[0]!.text, /“I left before they joined”/)
  await calls.requestReview({ type: 'peer' })
})

test('the steps of a session cannot change after the reviewer was emailed', async () => {
  const calls = await setUp()
  const { session } = await calls.requestReview()
  assert.equal(outcomeOf(await calls.storeSkills(session)), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.storeItems(session)), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.chooseMethod(session, 'assessment')), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.chooseMethod(session, 'human')), '200')
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '400 INVALID_VERIFICATION_TYPE')
})

test('reminders are sent after 3 and 7 days with the same link, which expires after 30 days', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const { session, token } = await calls.requestReview()
  const remindAndCountEmails = async () => {
    await remindReviewers(context)
    return (await calls.listEmails(session)).length
  }
  calls.clock.advance(3 * DAY - 1)
  assert.equal(await remindAndCountEmails(), 1)
  calls.clock.advance(1)
  assert.equal(await remindAndCountEmails(), 2)
  assert.equal(await remindAndCountEmails(), 2)
  const [reminder] = await calls.listEmails(session)
  assert.equal(reminder!.kind, 'review_reminder')
  assert.equal(await calls.getReviewToken(session), token)
  calls.clock.advance(4 * DAY)
  assert.equal(await remindAndCountEmails(), 3)
  calls.clock.advance(23 * DAY - 1)
  assert.equal(await remindAndCountEmails(), 3)
  assert.equal((await calls.getReviewPage(session)).status, 200)
  assert.equal((await calls.getVerification(session)).status, 'pending_review')

  // With the key, a reviewer who does not respond can be replaced long after the session has expired.
  await expectOk(calls.storeReviewer(session, { email: 'second@metro.example' }))
  assert.equal(outcomeOf(await calls.call('GET', `/verify/${session.token}`)), '404 SESSION_NOT_FOUND')
  const secondToken = await calls.getReviewToken(session)
  calls.clock.advance(30 * DAY)
  const review = { decisions: [endorsedDecision(BRICKLAYING)] }
  assert.equal(outcomeOf(await calls.submitReview(session, secondToken, review)), '410 LINK_EXPIRED')
  assert.equal(outcomeOf(await calls.getReviewPage(session)), '410 LINK_EXPIRED')
  assert.equal(outcomeOf(await calls.storeReviewer(session, { email: 'third@metro.example' })), '410 LINK_EXPIRED')
  assert.equal((await calls.getVerification(session)).status, 'expired')
  await storeExpiredStatuses(context)
  await storeExpiredStatuses(context)
  assert.equal((await calls.getVerification(session)).status, 'expired')
  const expiryEvents = (await calls.listEvents()).filter(({ type }) => type === 'verification.expired')
  assert.deepEqual(
    expiryEvents.map(({ data }) => [data.serviceVerificationId, data.status, data.skills[0].outcome]),
    [[session.id, 'expired', 'pending']],
  )
  assert.equal(outcomeOf(await calls.submitReview(session, secondToken, review)), '410 LINK_EXPIRED')
  assert.equal(outcomeOf(await calls.storeReviewer(session, { email: 'third@metro.example' })), '410 LINK_EXPIRED')
})

test('no reminder is sent for submitted, declined or reassigned reviews', async (t) => {
  const calls = await startVerification(t)
  const submittedReview = await calls.requestReview()
  await expectOk(
    calls.submitReview(submittedReview.session, submittedReview.token, { decisions: [endorsedDecision(BRICKLAYING)] }),
  )
  const reassignedReview = await calls.requestReview({ student: { externalStudentId: 'stu-2' } })
  calls.clock.advance(2 * DAY)
  await expectOk(calls.storeReviewer(reassignedReview.session, { email: 'second@metro.example' }))
  calls.clock.advance(DAY)
  assert.equal(await remindReviewers(calls.app.context), 0)
  calls.clock.advance(2 * DAY)
  assert.equal(await remindReviewers(calls.app.context), 1)
})

test('a reviewer cannot be stored in an expired session before an email was sent', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('human')
  calls.clock.advance(24 * HOUR)
  assert.equal(outcomeOf(await calls.storeReviewer(session)), '404 SESSION_NOT_FOUND')
  await storeExpiredStatuses(calls.app.context)
  assert.equal(outcomeOf(await calls.storeReviewer(session)), '404 SESSION_NOT_FOUND')
  assert.equal((await calls.getVerification(session)).status, 'expired')
})

test('user text cannot inject headers or markup into emails', async () => {
  const calls = await setUp()
  const evil = 'Eve\r\nBcc: everyone\r\n\r\n<script>alert("x")</script>'
  const student = {
    name: evil,
    workExperiences: [{ externalExperienceId: 'w-1', companyName: evil, role: `"><img src=x onerror=alert(1)>` }],
  }
  const { session, token } = await calls.requestReview({ student, reviewer: { name: evil } })
  await expectOk(calls.submitReview(session, token, { declined: true, reason: evil }))
  for (const email of await calls.listEmails(session)) {
    assert.doesNotMatch(email.subject, /[\r\n]/)
    assert.doesNotMatch(email.to_name!, /[\r\n]/)
    assert.doesNotMatch(email.text, /^Bcc:/m)
    assert.doesNotMatch(email.html, /<script|<img/)
    assert.match(email.html, /&#60;script&#62;/)
  }
})

test('invisible and direction-changing characters are removed from emails and the page', async () => {
  const calls = await setUp()
  const name = 'Asha\u202e oaR\u200b\u2066\u001b[31m क्\u200dष'
  const { session } = await calls.requestReview({
    student: {
      name,
      workExperiences: [
        {
          externalExperienceId: 'w-1',
          companyName: 'Metro\u202e',
          role: 'Fitter\u2067  II',
          description: 'a\nb\u202e',
        },
      ],
    },
    reviewer: { name: '\u200b\u2060', company: 'M\u061cetro' },
  })
  const [email] = await calls.listEmails(session)
  const invisibleCharacters = /(?!\n)[\p{Cc}\u061c\u200b\u202e\u2060\u2066\u2067]/u
  assert.doesNotMatch(email!.subject + email!.text + email!.html + email!.to_name, invisibleCharacters)
  assert.match(email!.subject, /^Asha oaR \[31m क्\u200dष asks you/)
  assert.match(
    email!.text,
    /^Hello ravi\.menon@metro\.example,/,
    'uses the address if no character of the name is visible',
  )
  assert.equal(email!.to_name, null)
  const { endorserInfo, requesterInfo, source } = (await calls.getReviewPage(session)).body.data
  assert.doesNotMatch(Object.values({ ...endorserInfo, ...requesterInfo, ...source }).join(), invisibleCharacters)
  assert.deepEqual(
    [requesterInfo.name, endorserInfo.name, endorserInfo.company],
    ['Asha oaR[31m क्\u200dष', 'ravi.menon@metro.example', 'Metro'],
  )
  assert.deepEqual([source.title, source.description], ['Fitter  II', 'a\nb'], 'spaces and line breaks are unchanged')
  assert.equal(
    (await calls.getFullVerification(session)).student.name,
    name,
    'the session returns the name as it was sent',
  )
})

test('an operator can resend the email with the same link', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const { session, token } = await calls.requestReview()
  const resend = () => context.db.transaction((tx) => resendRequest(tx, context, session.id))
  await assert.rejects(
    resend,
    { code: 'RATE_LIMITED', retryAfter: 60 },
    'the first email was sent within the last minute',
  )
  calls.clock.advance(60_000)
  await resend()
  assert.equal((await calls.listEmails(session)).length, 2)
  assert.equal(await calls.getReviewToken(session), token)
  await expectOk(calls.submitReview(session, token, { declined: true, reason: 'No' }))
  calls.clock.advance(60_000)
  await assert.rejects(resend, { code: 'CONFLICT' })
})

test('a failed reminder does not stop the others', async (t) => {
  const calls = await startVerification(t)
  const { context } = calls.app
  const sessions = []
  for (const externalStudentId of ['stu-1', 'stu-2', 'stu-3'])
    sessions.push((await calls.requestReview({ student: { externalStudentId } })).session)
  const [brokenId] = sessions.map(({ id }) => id).sort()
  await sql`update verification_reviews set link = set_byte(link, 40, 255 - get_byte(link, 40))
    where verification_id = ${brokenId}`.execute(context.db.queries)
  calls.clock.advance(3 * DAY)
  assert.equal(await remindReviewers(context), 2)
})
