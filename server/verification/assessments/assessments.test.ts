import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answerQuestions,
  BRICKLAYING,
  expectOk,
  outcomeOf,
  PLASTERING,
  sharedVerification,
  type TestSession,
  type VerificationCalls,
  WIRING,
} from '../../../test/support/verification.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import { storeExpiredStatuses } from '../jobs.ts'

async function failAttempt(calls: VerificationCalls, session: TestSession) {
  await expectOk(calls.generateAssessment(session))
  return expectOk(calls.submitAnswers(session, []))
}

const setUp = sharedVerification()

/** Skills about which the built-in bank has questions. */
const ASSESSABLE_SKILLS = [
  BRICKLAYING,
  PLASTERING,
  WIRING,
  ...[1021, 1022, 1032, 1036, 1039, 1042, 1075].map((n) => `sk_${n}`),
]

test('questions are generated once, answered and marked, and keys stay on the server', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING] })
  const firstResponse = await calls.generateAssessment(session)
  assert.equal(firstResponse.status, 200)
  const { questions, ...data } = firstResponse.body.data
  const expiresAt = new Date(calls.clock.now() + 60 * MINUTE).toISOString()
  assert.deepEqual(data, { serviceVerificationId: session.id, totalQuestions: 10, expiresAt, secondsLeft: 3600 })
  assert.match(firstResponse.body.executionTime, /^\d+ms$/)
  assert.equal(questions.length, 10)
  for (const question of questions) {
    assert.deepEqual(Object.keys(question).sort(), ['options', 'question', 'questionId'])
    assert.equal(new Set(question.options).size, 4)
  }
  assert.equal(questions.filter(({ question }: any) => question.includes('Bricklaying')).length, 5)
  assert.equal(questions.filter(({ question }: any) => question.includes('House wiring')).length, 5)
  assert.ok(
    questions.some(({ question }: any) => /Fabricator|Metro/.test(question)),
    'some questions refer to the source',
  )

  const repeatedResponse = await calls.generateAssessment(session)
  assert.deepEqual(repeatedResponse.body.data, { ...data, questions, alreadyGenerated: true })
  assert.equal('executionTime' in repeatedResponse.body, false)
  assert.equal((await calls.getFullVerification(session)).status, 'in_assessment')
  assert.equal(outcomeOf(await calls.storeSkills(session)), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.storeItems(session)), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.chooseMethod(session, 'human')), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.chooseMethod(session, 'assessment')), '200')
  assert.equal(outcomeOf(await calls.getReviewPage(session)), '400 INVALID_VERIFICATION_TYPE')

  const submitResponse = await calls.submitAnswers(session, await answerQuestions(calls, session))
  const { skills: marks, ...result } = submitResponse.body.data
  assert.deepEqual(result, {
    serviceVerificationId: session.id,
    score: 100,
    passed: true,
    passMark: 70,
    correct: 10,
    totalQuestions: 10,
    attempt: 1,
    attemptsLeft: 2,
    locked: true,
  })
  assert.deepEqual(
    marks.map(({ confidence: _, summary: __, ...skill }: any) => skill),
    [BRICKLAYING, WIRING].map((skillId) => ({
      skillId,
      correct: 5,
      total: 5,
      unpilotedQuestions: 0,
      passed: true,
      verdict: 'passed',
      evidence: { itemSource: 'bank', language: 'en' },
    })),
  )
  for (const { confidence, summary } of marks)
    assert.equal(summary, `5 of 5 correct, ${Math.floor(confidence * 100)} % certain`)
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '403 ASSESSMENT_LOCKED')
  assert.equal(outcomeOf(await calls.submitAnswers(session, [])), '403 ASSESSMENT_LOCKED')
  const { status, score, skills, completedAt } = await calls.getVerification(session)
  assert.deepEqual([status, score, completedAt], ['completed', 100, new Date(calls.clock.now()).toISOString()])
  assert.deepEqual(
    skills.map(({ outcome }: any) => outcome),
    ['passed', 'passed'],
  )
  const events = await calls.listEvents()
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.status]),
    [
      ['verification.initiated', 'in_assessment'],
      ['verification.completed', 'completed'],
    ],
  )
  assert.deepEqual(events[1]!.data.skills, skills)
})

test('correct answers never appear in responses, events, emails or logs', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING] })
  const bodies: string[] = []
  const recordBody = async (response: Promise<{ body: any }>) => bodies.push(JSON.stringify((await response).body))
  await recordBody(calls.generateAssessment(session))
  const keys = await calls.getCorrectAnswers(session)
  for (let round = 0; round < 2; round++) {
    await recordBody(calls.generateAssessment(session))
    await recordBody(calls.submitAnswers(session, round === 0 ? [] : await answerQuestions(calls, session)))
    await recordBody(calls.getFullVerification(session).then((body) => ({ body })))
    await recordBody(calls.getVerification(session).then((body) => ({ body })))
  }
  const events = JSON.stringify(await calls.listEvents())
  const log = calls.app.logLines.join('\n')
  for (const { option } of keys) {
    const searchText = /\p{L}/u.test(option) ? option : JSON.stringify(option) // a bare number also occurs in times and IDs
    assert.equal(events.includes(searchText), false, option)
    assert.equal(log.includes(searchText), false, option)
    for (const text of bodies.filter((text) => text.includes(searchText))) {
      const { questions } = JSON.parse(text).data
      const questionsWithOption = questions.filter(({ options }: any) => options.includes(option))
      const occurrences = text.split(JSON.stringify(option)).length - 1
      assert.equal(occurrences, questionsWithOption.length, 'it appears among the options only')
    }
  }
  for (const text of bodies)
    assert.doesNotMatch(text, /"(key|correctOption|answer|isCorrect|difficulty|itemId|shownOptions)"/)
})

test('there are five questions per skill, and three with more than six skills that can be assessed', async () => {
  const calls = await setUp()
  for (const [skillCount, questionsPerSkill, otherSkills = []] of [
    [1, 5],
    [2, 5],
    [6, 5],
    [6, 5, ['sk_1002']], // has no questions
    [7, 3],
    [10, 3],
  ] as const) {
    const session = await calls.openPreparedSession('assessment', {
      skills: [...otherSkills, ...ASSESSABLE_SKILLS.slice(0, skillCount)],
      student: { externalStudentId: `stu-${skillCount}-${otherSkills.length}` },
    })
    const { questions, totalQuestions } = (await expectOk(calls.generateAssessment(session))).body.data
    assert.equal(totalQuestions, skillCount * questionsPerSkill)
    assert.equal(new Set(questions.map(({ question }: any) => question)).size, totalQuestions)
    const { skills } = await calls.getFullVerification(session)
    for (const { name } of skills.slice(otherSkills.length))
      assert.equal(questions.filter(({ question }: any) => question.includes(name)).length, questionsPerSkill, name)
  }
})

test('generating questions reports errors in the documented order', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  assert.equal(outcomeOf(await calls.submitAnswers(session, [])), '409 NO_OPEN_ATTEMPT')
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '404 VERIFICATION_NOT_FOUND')
  await expectOk(calls.chooseMethod(session, 'human'))
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '400 INVALID_VERIFICATION_TYPE')
  await expectOk(calls.chooseMethod(session, 'assessment'))
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '400 NO_DATA')
  await expectOk(calls.storeItems(session))
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '400 NO_SKILLS')
  await expectOk(calls.storeSkills(session))
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '200')
})

test('invalid answers are rejected and nothing is marked', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const [firstQuestion, secondQuestion] = (await calls.generateAssessment(session)).body.data.questions
  const option = firstQuestion.options[0]
  for (const answers of [
    [{ questionId: 'Q_UNKNOWN', option }],
    [{ questionId: firstQuestion.questionId, option: 'None of these' }],
    [
      { questionId: secondQuestion.questionId, option: secondQuestion.options[0] },
      { questionId: secondQuestion.questionId, option: secondQuestion.options[1] },
    ],
    [{ questionId: firstQuestion.questionId }],
    [{ questionId: firstQuestion.questionId, option: 0 }],
  ]) {
    const rejectedResponse = await calls.submitAnswers(session, answers)
    assert.equal(outcomeOf(rejectedResponse), '400 VALIDATION_FAILED')
    assert.match(rejectedResponse.body.error.message, /^answers\[\d\]/)
  }
  const { key, call } = calls
  assert.equal(
    outcomeOf(await call('POST', '/assessment/submit', { key, token: session.token })),
    '400 VALIDATION_FAILED',
  )
  const partialResponse = await calls.submitAnswers(session, (await answerQuestions(calls, session)).slice(0, 4))
  assert.equal(partialResponse.body.data.score, 80, 'an unanswered question counts as wrong')
})

test('a failed attempt leads to new questions without another event, and the third failure ends the session', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const seenQuestions = new Set<string>()
  for (const attempt of [1, 2, 3]) {
    const { questions } = (await expectOk(calls.generateAssessment(session))).body.data
    for (const { question } of questions) {
      assert.equal(seenQuestions.has(question), false, 'a question was repeated')
      seenQuestions.add(question)
    }
    const { body } = await calls.submitAnswers(session, [])
    const { passed, attemptsLeft, locked, score } = body.data
    assert.deepEqual([body.data.attempt, passed, attemptsLeft, locked, score], [attempt, false, 3 - attempt, false, 0])
    assert.equal(outcomeOf(await calls.submitAnswers(session, [])), '409 NO_OPEN_ATTEMPT')
    assert.equal((await calls.getVerification(session)).status, attempt === 3 ? 'failed' : 'in_assessment')
  }
  const exhausted = await calls.generateAssessment(session)
  assert.equal(outcomeOf(exhausted), '403 ATTEMPTS_EXHAUSTED')
  const retryAt = new Date(calls.clock.now() + 30 * DAY).toISOString()
  assert.equal(
    exhausted.body.error.message,
    `The skill "${(await calls.getVerification(session)).skills[0].name}" has 3 failed attempts within 30 days. It can be assessed again from ${retryAt}.`,
  )
  assert.equal((await calls.getVerification(session)).skills[0].outcome, 'not_passed')
  assert.deepEqual(
    (await calls.listEvents()).map(({ type }) => type),
    ['verification.initiated', 'verification.failed'],
  )

  // The limit applies across sessions, even if only one of the skills has reached it.
  const otherSession = await calls.openPreparedSession('assessment', { skills: [WIRING, BRICKLAYING] })
  assert.equal(outcomeOf(await calls.generateAssessment(otherSession)), '403 ATTEMPTS_EXHAUSTED')
  calls.clock.advance(30 * DAY)
  const laterSession = await calls.openPreparedSession('assessment', { skills: [WIRING, BRICKLAYING] })
  assert.equal(outcomeOf(await calls.generateAssessment(laterSession)), '200')
})

test('failures in one session end an open attempt in another session', async () => {
  const calls = await setUp()
  const [firstSession, otherSession] = [
    await calls.openPreparedSession('assessment'),
    await calls.openPreparedSession('assessment'),
  ]
  const correctAnswers = await answerQuestions(calls, otherSession)
  for (let attempt = 0; attempt < 2; attempt++) await failAttempt(calls, firstSession)
  assert.equal(outcomeOf(await calls.generateAssessment(otherSession)), '200', 'after two failed attempts')
  await failAttempt(calls, firstSession)
  assert.equal((await calls.getVerification(otherSession)).status, 'failed')
  assert.equal(outcomeOf(await calls.submitAnswers(otherSession, correctAnswers)), '403 ATTEMPTS_EXHAUSTED')
  assert.equal(outcomeOf(await calls.generateAssessment(otherSession)), '403 ATTEMPTS_EXHAUSTED')
  assert.equal(outcomeOf(await calls.submitAnswers(otherSession, correctAnswers)), '403 ATTEMPTS_EXHAUSTED')
  assert.equal((await calls.getVerification(otherSession)).skills[0].outcome, 'not_passed')
})

test('an attempt fails after 60 minutes', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const lateAnswers = await answerQuestions(calls, session)
  calls.clock.advance(60 * MINUTE)
  assert.equal(outcomeOf(await calls.submitAnswers(session, lateAnswers)), '409 ASSESSMENT_EXPIRED')
  const nextResponse = await calls.generateAssessment(session)
  assert.equal('alreadyGenerated' in nextResponse.body.data, false)
  assert.equal((await calls.submitAnswers(session, [])).body.data.attemptsLeft, 1)
  await expectOk(calls.generateAssessment(session))
  assert.equal((await calls.getVerification(session)).status, 'in_assessment')
  calls.clock.advance(60 * MINUTE)
  assert.equal((await calls.getVerification(session)).status, 'failed', 'computed before a job stores it')
  await storeExpiredStatuses(calls.app.context)
  assert.equal((await calls.getVerification(session)).status, 'failed')
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '403 ATTEMPTS_EXHAUSTED')
})

test('an abandoned attempt is processed once and fails the session if it was the last one', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const [firstSession, secondSession] = [
    await calls.openPreparedSession('assessment'),
    await calls.openPreparedSession('assessment'),
  ]
  await expectOk(calls.generateAssessment(firstSession))
  calls.clock.advance(60 * MINUTE)
  await storeExpiredStatuses(context)
  let transactions = 0
  const transaction: typeof context.db.transaction = (work) => {
    transactions++
    return context.db.transaction(work)
  }
  await storeExpiredStatuses({ ...context, db: { ...context.db, transaction } })
  assert.equal(transactions, 2, 'one for sessions and one for links; no attempt is processed again')
  assert.equal((await calls.getVerification(firstSession)).status, 'in_assessment')

  await expectOk(calls.generateAssessment(secondSession))
  await expectOk(calls.submitAnswers(secondSession, []))
  await expectOk(calls.generateAssessment(secondSession))
  calls.clock.advance(60 * MINUTE)
  await storeExpiredStatuses(context)
  const { rows } = await context.db.pool.query(
    'select status from verification_sessions where verification_id = any ($1)',
    [[firstSession.id, secondSession.id]],
  )
  assert.deepEqual(rows, [{ status: 'failed' }, { status: 'failed' }], 'stored for both sessions')
  const failures = (await calls.listEvents()).filter(({ type }) => type === 'verification.failed')
  assert.deepEqual(
    failures.map(({ data }) => data.serviceVerificationId).sort(),
    [firstSession.id, secondSession.id].sort(),
  )
  // The end of a session does not extend it.
  calls.clock.advance(23 * HOUR)
  assert.equal(outcomeOf(await calls.call('GET', `/verify/${secondSession.token}`)), '404 SESSION_NOT_FOUND')
})

test('passed skills are not assessed again in any session of the student', async () => {
  const calls = await setUp()
  const [firstSession, secondSession] = [
    await calls.openPreparedSession('assessment'),
    await calls.openPreparedSession('assessment', { skills: [WIRING, BRICKLAYING] }),
  ]
  const failingSession = await calls.openPreparedSession('assessment', { skills: [WIRING] })
  await expectOk(calls.submitAnswers(firstSession, await answerQuestions(calls, firstSession)))
  const { key, call } = calls
  const invalidRequest = { key, token: firstSession.token, body: { answers: 'none' } }
  assert.equal(outcomeOf(await call('POST', '/assessment/submit', invalidRequest)), '403 ASSESSMENT_LOCKED')
  assert.equal(
    outcomeOf(await calls.generateAssessment(secondSession)),
    '409 ASSESSMENT_ALREADY_PASSED',
    'checked again under the lock',
  )
  const thirdSession = await calls.openSession()
  await expectOk(calls.storeSkills(thirdSession))
  await expectOk(calls.chooseMethod(thirdSession, 'assessment'))
  assert.equal(
    outcomeOf(await calls.storeItems(thirdSession, { projectIds: ['p-1'] })),
    '409 ASSESSMENT_ALREADY_PASSED',
  )
  await expectOk(calls.chooseMethod(thirdSession, 'human'))
  assert.equal(outcomeOf(await calls.storeItems(thirdSession)), '200')
  await failAttempt(calls, failingSession)
  await calls.openPreparedSession('assessment', { skills: [WIRING] })
})

test('a skill that is not shown is not passed even if the assessment is, and can be assessed again', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING, PLASTERING] })
  const mostlyRightAnswers = await answerQuestions(
    calls,
    session,
    ({ skill }, position) => skill !== 1001 || position < 2,
  )
  const { passed, score, skills } = (await calls.submitAnswers(session, mostlyRightAnswers)).body.data
  assert.deepEqual([passed, score], [true, 80])
  assert.deepEqual(
    skills.map(({ passed }: any) => passed),
    [false, true, true],
  )
  assert.deepEqual(
    (await calls.getVerification(session)).skills.map(({ outcome }: any) => outcome),
    ['not_passed', 'passed', 'passed'],
  )
  const laterSession = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING] })
  await expectOk(calls.generateAssessment(laterSession))
})

test('an assessment keeps its status after its session has expired', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  await failAttempt(calls, session)
  calls.clock.advance(24 * HOUR)
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '404 SESSION_NOT_FOUND')
  assert.equal((await calls.getVerification(session)).status, 'in_assessment')
})
