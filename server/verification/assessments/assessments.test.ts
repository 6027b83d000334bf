import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../../test/support/until.ts'
import {
  BRICKLAYING,
  expectOk,
  outcomeOf,
  sharedVerification,
  type TestSession,
  type VerificationCalls,
  WIRING,
} from '../../../test/support/verification.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { ItemsRequest } from '../../questions/questions.ts'
import { storeExpiredStatuses } from '../jobs.ts'
import { generateAssessment, LEASE_MS } from './assessments.ts'

/** Generates the questions and answers them correctly, except the first `wrongCount` ones. */
async function answerQuestions(calls: VerificationCalls, session: TestSession, wrongCount = 0) {
  const { body } = await calls.generateAssessment(session)
  const keys = await calls.getCorrectAnswers(session)
  return body.data.questions.map(
    ({ questionId, options }: { questionId: string; options: string[] }, index: number) => {
      const correctOption = keys.find((key) => key.questionId === questionId)!.option
      return {
        questionId,
        option: index < wrongCount ? options.find((option) => option !== correctOption) : correctOption,
      }
    },
  )
}

async function failAttempt(calls: VerificationCalls, session: TestSession) {
  await expectOk(calls.generateAssessment(session))
  return expectOk(calls.submitAnswers(session, []))
}

const setUp = sharedVerification()

test('questions are generated once, answered and marked, and keys stay on the server', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING] })
  const firstResponse = await calls.generateAssessment(session)
  assert.equal(firstResponse.status, 200)
  const { questions, ...data } = firstResponse.body.data
  assert.deepEqual(data, { serviceVerificationId: session.id, totalQuestions: 6 })
  assert.match(firstResponse.body.executionTime, /^\d+ms$/)
  assert.equal(questions.length, 6)
  for (const question of questions) {
    assert.deepEqual(Object.keys(question).sort(), ['options', 'question', 'questionId'])
    assert.equal(new Set(question.options).size, 4)
  }
  assert.equal(questions.filter(({ question }: any) => question.includes('Bricklaying')).length, 3)
  assert.equal(questions.filter(({ question }: any) => question.includes('House wiring')).length, 3)
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

  const submitResponse = await calls.submitAnswers(session, await answerQuestions(calls, session, 1))
  assert.deepEqual(submitResponse.body.data, {
    serviceVerificationId: session.id,
    score: 83,
    passed: true,
    passMark: 70,
    correct: 5,
    totalQuestions: 6,
    skills: [
      { skillId: BRICKLAYING, correct: 2, total: 3, passed: true },
      { skillId: WIRING, correct: 3, total: 3, passed: true },
    ],
    attempt: 1,
    attemptsLeft: 2,
    locked: true,
  })
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '403 ASSESSMENT_LOCKED')
  assert.equal(outcomeOf(await calls.submitAnswers(session, [])), '403 ASSESSMENT_LOCKED')
  const { status, score, skills, completedAt } = await calls.getVerification(session)
  assert.deepEqual([status, score, completedAt], ['completed', 83, new Date(calls.clock.now()).toISOString()])
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
  for (const text of bodies) assert.doesNotMatch(text, /"(key|correctOption|answer|isCorrect|difficulty|bankId)"/)
})

test('one skill gets five questions, ten skills get thirty', async () => {
  const calls = await setUp()
  const oneSkillSession = await calls.openPreparedSession('assessment')
  assert.equal((await calls.generateAssessment(oneSkillSession)).body.data.totalQuestions, 5)
  const skills = Array.from({ length: 10 }, (_, index) => `sk_${1001 + index}`)
  const tenSkillSession = await calls.openPreparedSession('assessment', {
    skills,
    student: { externalStudentId: 'stu-2' },
  })
  const { questions, totalQuestions } = (await calls.generateAssessment(tenSkillSession)).body.data
  assert.equal(totalQuestions, 30)
  assert.equal(new Set(questions.map(({ question }: any) => question)).size, 30)
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
  const seenTexts = new Set<string>()
  for (const attempt of [1, 2, 3]) {
    const { questions } = (await expectOk(calls.generateAssessment(session))).body.data
    for (const { question, options } of questions) {
      const optionSet = JSON.stringify([...options].sort())
      assert.equal(seenTexts.has(optionSet) || seenTexts.has(question), false, 'a question was repeated')
      seenTexts.add(optionSet).add(question)
    }
    const { body } = await calls.submitAnswers(session, [])
    const { passed, attemptsLeft, locked, score } = body.data
    assert.deepEqual([body.data.attempt, passed, attemptsLeft, locked, score], [attempt, false, 3 - attempt, false, 0])
    assert.equal(outcomeOf(await calls.submitAnswers(session, [])), '409 NO_OPEN_ATTEMPT')
    assert.equal((await calls.getVerification(session)).status, attempt === 3 ? 'failed' : 'in_assessment')
  }
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '403 ATTEMPTS_EXHAUSTED')
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

test('a question of an earlier attempt is repeated only if there are no other questions', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const { context } = calls.app
  const { writer } = context
  const earlierStems: string[] = []
  const requestedCounts: number[] = []
  let othersAvailable = true
  context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      requestedCounts.push(request.skills[0]!.count)
      const { items, incompleteSkills } = await writer.writeItems(request)
      const repeatStems = !othersAvailable || requestedCounts.length === 2
      return {
        items: items.map((item, index) =>
          repeatStems && earlierStems[index] ? { ...item, stem: earlierStems[index] } : item,
        ),
        incompleteSkills,
      }
    },
  }
  earlierStems.push(
    ...(await expectOk(calls.generateAssessment(session))).body.data.questions.map(({ question }: any) => question),
  )
  await expectOk(calls.submitAnswers(session, []))
  const { questions } = (await expectOk(calls.generateAssessment(session))).body.data
  assert.equal(questions.filter(({ question }: any) => earlierStems.includes(question)).length, 0)
  assert.deepEqual(requestedCounts, [5, 5, 30])
  await expectOk(calls.submitAnswers(session, []))
  othersAvailable = false
  assert.equal((await expectOk(calls.generateAssessment(session))).body.data.questions.length, 5)
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

test('a skill below 60 percent is not passed even if the assessment is', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING, 'sk_1002'] })
  const mostlyCorrectAnswers = await answerQuestions(calls, session, 2)
  const { passed, skills } = (await calls.submitAnswers(session, mostlyCorrectAnswers)).body.data
  assert.equal(passed, true)
  assert.deepEqual(
    skills.map(({ passed }: any) => passed),
    [false, true, true],
  )
  assert.deepEqual(
    (await calls.getVerification(session)).skills.map(({ outcome }: any) => outcome),
    ['not_passed', 'passed', 'passed'],
  )
  await calls.openPreparedSession('assessment', { skills: [BRICKLAYING] })
})

test('duplicate questions are replaced, even if most replacements are duplicates too', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const { context } = calls.app
  const { writer } = context
  const avoidCounts: number[] = []
  let stem = ''
  context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      avoidCounts.push(request.skills[0]!.avoid!.length)
      const { items, incompleteSkills } = await writer.writeItems(request)
      stem ||= items[0]!.stem
      const duplicateCount = avoidCounts.length === 1 ? 2 : 10
      return {
        items: items.map((item, index) => (index < duplicateCount ? { ...item, stem } : item)),
        incompleteSkills,
      }
    },
  }
  const { questions } = (await calls.generateAssessment(session)).body.data
  assert.equal(new Set(questions.map(({ question }: any) => question)).size, 5)
  assert.deepEqual(avoidCounts, [0, 4])
})

test('concurrent calls generate one set, and only one submission counts', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const { writer } = calls.app.context
  let writeCount = 0
  calls.app.context.writer = {
    ...writer,
    kind: writer.kind,
    translate: (request) => writer.translate(request),
    async writeItems(request: ItemsRequest) {
      writeCount++
      await new Promise((resolve) => setTimeout(resolve, 250))
      return writer.writeItems(request)
    },
  }
  const generateResponses = await Promise.all(Array.from({ length: 5 }, () => calls.generateAssessment(session)))
  assert.deepEqual(generateResponses.map(outcomeOf), Array(5).fill('200'))
  assert.equal(writeCount, 1)
  assert.equal(generateResponses.filter(({ body }) => body.data.alreadyGenerated).length, 4)
  assert.equal(new Set(generateResponses.map(({ body }) => JSON.stringify(body.data.questions))).size, 1)
  assert.equal((await calls.listEvents()).length, 1)

  const correctAnswers = await answerQuestions(calls, session)
  const submitResponses = await Promise.all([
    calls.submitAnswers(session, correctAnswers),
    calls.submitAnswers(session, correctAnswers),
  ])
  assert.deepEqual(submitResponses.map(outcomeOf).sort(), ['200', '403 ASSESSMENT_LOCKED'])
  assert.equal((await calls.listEvents()).length, 2)
})

test('steps are rejected while questions are being generated', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  const { writer } = calls.app.context
  const { promise: writing, resolve: startWriting } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  calls.app.context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      startWriting()
      await released
      return writer.writeItems(request)
    },
  }
  const generation = calls.generateAssessment(session)
  await writing
  assert.equal(outcomeOf(await calls.storeSkills(session, [WIRING])), '409 SESSION_LOCKED')
  assert.equal(outcomeOf(await calls.chooseMethod(session, 'assessment')), '200')
  release()
  assert.equal((await generation).status, 200)
})

test('a writer that fails, times out or returns too few items leaves the session unchanged', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const { writer } = context
  const session = await calls.openPreparedSession('assessment')
  const sessionBefore = await calls.getFullVerification(session)
  const faultyWriter = (writeItems: typeof writer.writeItems) => ({
    kind: 'ai' as const,
    translate: async () => undefined,
    writeItems,
  })
  context.writer = faultyWriter(async () => {
    throw new Error('the key is "Stretcher bond"')
  })
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '500 GENERATION_FAILED')
  let callCount = 0
  context.writer = faultyWriter(async (request) => {
    callCount++
    const { items } = await writer.writeItems(request)
    return { items: items.slice(3), incompleteSkills: [1001] }
  })
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '500 GENERATION_FAILED')
  assert.equal(callCount, 1, 'not called again: an AI writer retries by itself')
  let aborted = false
  context.writer = faultyWriter(({ signal }) => {
    signal!.addEventListener('abort', () => {
      aborted = true
    })
    return new Promise(() => {})
  })
  await assert.rejects(generateAssessment(context, session.token, undefined, { timeout: 50 }), {
    code: 'GENERATION_FAILED',
  })
  assert.equal(aborted, true, 'the signal aborts the writer')
  assert.deepEqual(await calls.getFullVerification(session), sessionBefore)
  assert.deepEqual(await calls.listEvents(), [])
  assert.equal(calls.app.logLines.join('').includes('Stretcher bond'), false)

  context.writer = writer
  assert.equal(outcomeOf(await calls.storeSkills(session)), '200', 'still open')
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '200')
})

test('a call that generates questions keeps its claim for as long as it takes', async () => {
  const calls = await setUp()
  const { db, writer } = calls.app.context
  const session = await calls.openPreparedSession('assessment')
  const { promise: writing, resolve: startWriting } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let writeCount = 0
  calls.app.context.writer = {
    kind: 'ai',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      writeCount++
      startWriting()
      await released
      return writer.writeItems(request)
    },
  }
  const generation = calls.generateAssessment(session)
  await writing
  for (let renewals = 0; renewals < 2; renewals++) {
    calls.clock.advance(LEASE_MS - 1)
    await until(async () => {
      const { generating_until } = await db.queries
        .selectFrom('verification_sessions')
        .select('generating_until')
        .where('verification_id', '=', session.id)
        .executeTakeFirstOrThrow()
      return generating_until!.getTime() === calls.clock.now() + LEASE_MS
    })
  }
  release()
  assert.equal((await generation).status, 200)
  assert.equal(writeCount, 1)
})

test('a call whose claim has expired does not store its questions while another call generates them', async (t) => {
  const calls = await setUp()
  const { writer } = calls.app.context
  const session = await calls.openPreparedSession('assessment')
  const writers: PromiseWithResolvers<void>[] = []
  t.after(() => {
    for (const { resolve } of writers) resolve()
  })
  calls.app.context.writer = {
    kind: 'ai',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      const released = Promise.withResolvers<void>()
      writers.push(released)
      await released.promise
      return writer.writeItems(request)
    },
  }
  const firstCall = calls.generateAssessment(session)
  await until(() => writers.length === 1)
  const secondCall = calls.generateAssessment(session)
  await until(() => {
    calls.clock.advance(LEASE_MS) // repeatedly, because the first call may renew its claim in between
    return writers.length === 2
  })
  writers[0]!.resolve()
  assert.equal(outcomeOf(await firstCall), '500 GENERATION_FAILED')
  assert.equal((await calls.getFullVerification(session)).status, 'open')
  writers[1]!.resolve()
  const { body } = await expectOk(secondCall)
  assert.equal('alreadyGenerated' in body.data, false)
  assert.equal((await calls.listEvents()).length, 1)
})

test('a process that died while generating questions does not block the session permanently', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  await calls.app.context.db.queries
    .updateTable('verification_sessions')
    .set({ generating_by: 'dead-process', generating_until: new Date(calls.clock.now() + LEASE_MS) })
    .where('verification_id', '=', session.id)
    .execute()
  const pendingGeneration = calls.generateAssessment(session)
  calls.clock.advance(LEASE_MS)
  assert.equal((await pendingGeneration).status, 200)
})

test('the rules of a source are checked again when the questions are stored', async () => {
  const calls = await setUp()
  const [firstSession, secondSession] = [
    await calls.openPreparedSession('assessment'),
    await calls.openPreparedSession('assessment'),
  ]
  const { context } = calls.app
  const { writer } = context
  const correctAnswers = await answerQuestions(calls, firstSession)
  context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      // Passes the skill while the questions of the second session are being generated.
      await expectOk(calls.submitAnswers(firstSession, correctAnswers))
      return writer.writeItems(request)
    },
  }
  assert.equal(outcomeOf(await calls.generateAssessment(secondSession)), '409 ASSESSMENT_ALREADY_PASSED')
  assert.equal((await calls.getFullVerification(secondSession)).status, 'open')
})

test('an assessment keeps its status after its session has expired', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment')
  await failAttempt(calls, session)
  calls.clock.advance(24 * HOUR)
  assert.equal(outcomeOf(await calls.generateAssessment(session)), '404 SESSION_NOT_FOUND')
  assert.equal((await calls.getVerification(session)).status, 'in_assessment')
})
