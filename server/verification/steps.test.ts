import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { until } from '../../test/support/until.ts'
import {
  BRICKLAYING,
  expectOk,
  outcomeOf,
  sharedVerification,
  type VerificationCalls,
  WIRING,
} from '../../test/support/verification.ts'

const skillIdOf = (number: number) => `sk_${number}`
const tenSkills = Array.from({ length: 10 }, (_, index) => skillIdOf(1001 + index))

/** Completes a review that endorses all skills except those in `notEndorsed`. */
async function completeReview(
  calls: VerificationCalls,
  options: { skills?: string[]; student?: object; type?: string; notEndorsed?: string[] } = {},
) {
  const { session, token } = await calls.requestReview(options)
  const skills = options.skills ?? [BRICKLAYING]
  const decisions = skills.map((skillId) => ({ skillId, endorsed: !options.notEndorsed?.includes(skillId) }))
  await expectOk(calls.submitReview(session, token, { decisions }))
  return session
}

const setUp = sharedVerification()

test('step 1 accepts 1 to 10 different catalogue skills', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  const storeProofUrls = (proofUrl: unknown) =>
    calls.storeSkills(session, [], { skills: [{ skillId: BRICKLAYING, proofUrl }] }).then(outcomeOf)
  assert.equal(outcomeOf(await calls.storeSkills(session, [], { skills: undefined })), '400 NO_SKILLS')
  assert.equal(outcomeOf(await calls.storeSkills(session, [])), '400 NO_SKILLS')
  assert.equal(outcomeOf(await calls.storeSkills(session, [], { skills: 'sk_1001' })), '400 VALIDATION_FAILED')
  const unknownSkillResponse = await calls.storeSkills(session, [BRICKLAYING, 'sk_999999999'])
  assert.equal(outcomeOf(unknownSkillResponse), '400 INVALID_SKILL')
  assert.match(unknownSkillResponse.body.error.message, /sk_999999999/)
  assert.equal(outcomeOf(await calls.storeSkills(session, ['bricklaying'])), '400 INVALID_SKILL')
  assert.equal(outcomeOf(await calls.storeSkills(session, [WIRING, WIRING])), '400 INVALID_SKILL')
  assert.equal(outcomeOf(await calls.storeSkills(session, [...tenSkills, WIRING])), '409 MAX_SKILLS_PER_SOURCE')
  assert.equal(
    outcomeOf(await calls.storeSkills(session, [WIRING], { endorsementType: 'uncle' })),
    '400 VALIDATION_FAILED',
  )
  assert.equal(await storeProofUrls(Array(6).fill('https://a.example')), '400 VALIDATION_FAILED')
  assert.equal(await storeProofUrls(['ftp://a.example']), '400 VALIDATION_FAILED')
  assert.equal(await storeProofUrls('https://a.example'), '400 VALIDATION_FAILED')
  assert.equal(await storeProofUrls(Array(5).fill('https://a.example/photo?x=1')), '200')
  assert.deepEqual(
    (await calls.getFullVerification(session)).skills[0].proofUrl,
    Array(5).fill('https://a.example/photo?x=1'),
  )
  assert.equal(outcomeOf(await calls.storeSkills(session, tenSkills)), '200')
  assert.deepEqual(
    (await calls.getFullVerification(session)).skills.map(({ skillId }: { skillId: string }) => skillId),
    tenSkills,
    'replaced',
  )
})

test('step 2 reports errors in the documented order', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  const otherSession = await calls.openSession()
  const chooseMethod = (body: object) =>
    calls.call('POST', '/step2/verification-method', { key: calls.key, token: session.token, body }).then(outcomeOf)
  const { id } = session
  assert.equal(await chooseMethod({}), '400 MISSING_VERIFICATION_ID')
  assert.equal(await chooseMethod({ serviceVerificationId: id }), '400 MISSING_VERIFICATION_METHOD')
  assert.equal(
    await chooseMethod({ serviceVerificationId: 'x', verificationMethod: 'magic' }),
    '400 INVALID_VERIFICATION_METHOD',
  )
  assert.equal(
    await chooseMethod({ serviceVerificationId: id, verificationMethod: 5 }),
    '400 INVALID_VERIFICATION_METHOD',
  )
  assert.equal(
    await chooseMethod({ serviceVerificationId: otherSession.id, verificationMethod: 'human' }),
    '404 VERIFICATION_NOT_FOUND',
  )
  assert.equal(
    await chooseMethod({ serviceVerificationId: id, verificationMethod: 'human' }),
    '200',
    'step 1 is not required first',
  )
  assert.equal(await chooseMethod({ serviceVerificationId: id, verificationMethod: 'assessment' }), '200', 'changed')
})

test('step 3 reports errors in the documented order', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  assert.equal(outcomeOf(await calls.storeItems(session, {})), '400 NO_ITEMS_SELECTED')
  assert.equal(
    outcomeOf(await calls.storeItems(session, { projectIds: [], credentialIds: [] })),
    '400 NO_ITEMS_SELECTED',
  )
  assert.equal(outcomeOf(await calls.storeItems({ ...session, token: 'vst_no' })), '404 SESSION_NOT_FOUND')
  assert.equal(outcomeOf(await calls.storeItems(session)), '400 VERIFICATION_METHOD_NOT_SET')
  await expectOk(calls.chooseMethod(session, 'human'))
  assert.equal(outcomeOf(await calls.storeItems(session, { projectIds: 'p-1' })), '400 VALIDATION_FAILED')
  assert.equal(outcomeOf(await calls.storeItems(session, { projectIds: [5] })), '400 VALIDATION_FAILED')
  const unknownItemResponse = await calls.storeItems(session, { projectIds: ['p-1'], credentialIds: ['p-1'] })
  assert.equal(outcomeOf(unknownItemResponse), '400 UNKNOWN_ITEM')
  assert.match(unknownItemResponse.body.error.message, /credentialIds: "p-1"/)
  assert.deepEqual((await calls.getFullVerification(session)).stored.projects, [], 'nothing is stored')
  const unknownItemsResponse = await calls.storeItems(session, { workExperienceIds: ['x'], credentialIds: ['y'] })
  assert.match(unknownItemsResponse.body.error.message, /^workExperienceIds: "x"/, 'the first unknown item is named')
  const duplicateIdResponse = await calls.storeItems(session, { projectIds: ['p-1', 'p-1'] })
  assert.equal(duplicateIdResponse.body.data.stored.projects.length, 1)
})

test('a skill is endorsed once per source and endorsement type', async () => {
  const calls = await setUp()
  await completeReview(calls, { skills: [BRICKLAYING, WIRING], notEndorsed: [WIRING] })
  const reviewer = { email: 'second@metro.example' }

  const secondSession = await calls.openSession()
  await expectOk(calls.storeSkills(secondSession, [WIRING, BRICKLAYING]))
  await expectOk(calls.chooseMethod(secondSession, 'human'))
  const rejectedResponse = await calls.storeItems(secondSession)
  assert.equal(outcomeOf(rejectedResponse), '409 DUPLICATE_SKILLS_IN_BUNDLE')
  assert.match(rejectedResponse.body.error.message, /sk_1001/)
  assert.equal(outcomeOf(await calls.storeItems(secondSession, { projectIds: ['p-1'] })), '200', 'another source')
  await calls.requestReview({ skills: [WIRING], reviewer })
  await calls.requestReview({ type: 'peer', reviewer: { email: 'third@metro.example' } })
  await calls.requestReview({ student: { externalStudentId: 'stu-2' } })
})

test('a source can have ten skills, endorsed or pending review', async () => {
  const calls = await setUp()
  const firstSkills = tenSkills.slice(0, 6)
  await completeReview(calls, { skills: firstSkills, notEndorsed: [firstSkills[0]!] }) // five are endorsed
  const pendingReview = await calls.requestReview({
    skills: tenSkills.slice(6, 9),
    type: 'peer',
    reviewer: { email: 'b@m.example' },
  })

  const thirdSession = await calls.openSession()
  await expectOk(calls.chooseMethod(thirdSession, 'human'))
  await expectOk(
    calls.storeSkills(thirdSession, [skillIdOf(1050), skillIdOf(1051), skillIdOf(1052)], { endorsementType: 'client' }),
  )
  assert.equal(outcomeOf(await calls.storeItems(thirdSession)), '409 MAX_SKILLS_PER_SOURCE')
  await expectOk(
    calls.storeSkills(thirdSession, [skillIdOf(1050), skillIdOf(1051), tenSkills[6]!], { endorsementType: 'client' }),
  )
  assert.equal(outcomeOf(await calls.storeItems(thirdSession)), '200', 'the same skill counts once')
  await expectOk(calls.submitReview(pendingReview.session, pendingReview.token, { declined: true, reason: 'No' }))
  await expectOk(
    calls.storeSkills(thirdSession, [1050, 1051, 1052, 1053, 1054].map(skillIdOf), { endorsementType: 'client' }),
  )
  assert.equal(outcomeOf(await calls.storeItems(thirdSession)), '200', 'skills of a declined review do not count')
})

test('a reviewer reviews a source under one endorsement type only', async () => {
  const calls = await setUp()
  await calls.requestReview() // manager
  const peerSession = await calls.openPreparedSession('human', { type: 'peer' })
  assert.equal(outcomeOf(await calls.storeReviewer(peerSession)), '409 DUPLICATE_REVIEWER_EMAIL')
  await expectOk(calls.storeItems(peerSession, { projectIds: ['p-1'] }))
  await expectOk(calls.storeReviewer(peerSession))

  // A reviewer stored before the source is chosen is checked again in step 3.
  const earlySession = await calls.openSession()
  await expectOk(calls.storeSkills(earlySession, [WIRING], { endorsementType: 'mentor' }))
  await expectOk(calls.chooseMethod(earlySession, 'human'))
  await expectOk(calls.storeReviewer(earlySession))
  assert.equal(outcomeOf(await calls.storeItems(earlySession)), '409 DUPLICATE_REVIEWER_EMAIL')
  assert.equal(outcomeOf(await calls.storeItems(earlySession, { credentialIds: ['c-1'] })), '200')

  // Under the same type the same person may review other skills.
  await calls.requestReview({ skills: [WIRING] })
})

test('a reviewer who was replaced or has declined can review under another endorsement type', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview()
  await expectOk(calls.storeReviewer(session, { email: 'second@metro.example' }))
  const peerReview = await calls.requestReview({ type: 'peer' })
  await expectOk(calls.submitReview(peerReview.session, peerReview.token, { declined: true, reason: 'No' }))
  await calls.requestReview({ type: 'client' })
  assert.notEqual(token, peerReview.token)
})

test('concurrent sessions cannot bypass the rules of a source', async () => {
  const calls = await setUp()
  const sessions = []
  for (const [index, type] of ['manager', 'peer', 'client', 'mentor'].entries()) {
    const skills = tenSkills.slice(0, 4).map((_, offset) => skillIdOf(1001 + index * 4 + offset))
    sessions.push(await calls.openPreparedSession('human', { skills, type }))
  }
  const responses = await Promise.all(
    sessions.map((session, index) => calls.storeReviewer(session, { email: `r${index}@m.example` })),
  )
  assert.deepEqual(responses.map(outcomeOf).sort(), [
    '200',
    '200',
    '409 MAX_SKILLS_PER_SOURCE',
    '409 MAX_SKILLS_PER_SOURCE',
  ])

  const otherSessions = []
  for (const type of ['manager', 'peer', 'client']) {
    otherSessions.push(await calls.openPreparedSession('human', { type, student: { externalStudentId: 'stu-2' } }))
  }
  const otherResponses = await Promise.all(otherSessions.map((session) => calls.storeReviewer(session)))
  assert.deepEqual(otherResponses.map(outcomeOf).sort(), [
    '200',
    '409 DUPLICATE_REVIEWER_EMAIL',
    '409 DUPLICATE_REVIEWER_EMAIL',
  ])
})

test('concurrent calls share transactions, and each has its own effect and response', async () => {
  const calls = await setUp()
  const otherCalls = await setUp()
  const restricted = await calls.openSession({ externalStudentId: 'restricted', email: 'restricted@example.com' })
  const { queries } = calls.app.context.db
  await sql`update people set restricted_at = now()
    where person_id = (select person_id from verification_sessions where verification_id = ${restricted.id})`.execute(
    queries,
  )

  const students = ['s-1', 's-2', 's-3', 's-1', 's-2', 's-3', 's-4', 's-5']
  const [opened, rejected, ofOtherOrganisation] = await Promise.all([
    Promise.all(students.map((id) => calls.openSession({ externalStudentId: id, email: `${id}@example.com` }))),
    calls.openSession({ externalStudentId: 'restricted-2', email: 'restricted@example.com' }).catch(String),
    otherCalls.openSession({ externalStudentId: 's-1' }),
  ])
  assert.equal(new Set(opened.map(({ userId }) => userId)).size, 5, 'a student who opens two sessions is one student')
  assert.equal(opened[0]!.userId, opened[3]!.userId)
  assert.match(String(rejected), /FORBIDDEN/)
  assert.notEqual(ofOtherOrganisation.userId, opened[0]!.userId)
  assert.ok((await countTransactions(calls)) < opened.length)

  const chosenSkills = opened.map((_, index) => skillIdOf(1001 + index))
  const outcomes = await whileWritesWait(calls, () => [
    ...opened.map((session, index) => calls.storeSkills(session, [chosenSkills[index]!]).then(outcomeOf)),
    calls.chooseMethod(opened.at(-1)!, 'human').then(outcomeOf),
    calls.storeSkills(restricted).then(outcomeOf),
    calls.storeSkills(ofOtherOrganisation).then(outcomeOf),
    otherCalls.storeSkills(ofOtherOrganisation).then(outcomeOf),
    calls.storeSkills({ ...restricted, token: `${restricted.token}x` }).then(outcomeOf),
  ])
  assert.deepEqual(outcomes, [
    ...opened.map(() => '200'),
    '200',
    '403 FORBIDDEN',
    '404 SESSION_NOT_FOUND',
    '200',
    '404 SESSION_NOT_FOUND',
  ])
  const stored = await Promise.all(opened.map((session) => calls.getFullVerification(session)))
  assert.deepEqual(
    stored.map(({ skills, student }) => [student.externalStudentId, skills.map((each: any) => each.skillId)]),
    students.map((id, index) => [id, [chosenSkills[index]]]),
  )
  assert.equal(stored.at(-1).verificationMethod, 'human', 'both steps of one session are stored')
  assert.ok((await countTransactions(calls)) < opened.length)
})

test('a session that cannot be decrypted does not fail the calls that share its transaction', async () => {
  const calls = await setUp()
  const students = Array.from({ length: 8 }, (_, index) => `s-${index}`)
  const sessions = await Promise.all(
    students.map((id) => calls.openSession({ externalStudentId: id, email: `${id}@example.com` })),
  )
  await sql`update verification_sessions set personal = '\\x02' where verification_id = ${sessions.at(-1)!.id}`.execute(
    calls.app.context.db.queries,
  )
  const outcomes = await whileWritesWait(calls, () => sessions.map((each) => calls.storeSkills(each).then(outcomeOf)))
  assert.deepEqual(outcomes, [...students.slice(1).map(() => '200'), '500 INTERNAL_ERROR'])
})

test('a student who is locked does not delay the sessions of other students', async () => {
  const calls = await setUp()
  const open = (id: string) => calls.openSession({ externalStudentId: id, email: `${id}@example.com` })
  const { userId } = await open('locked')
  const { db } = calls.app.context
  const waiting = await db.transaction(async (tx) => {
    await sql`select from verification_students where user_id = ${userId} for update`.execute(tx)
    const ofLockedStudent = [open('locked'), open('locked')]
    await until(async () => {
      const { rows } = await sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' having count(*) >= 2`.execute(
        db.queries,
      )
      return rows.length > 0
    })
    await Promise.all(['s-1', 's-2', 's-3'].map(open))
    return { ofLockedStudent }
  })
  for (const session of await Promise.all(waiting.ofLockedStudent)) assert.equal(session.userId, userId)
})

/** Starts calls while the database lets no transaction change sessions, so that most of the calls have to wait together. */
async function whileWritesWait<Results extends Promise<unknown>[] | []>(
  { app, getFullVerification }: VerificationCalls,
  start: () => Results,
): Promise<{ -readonly [Index in keyof Results]: Awaited<Results[Index]> }> {
  const { db } = app.context
  const results = await db.transaction(async (tx) => {
    await sql`lock table verification_sessions in share mode`.execute(tx)
    const started = start()
    await until(async () => {
      const { rows } = await sql`
        select from pg_locks where not granted and relation = 'verification_sessions'::regclass
        having count(*) >= 2`.execute(db.queries)
      return rows.length > 0
    })
    // A response to a later request: the earlier ones have arrived.
    await getFullVerification({ token: 'unknown', id: '', userId: '' }).catch(() => {})
    return { started }
  })
  return Promise.all(results.started) as never
}

/** Returns how many transactions wrote the current sessions of the organisation. */
async function countTransactions({ app, orgId }: VerificationCalls): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(distinct xmin::text) as count from verification_sessions where org_id = ${orgId}`.execute(
    app.context.db.queries,
  )
  return rows[0]!.count
}
