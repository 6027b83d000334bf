import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  aReviewer,
  BRICKLAYING,
  ok,
  outcome,
  shareVerification,
  startVerification,
  WIRING,
} from '../../../test/support/verification.ts'
import { DAY, HOUR } from '../../platform/clock.ts'
import { writeEndings } from '../jobs.ts'
import { remindReviewers, resendRequest } from './review-requests.ts'

const endorsed = (skillId: string, more: object = {}) => ({ skillId, endorsed: true, ...more })
const refused = (skillId: string, more: object = {}) => ({ skillId, endorsed: false, ...more })

const given = await shareVerification()

test('a reviewer gets a mail, sees the page, endorses; partner and student are told', async () => {
  const calls = await given()
  const session = await calls.prepared('human', { skills: [BRICKLAYING, WIRING], type: 'mentor' })
  assert.equal(outcome(await calls.page(session)), '404 VERIFICATION_NOT_FOUND', 'nothing to see before the mail')

  const stored = await calls.reviewer(session, { website: 'https://metro.example' })
  assert.deepEqual(stored.body.data, {
    serviceVerificationId: session.id,
    name: 'Ravi Menon',
    email: 'ravi.menon@metro.example',
    company: 'Metro Ltd',
    website: 'https://metro.example',
  })
  assert.deepEqual((await calls.call('GET', `/storereviewerdetails/${session.id}`)).body, {
    success: true,
    data: stored.body.data,
  })
  const [mail, ...others] = await calls.mails(session)
  assert.deepEqual(others, [])
  assert.equal(mail!.to_address, 'ravi.menon@metro.example')
  assert.equal(mail!.kind, 'review_request')
  assert.equal(mail!.replyTo, 'asha@example.com')
  const link = /https?:\S+#token=\S+/.exec(mail!.text)![0]
  assert.ok(link.startsWith(`${calls.app.context.config.publicUrl}/verify/${session.id}#token=`))
  assert.ok(mail!.html.includes(`href="${link}"`))

  const page = await calls.page(session)
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
    endorsementType: 'mentor',
    status: 'pending_review',
    expiresAt: new Date(calls.clock.now() + 30 * DAY).toISOString(),
  })
  assert.equal((await calls.full(session)).status, 'pending_review')

  const token = link.split('#token=')[1]!
  const answer = await calls.submitReview(session, token, {
    decisions: [endorsed(BRICKLAYING, { rating: 4, comment: 'Clean joints 👍' }), refused(WIRING)],
  })
  const skills = [
    { skillId: BRICKLAYING, name: 'Bricklaying', outcome: 'endorsed', rating: 4, comment: 'Clean joints 👍' },
    { skillId: WIRING, name: 'House wiring', outcome: 'not_endorsed' },
  ]
  assert.deepEqual(answer.body.data, { serviceVerificationId: session.id, status: 'completed', skills })
  const { status, completedAt, skills: read } = await calls.verification(session)
  assert.deepEqual(
    { status, completedAt, read },
    { status: 'completed', completedAt: new Date(calls.clock.now()).toISOString(), read: skills },
  )

  const events = await calls.events()
  const told = {
    serviceVerificationId: session.id,
    serviceUserId: session.userId,
    externalStudentId: 'stu-1',
    verificationMethod: 'human',
  }
  assert.deepEqual(
    events.map(({ type, data: { version, ...data } }) => ({ type, ...data })),
    [
      { type: 'verification.requested', ...told, status: 'pending_review' },
      { type: 'verification.completed', ...told, status: 'completed', skills },
    ],
  )
  assert.ok(events[1]!.data.version > events[0]!.data.version)
  const [outcomeMail] = await calls.mails(session)
  assert.equal(outcomeMail!.kind, 'review_outcome')
  assert.equal(outcomeMail!.to_address, 'asha@example.com')
  assert.match(outcomeMail!.text, /Bricklaying: endorsed, 4 of 5/)
})

test('the mail goes out when the last piece is there, whichever it is', async () => {
  const calls = await given()
  const steps = {
    skills: (session: any) => calls.skills(session),
    method: (session: any) => calls.method(session, 'human'),
    items: (session: any) => calls.items(session),
    reviewer: (session: any) => calls.reviewer(session),
  }
  for (const order of [
    ['skills', 'method', 'items', 'reviewer'],
    ['skills', 'method', 'reviewer', 'items'],
    ['method', 'reviewer', 'items', 'skills'],
  ] as (keyof typeof steps)[][]) {
    calls.clock.advance(31 * DAY)
    const session = await calls.open()
    for (const [index, step] of order.entries()) {
      assert.deepEqual(await calls.mails(session), [], `${order} before ${step}`)
      assert.equal((await steps[step](session)).status, 200, `${order}: ${step}`)
      assert.equal((await calls.mails(session)).length, index === 3 ? 1 : 0)
    }
  }
  // Or the method, where it was another one meanwhile.
  calls.clock.advance(31 * DAY)
  const session = await calls.open()
  await ok(calls.skills(session))
  await ok(calls.method(session, 'human'))
  await ok(calls.reviewer(session))
  await ok(calls.method(session, 'assessment'))
  await ok(calls.items(session))
  assert.deepEqual(await calls.mails(session), [])
  await ok(calls.method(session, 'human'))
  assert.equal((await calls.mails(session)).length, 1)
})

test('what the reviewer store refuses, in its order', async () => {
  const calls = await given()
  const { call, key } = calls
  const session = await calls.open()
  const store = (changes: object) =>
    call('POST', '/storereviewerdetails/store', {
      key,
      body: { serviceVerificationId: session.id, ...aReviewer(), ...changes },
    }).then(outcome)
  const all = { serviceVerificationId: '', name: '', email: '', company: '', website: 'x' }
  assert.equal(await store(all), '400 MISSING_VERIFICATION_ID')
  const { serviceVerificationId: _, ...named } = all
  assert.equal(await store(named), '400 MISSING_NAME')
  assert.equal(await store({ ...named, name: 'R' }), '400 MISSING_EMAIL')
  assert.equal(await store({ ...named, name: 'R', email: 'bad' }), '400 MISSING_COMPANY')
  assert.equal(await store({ email: 'bad', website: 'x' }), '400 INVALID_EMAIL')
  for (const email of [
    'a@b',
    'a b@c.example',
    'A <a@c.example>',
    'a@c.example,b@c.example',
    'a@c.example\nBcc: x@y.example',
    5,
  ])
    assert.equal(await store({ email }), '400 INVALID_EMAIL', String(email))
  for (const website of ['metro.example', 'javascript:alert(1)', 'https://a b', 7])
    assert.equal(await store({ website }), '400 INVALID_WEBSITE', String(website))
  assert.equal(await store({ name: 'x'.repeat(201) }), '400 VALIDATION_FAILED')
  assert.equal(await store({ name: 5 }), '400 VALIDATION_FAILED')
  assert.equal(await store({ serviceVerificationId: 'SV_UNKNOWN' }), '404 VERIFICATION_NOT_FOUND')
  assert.equal(await store({}), '400 VERIFICATION_METHOD_NOT_SET')
  await ok(calls.method(session, 'assessment'))
  assert.equal(await store({}), '400 INVALID_VERIFICATION_TYPE')
  await ok(calls.method(session, 'human'))
  assert.equal(await store({ email: 'ASHA@example.com' }), '400 INVALID_EMAIL', 'the student')
  for (const website of [null, '', undefined]) assert.equal(await store({ website }), '200')
  const other = await calls.open({ externalStudentId: 'stu-2' })
  const token = { token: other.token, body: { serviceVerificationId: session.id, ...aReviewer() } }
  assert.equal(outcome(await call('POST', '/storereviewerdetails/store', token)), '404 VERIFICATION_NOT_FOUND')

  for (const path of ['/storereviewerdetails', '/storereviewerdetails/', '/storereviewerdetails/%20'])
    assert.equal(outcome(await call('GET', path)), '400 MISSING_VERIFICATION_ID')
  assert.equal(outcome(await call('GET', '/storereviewerdetails/SV_UNKNOWN')), '404 NOT_FOUND')
  assert.equal(outcome(await call('GET', `/storereviewerdetails/${other.id}`)), '404 NOT_FOUND')
})

test('a student cannot review under another spelling of the own address', async () => {
  const calls = await given()
  const own = async (student: string, reviewer: string) => {
    const session = await calls.open({ externalStudentId: student, email: student })
    await ok(calls.method(session, 'human'))
    return outcome(await calls.reviewer(session, { email: reviewer }))
  }
  const refused = '400 INVALID_EMAIL'
  assert.equal(await own('asha@example.com', 'Asha+manager@example.com'), refused)
  assert.equal(await own('asha+school@example.com', 'asha@example.com'), refused)
  assert.equal(await own('asha+school@example.com', 'asha+SCHOOL@EXAMPLE.com'), refused)
  assert.equal(await own('asha.rao@gmail.com', 'a.s.h.a.rao+boss@googlemail.com'), refused)
  assert.equal(await own('asha@bücher.example', 'asha@xn--bcher-kva.example'), refused)
  // Where dots count, another name is somebody else's; so may be another tag of a shared one.
  assert.equal(await own('class+asha@example.com', 'class+teacher@example.com'), '200')
  assert.equal(await own('asha.rao@example.com', 'asharao@example.com'), '200')
  assert.equal(await own('asha@gmail.com', 'asha@example.com'), '200')
})

test('another address gets a mail of its own, and the old link is dead; three addresses at most', async () => {
  const calls = await given()
  const { session, token } = await calls.requested()
  await ok(calls.reviewer(session, { name: 'Ravi M.' }))
  assert.equal((await calls.mails(session)).length, 1, 'the same address gets no second mail')
  assert.equal((await calls.page(session)).body.data.endorserInfo.name, 'Ravi M.')

  await ok(calls.reviewer(session, { email: 'second@metro.example' }))
  const second = await calls.linkToken(session)
  assert.notEqual(second, token)
  const decline = { declined: true, reason: 'No time' }
  assert.equal(outcome(await calls.submitReview(session, token, decline)), '403 INVALID_TOKEN')
  await ok(calls.reviewer(session, { email: 'third@metro.example' }))
  assert.equal(outcome(await calls.reviewer(session, { email: 'fourth@metro.example' })), '409 TOO_MANY_REVIEWERS')
  await ok(calls.reviewer(session, { email: 'SECOND@metro.example' }))
  assert.equal((await calls.mails(session)).length, 4)
  assert.equal((await calls.events()).filter(({ type }) => type === 'verification.requested').length, 1)
  assert.deepEqual(
    (await calls.reviewer(session, { email: 'Ravi.Menon+new@Metro.example' })).body.error.code,
    'TOO_MANY_REVIEWERS',
  )

  // To and fro between them, nobody's mailbox is filled.
  for (let mails = 4; mails < 10; mails++)
    await ok(calls.reviewer(session, { email: mails % 2 ? 'second@metro.example' : 'third@metro.example' }))
  const flood = await calls.reviewer(session, { email: 'third@metro.example' })
  assert.equal(outcome(flood), '429 RATE_LIMITED')
  assert.equal(Number(flood.headers.get('retry-after')), DAY / 1000)
  assert.equal((await calls.mails(session)).length, 10)
  calls.clock.advance(DAY)
  await ok(calls.reviewer(session, { email: 'third@metro.example' }))

  assert.equal(outcome(await calls.submitReview(session, await calls.linkToken(session), decline)), '200')
  assert.equal(outcome(await calls.reviewer(session)), '409 ALREADY_SUBMITTED')
})

test('what the review refuses, in its order', async () => {
  const calls = await given()
  const { session, token } = await calls.requested({ skills: [BRICKLAYING, WIRING] })
  const submit = (answer: object, with_ = token) => calls.submitReview(session, with_, answer).then(outcome)
  const whole = { decisions: [endorsed(BRICKLAYING), refused(WIRING)] }
  assert.equal(
    outcome(await calls.call('POST', '/humanverification/submit', { body: {} })),
    '400 MISSING_VERIFICATION_ID',
  )
  assert.equal(await submit({ decisions: 'nonsense' }, 'vrt_wrong'), '403 INVALID_TOKEN')
  assert.equal(await submit({ ...whole, token: 5 }), '403 INVALID_TOKEN')
  const unknown = { serviceVerificationId: 'SV_UNKNOWN', token, ...whole }
  assert.equal(outcome(await calls.call('POST', '/humanverification/submit', { body: unknown })), '403 INVALID_TOKEN')
  const other = await calls.requested({ student: { externalStudentId: 'stu-2' } })
  assert.equal(await submit(whole, other.token), '403 INVALID_TOKEN', 'the token of another review')
  for (const answer of [
    {},
    { decisions: [] },
    { decisions: [endorsed(BRICKLAYING)] },
    { decisions: [...whole.decisions, endorsed(WIRING)] },
    { decisions: [...whole.decisions, endorsed('sk_1002')] },
    { decisions: [endorsed(BRICKLAYING, { rating: 6 }), refused(WIRING)] },
    { decisions: [endorsed(BRICKLAYING, { rating: 0 }), refused(WIRING)] },
    { decisions: [endorsed(BRICKLAYING, { rating: 2.5 }), refused(WIRING)] },
    { decisions: [endorsed(BRICKLAYING, { comment: 'x'.repeat(1001) }), refused(WIRING)] },
    { decisions: [{ skillId: BRICKLAYING, endorsed: 'yes' }, refused(WIRING)] },
    { declined: true },
    { declined: true, reason: ' ' },
    { declined: true, reason: 'x'.repeat(501) },
    { ...whole, declined: true, reason: 'Both' },
  ]) {
    assert.equal(await submit(answer), '400 VALIDATION_FAILED', JSON.stringify(answer).slice(0, 80))
  }
  assert.equal((await calls.verification(session)).status, 'pending_review')
  const comment = '✓'.repeat(1000)
  assert.equal(await submit({ decisions: [endorsed(BRICKLAYING, { comment }), refused(WIRING)] }), '200')
  assert.equal(await submit(whole), '409 ALREADY_SUBMITTED')
  assert.equal(await submit(whole, 'vrt_wrong'), '403 INVALID_TOKEN')
})

test('of two answers at once one is taken', async () => {
  const calls = await given()
  const { session, token } = await calls.requested()
  const answers = await Promise.all([
    calls.submitReview(session, token, { decisions: [endorsed(BRICKLAYING)] }),
    calls.submitReview(session, token, { declined: true, reason: 'No' }),
    calls.submitReview(session, token, { decisions: [refused(BRICKLAYING)] }),
  ])
  assert.deepEqual(answers.map(outcome).sort(), ['200', '409 ALREADY_SUBMITTED', '409 ALREADY_SUBMITTED'])
  assert.equal((await calls.events()).length, 2)
  assert.equal((await calls.mails(session)).length, 2)
})

test('a declined review tells the student why, and its skills are free again', async () => {
  const calls = await given()
  const { session, token } = await calls.requested()
  await ok(calls.submitReview(session, token, { declined: true, reason: 'I left before\nthey joined' }))
  const seen = await calls.verification(session)
  assert.equal(seen.status, 'declined')
  assert.equal(seen.declineReason, 'I left before\nthey joined')
  assert.equal(seen.skills[0].outcome, 'not_endorsed')
  assert.deepEqual((await calls.events()).at(-1)!.type, 'verification.declined')
  assert.match((await calls.mails(session))[0]!.text, /“I left before they joined”/)
  await calls.requested({ type: 'peer' })
})

test('steps are frozen once the mail is out', async () => {
  const calls = await given()
  const { session } = await calls.requested()
  assert.equal(outcome(await calls.skills(session)), '409 SESSION_LOCKED')
  assert.equal(outcome(await calls.items(session)), '409 SESSION_LOCKED')
  assert.equal(outcome(await calls.method(session, 'assessment')), '409 SESSION_LOCKED')
  assert.equal(outcome(await calls.method(session, 'human')), '200')
  assert.equal(outcome(await calls.generate(session)), '400 INVALID_VERIFICATION_TYPE')
})

test('reminders come after 3 and 7 days with the same link, which ends after 30', async () => {
  const calls = await given()
  const { context } = calls.app
  const { session, token } = await calls.requested()
  const sent = async () => {
    await remindReviewers(context)
    return (await calls.mails(session)).length
  }
  calls.clock.advance(3 * DAY - 1)
  assert.equal(await sent(), 1)
  calls.clock.advance(1)
  assert.equal(await sent(), 2)
  assert.equal(await sent(), 2)
  const [reminder] = await calls.mails(session)
  assert.equal(reminder!.kind, 'review_reminder')
  assert.equal(await calls.linkToken(session), token)
  calls.clock.advance(4 * DAY)
  assert.equal(await sent(), 3)
  calls.clock.advance(23 * DAY - 1)
  assert.equal(await sent(), 3)
  assert.equal((await calls.page(session)).status, 200)
  assert.equal((await calls.verification(session)).status, 'pending_review')

  // Replacing somebody who does not answer takes the key, whose session has ended long ago.
  await ok(calls.reviewer(session, { email: 'second@metro.example' }))
  assert.equal(outcome(await calls.call('GET', `/verify/${session.token}`)), '404 SESSION_NOT_FOUND')
  const second = await calls.linkToken(session)
  calls.clock.advance(30 * DAY)
  const answer = { decisions: [endorsed(BRICKLAYING)] }
  assert.equal(outcome(await calls.submitReview(session, second, answer)), '410 LINK_EXPIRED')
  assert.equal(outcome(await calls.page(session)), '410 LINK_EXPIRED')
  assert.equal(outcome(await calls.reviewer(session, { email: 'third@metro.example' })), '410 LINK_EXPIRED')
  assert.equal((await calls.verification(session)).status, 'expired')
  await writeEndings(context)
  assert.equal((await calls.verification(session)).status, 'expired')
  assert.equal(outcome(await calls.submitReview(session, second, answer)), '410 LINK_EXPIRED')
  assert.equal(outcome(await calls.reviewer(session, { email: 'third@metro.example' })), '410 LINK_EXPIRED')
})

test('nobody is reminded of what is answered, declined or somebody else’s by now', async (t) => {
  const calls = await startVerification(t)
  const answered = await calls.requested()
  await ok(calls.submitReview(answered.session, answered.token, { decisions: [endorsed(BRICKLAYING)] }))
  const replaced = await calls.requested({ student: { externalStudentId: 'stu-2' } })
  calls.clock.advance(2 * DAY)
  await ok(calls.reviewer(replaced.session, { email: 'second@metro.example' }))
  calls.clock.advance(DAY)
  assert.equal(await remindReviewers(calls.app.context), 0)
  calls.clock.advance(2 * DAY)
  assert.equal(await remindReviewers(calls.app.context), 1)
})

test('a reviewer cannot be named in a session that has ended without a mail', async () => {
  const calls = await given()
  const session = await calls.prepared('human')
  calls.clock.advance(24 * HOUR)
  assert.equal(outcome(await calls.reviewer(session)), '404 SESSION_NOT_FOUND')
  await writeEndings(calls.app.context)
  assert.equal(outcome(await calls.reviewer(session)), '404 SESSION_NOT_FOUND')
  assert.equal((await calls.verification(session)).status, 'expired')
})

test('nothing that users write starts a header or becomes markup of a mail', async () => {
  const calls = await given()
  const evil = 'Eve\r\nBcc: all@example.com\r\n\r\n<script>alert("x")</script>'
  const student = {
    name: evil,
    workExperiences: [{ externalExperienceId: 'w-1', companyName: evil, role: `"><img src=x onerror=alert(1)>` }],
  }
  const { session, token } = await calls.requested({ student, reviewer: { name: evil } })
  await ok(calls.submitReview(session, token, { declined: true, reason: evil }))
  for (const mail of await calls.mails(session)) {
    assert.doesNotMatch(mail.subject, /[\r\n]/)
    assert.doesNotMatch(mail.to_name!, /[\r\n]/)
    assert.doesNotMatch(mail.text, /^Bcc:/m)
    assert.doesNotMatch(mail.html, /<script|<img/)
    assert.match(mail.html, /&lt;script&gt;/)
  }
})

test('nothing unseen or turned around stands in a mail or on the page', async () => {
  const calls = await given()
  const name = 'Asha\u202e oaR\u200b\u2066\u001b[31m क्\u200dष'
  const { session } = await calls.requested({
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
  const [mail] = await calls.mails(session)
  const unseen = /(?!\n)[\p{Cc}\u061c\u200b\u202e\u2060\u2066\u2067]/u
  assert.doesNotMatch(mail!.subject + mail!.text + mail!.html + mail!.to_name, unseen)
  assert.match(mail!.subject, /^Asha oaR \[31m क्\u200dष asks you/)
  assert.match(mail!.text, /^Hello ravi\.menon@metro\.example,/, 'by the address, where nothing of the name is seen')
  assert.equal(mail!.to_name, null)
  const { endorserInfo, requesterInfo, source } = (await calls.page(session)).body.data
  assert.doesNotMatch(Object.values({ ...endorserInfo, ...requesterInfo, ...source }).join(), unseen)
  assert.deepEqual(
    [requesterInfo.name, endorserInfo.name, endorserInfo.company],
    ['Asha oaR[31m क्\u200dष', 'ravi.menon@metro.example', 'Metro'],
  )
  assert.deepEqual([source.title, source.description], ['Fitter  II', 'a\nb'], 'spaces and lines stay as they are')
  assert.equal((await calls.full(session)).student.name, name, 'what was sent comes back to who sent it')
})

test('an operator can have the mail sent again, with the same link', async () => {
  const calls = await given()
  const { context } = calls.app
  const { session, token } = await calls.requested()
  const resend = () => context.db.transaction((tx) => resendRequest(tx, context, session.id))
  await assert.rejects(resend, { code: 'RATE_LIMITED', retryAfter: 60 }, 'the first went out this minute')
  calls.clock.advance(60_000)
  await resend()
  assert.equal((await calls.mails(session)).length, 2)
  assert.equal(await calls.linkToken(session), token)
  await ok(calls.submitReview(session, token, { declined: true, reason: 'No' }))
  calls.clock.advance(60_000)
  await assert.rejects(resend, { code: 'CONFLICT' })
})

test('a reminder that fails holds up no other', async (t) => {
  const calls = await startVerification(t)
  const { context } = calls.app
  const sessions = []
  for (const externalStudentId of ['stu-1', 'stu-2', 'stu-3'])
    sessions.push((await calls.requested({ student: { externalStudentId } })).session)
  const [broken] = sessions.map(({ id }) => id).sort()
  await context.db.queries
    .updateTable('verification_reviews')
    .set({ link: Buffer.alloc(60) })
    .where('verification_id', '=', broken!)
    .execute()
  calls.clock.advance(3 * DAY)
  assert.equal(await remindReviewers(context), 2)
})
