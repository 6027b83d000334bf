import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeItemWriter } from '../../../test/support/fake-item-writer.ts'
import { insertPrivateItems } from '../../../test/support/private-items.ts'
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

const setUp = sharedVerification()
const setUpTestMode = sharedVerification('test')

/** A skill about which the built-in bank has no questions. */
const WITHOUT_QUESTIONS = 'sk_1002'
const NUMBER_OF: Record<string, number> = { [BRICKLAYING]: 1001, [PLASTERING]: 1016, [WIRING]: 2001 }

/** Returns the confidence by Bayes' theorem with the published formula of the three-parameter logistic model. */
function expectedConfidence(responses: { difficulty: number; isCorrect: boolean }[]): number {
  const likelihoodAt = (ability: number) =>
    responses.reduce((product, { difficulty, isCorrect }) => {
      const probability = 0.25 + 0.75 / (1 + Math.exp(-1.5 * (ability - difficulty)))
      return product * (isCorrect ? probability : 1 - probability)
    }, 1)
  const [skilled, unskilled] = [likelihoodAt(1.5), likelihoodAt(-1.5)]
  return Math.max(skilled, unskilled) / (skilled + unskilled)
}

const readAnswers = async (calls: VerificationCalls, { id }: TestSession) =>
  (
    await calls.app.context.db.queries
      .selectFrom('verification_attempts')
      .select(['answers', 'questions'])
      .where('verification_id', '=', id)
      .orderBy('number')
      .execute()
  ).map(({ answers, questions }) => ({ answers, questions: questions as unknown as { key: number }[] }))

const readResponses = (calls: VerificationCalls) =>
  calls.app.context.db.queries
    .selectFrom('item_responses')
    .selectAll()
    .where('org_id', '=', calls.orgId)
    .orderBy('response_id')
    .execute()

const outcomesOf = async (calls: VerificationCalls, session: TestSession) =>
  (await calls.getVerification(session)).skills.map(({ outcome }: any) => outcome)

test('each skill has a verdict and the probability that it is right', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING, PLASTERING] })
  const isRight = ({ skill }: { skill: number }, position: number) =>
    skill === NUMBER_OF[BRICKLAYING] || (skill === NUMBER_OF[WIRING] && position !== 2)
  const answers = await answerQuestions(calls, session, isRight)
  const asked = Map.groupBy(await calls.getCorrectAnswers(session), ({ skill }) => skill)
  const { skills, passed, score } = (await expectOk(calls.submitAnswers(session, answers))).body.data
  for (const { skillId, confidence } of skills) {
    const responses = asked
      .get(NUMBER_OF[skillId]!)!
      .map((answer, position) => ({ difficulty: answer.difficulty, isCorrect: isRight(answer, position) }))
    assert.ok(Math.abs(confidence - Math.min(0.999, expectedConfidence(responses))) < 0.001, skillId)
  }
  assert.deepEqual(
    [skills[0], skills[2]].map(({ verdict, passed, correct }) => [verdict, passed, correct]),
    [
      ['passed', true, 5],
      ['not_passed', false, 0],
    ],
  )
  assert.deepEqual([passed, score], [false, 60])
})

test('a skill gets the same verdict alone and with others', async () => {
  const calls = await setUp()
  const easiestWrong = async (session: TestSession) => {
    await expectOk(calls.generateAssessment(session))
    const answers = (await calls.getCorrectAnswers(session)).filter(({ skill }) => skill === NUMBER_OF[BRICKLAYING])
    const easiest = answers.toSorted((a, b) => a.difficulty - b.difficulty)[0]!
    return answerQuestions(calls, session, ({ questionId }) => questionId !== easiest.questionId)
  }
  for (const skills of [[BRICKLAYING], [BRICKLAYING, WIRING], [BRICKLAYING, WIRING, PLASTERING]]) {
    const student = { externalStudentId: `stu-${skills.length}` }
    const session = await calls.openPreparedSession('assessment', { skills, student })
    const { body } = await expectOk(calls.submitAnswers(session, await easiestWrong(session)))
    const [first, ...others] = body.data.skills
    assert.deepEqual([first.verdict, first.passed, first.correct, first.total], ['inconclusive', false, 4, 5])
    assert.ok(first.confidence >= 0.5 && first.confidence < 0.95)
    assert.ok(others.every(({ verdict }: any) => verdict === 'passed'))
    assert.equal(body.data.passed, others.length > 0, 'an assessment passes only if a skill does')
  }
})

test('the test student whose first answer is wrong gets an inconclusive verdict, with few questions, too', async () => {
  const calls = await setUpTestMode()
  const manySkills = [BRICKLAYING, PLASTERING, WIRING, ...[1021, 1022, 1032, 1036].map((number) => `sk_${number}`)]
  for (const skills of [[BRICKLAYING], [PLASTERING, WIRING], manySkills]) {
    const session = await calls.openPreparedSession('assessment', {
      skills,
      student: { externalStudentId: `stu-${skills.length}`, email: 'inconclusive@test.attestry.example' },
    })
    const { questions } = (await expectOk(calls.generateAssessment(session))).body.data
    const perSkill = questions.length / skills.length
    const answers = questions.map(({ questionId, options }: any, index: number) => ({
      questionId,
      option: options[index % perSkill === 0 ? 1 : 0],
    }))
    const { body } = await expectOk(calls.submitAnswers(session, answers))
    assert.deepEqual(
      body.data.skills.map(({ verdict }: any) => verdict),
      skills.map(() => 'inconclusive'),
    )
    assert.equal(body.data.passed, false)
  }
})

test('step 2 lists skills that cannot be assessed, and rejects the method if none can', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  await expectOk(calls.storeSkills(session, [BRICKLAYING, WITHOUT_QUESTIONS]))
  assert.equal('notAssessable' in (await expectOk(calls.chooseMethod(session, 'human'))).body.data, false)
  assert.equal('notAssessable' in (await calls.getFullVerification(session)), false)
  const { data } = (await expectOk(calls.chooseMethod(session, 'assessment'))).body
  assert.deepEqual(data.notAssessable, [WITHOUT_QUESTIONS])
  assert.deepEqual((await calls.getFullVerification(session)).notAssessable, [WITHOUT_QUESTIONS], 'also after a reload')

  await expectOk(calls.storeSkills(session, [WITHOUT_QUESTIONS]))
  await expectOk(calls.chooseMethod(session, 'human'))
  const rejectedResponse = await calls.chooseMethod(session, 'assessment')
  assert.equal(outcomeOf(rejectedResponse), '400 INVALID_VERIFICATION_METHOD')
  assert.match(rejectedResponse.body.error.message, /fewer than 12 questions.*Choose the method human, or other skills/)
  assert.equal((await calls.getFullVerification(session)).verificationMethod, 'human', 'the method is unchanged')

  await expectOk(calls.storeSkills(session, [BRICKLAYING]))
  assert.deepEqual((await expectOk(calls.chooseMethod(session, 'assessment'))).body.data.notAssessable, [])
  await expectOk(calls.storeItems(session))
  await expectOk(calls.storeSkills(session, [WITHOUT_QUESTIONS]))
  assert.equal(
    outcomeOf(await calls.generateAssessment(session)),
    '400 INVALID_VERIFICATION_METHOD',
    'the skills were replaced after step 2',
  )
  assert.equal((await calls.getFullVerification(session)).status, 'open')
})

test('a wrong verification ID is reported before skills that cannot be assessed', async () => {
  const calls = await setUp()
  const session = await calls.openSession()
  await expectOk(calls.storeSkills(session, [WITHOUT_QUESTIONS]))
  assert.equal(
    outcomeOf(await calls.chooseMethod({ ...session, id: 'SV_OTHER' }, 'assessment')),
    '404 VERIFICATION_NOT_FOUND',
  )
})

test('a skill that cannot be assessed is not asked, and is not assessed in the end', async () => {
  const calls = await setUp()
  const skills = [WITHOUT_QUESTIONS, BRICKLAYING]
  const passedSession = await calls.openPreparedSession('assessment', { skills })
  const { body } = await expectOk(calls.submitAnswers(passedSession, await answerQuestions(calls, passedSession)))
  assert.deepEqual(
    body.data.skills.map(({ skillId }: any) => skillId),
    [BRICKLAYING],
  )
  assert.equal(body.data.passed, true)
  assert.deepEqual(await outcomesOf(calls, passedSession), ['not_assessed', 'passed'])

  const student = { externalStudentId: 'stu-2' }
  const failedSession = await calls.openPreparedSession('assessment', { skills, student })
  for (let attempt = 0; attempt < 3; attempt++) {
    await expectOk(calls.generateAssessment(failedSession))
    await expectOk(calls.submitAnswers(failedSession, []))
  }
  assert.deepEqual(await outcomesOf(calls, failedSession), ['not_assessed', 'not_passed'])
  const finalEvents = (await calls.listEvents()).filter(({ type }) => type !== 'verification.initiated')
  assert.deepEqual(
    finalEvents.map(({ type, data }) => [type, data.skills.map(({ outcome }: any) => outcome)]),
    [
      ['verification.completed', ['not_assessed', 'passed']],
      ['verification.failed', ['not_assessed', 'not_passed']],
    ],
  )
})

test('a skill that is passed in a failed attempt counts as passed, and is not asked again', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING] })
  const bricklayingOnly = await answerQuestions(calls, session, ({ skill }) => skill === NUMBER_OF[BRICKLAYING])
  const first = (await expectOk(calls.submitAnswers(session, bricklayingOnly))).body.data
  assert.deepEqual([first.passed, first.score, first.attemptsLeft], [false, 50, 2])
  assert.deepEqual(await outcomesOf(calls, session), ['pending', 'pending'])
  for (const attemptsLeft of [1, 0]) {
    await expectOk(calls.generateAssessment(session))
    assert.ok((await calls.getCorrectAnswers(session)).every(({ skill }) => skill === NUMBER_OF[WIRING]))
    assert.equal((await expectOk(calls.submitAnswers(session, []))).body.data.attemptsLeft, attemptsLeft)
  }
  assert.equal((await calls.getVerification(session)).status, 'failed')
  assert.deepEqual(await outcomesOf(calls, session), ['passed', 'not_passed'])
  const { type, data } = (await calls.listEvents()).at(-1)!
  assert.deepEqual(
    [type, data.skills.map(({ outcome }: any) => outcome)],
    ['verification.failed', ['passed', 'not_passed']],
  )
  const laterSession = await calls.openSession()
  await expectOk(calls.storeSkills(laterSession, [BRICKLAYING]))
  await expectOk(calls.chooseMethod(laterSession, 'assessment'))
  assert.equal(outcomeOf(await calls.storeItems(laterSession)), '409 ASSESSMENT_ALREADY_PASSED')
})

test('a later attempt passes the remaining skills', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING] })
  const bricklayingOnly = await answerQuestions(calls, session, ({ skill }) => skill === NUMBER_OF[BRICKLAYING])
  await expectOk(calls.submitAnswers(session, bricklayingOnly))
  const second = (await expectOk(calls.submitAnswers(session, await answerQuestions(calls, session)))).body.data
  assert.deepEqual([second.passed, second.totalQuestions], [true, 5])
  assert.deepEqual(await outcomesOf(calls, session), ['passed', 'passed'])
})

test('failed attempts at a skill that is passed later do not reduce the attempts at the others', async () => {
  const calls = await setUp()
  const firstSession = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING] })
  for (let attempt = 0; attempt < 2; attempt++) {
    await expectOk(calls.generateAssessment(firstSession))
    await expectOk(calls.submitAnswers(firstSession, []))
  }
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING] })
  const bricklayingOnly = await answerQuestions(calls, session, ({ skill }) => skill === NUMBER_OF[BRICKLAYING])
  const { attemptsLeft } = (await expectOk(calls.submitAnswers(session, bricklayingOnly))).body.data
  assert.equal(attemptsLeft, 2)
  assert.equal((await calls.getVerification(session)).status, 'in_assessment')
  await expectOk(calls.generateAssessment(session))
})

test('no question is repeated in any attempt or session of a student while there are others', async () => {
  const calls = await setUp()
  const questionCount = 12 // of plastering in the built-in bank
  const seenItems: string[] = []
  for (const expectedNew of [5, 5, 2]) {
    const session = await calls.openPreparedSession('assessment', { skills: [PLASTERING] })
    await expectOk(calls.generateAssessment(session))
    const itemIds = (await calls.getCorrectAnswers(session)).map(({ itemId }) => itemId)
    assert.equal(new Set(itemIds).size, 5)
    assert.equal(itemIds.filter((id) => !seenItems.includes(id)).length, expectedNew)
    seenItems.push(...itemIds)
    await expectOk(calls.submitAnswers(session, []))
  }
  assert.equal(new Set(seenItems).size, questionCount)
})

test('two students get different questions and different orders of options', async () => {
  const calls = await setUp()
  const forms: string[] = []
  const keys = new Set<number>()
  for (let student = 0; student < 8; student++) {
    const session = await calls.openPreparedSession('assessment', {
      student: { externalStudentId: `stu-${student}` },
    })
    await expectOk(calls.generateAssessment(session))
    forms.push((await calls.getCorrectAnswers(session)).map(({ itemId }) => itemId).join())
    for (const { key } of (await readAnswers(calls, session))[0]!.questions) keys.add(key)
  }
  assert.equal(new Set(forms).size, forms.length)
  assert.deepEqual([...keys].sort(), [0, 1, 2, 3])
})

test('answers are stored with the attempt, and without the student for statistics', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING] })
  const answers = await answerQuestions(calls, session, (_, position) => position !== 1)
  await expectOk(calls.submitAnswers(session, answers.slice(0, -1)))

  const [attempt] = await readAnswers(calls, session)
  const keys = attempt!.questions.map(({ key }) => key)
  const isWrong = (index: number) => index % 5 === 1
  assert.deepEqual(
    attempt!.answers,
    keys.map((key, index) => (index === 9 ? null : isWrong(index) ? (key + 1) % 4 : key)),
  )

  const correctAnswers = await calls.getCorrectAnswers(session)
  const responses = await readResponses(calls)
  assert.deepEqual(
    responses.map(({ item_id, skill_number, position, is_correct }) => [item_id, skill_number, position, is_correct]),
    correctAnswers.map(({ itemId, skill }, index) => [itemId, skill, (index % 5) + 1, !isWrong(index) && index !== 9]),
  )
  for (const [index, response] of responses.entries()) {
    const { mode, source, language, channel, seconds, is_scored, option } = response
    assert.deepEqual(
      [mode, source, language, channel, seconds, is_scored],
      ['live', 'bank', 'en', 'assessment', null, true],
    )
    if (index === 9) assert.equal(option, null)
    else if (isWrong(index)) assert.ok(option! >= 0 && option! <= 4, `a distractor: ${option}`)
    else assert.equal(option, -1)
    // The student is skilled apart from one answer; the ability without that answer is the highest.
    assert.ok(Math.abs(response.rest_ability) <= 4)
  }
  assert.ok(responses[1]!.rest_ability > responses[0]!.rest_ability)
  const storedText = JSON.stringify(responses, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  for (const personal of [session.id, session.userId, 'stu-1', 'Asha', 'asha@example.com', session.token])
    assert.equal(storedText.includes(personal), false, personal)
})

test('the items of the organisation are preferred to the built-in ones, in both modes and with an AI writer', async () => {
  const calls = await setUp()
  await insertPrivateItems(calls.app.context, calls.orgId, { skillNumber: 1001, count: 12 })
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING, WIRING] })
  const { questions } = (await expectOk(calls.generateAssessment(session))).body.data
  assert.equal(questions.filter(({ question }: any) => /private question/.test(question)).length, 5)
  await expectOk(calls.submitAnswers(session, []))
  assert.deepEqual(
    (await readResponses(calls)).map(({ source }) => source),
    [...Array(5).fill('private'), ...Array(5).fill('bank')],
  )

  calls.app.context.writer = fakeItemWriter()
  const { questions: nextQuestions } = (await expectOk(calls.generateAssessment(session))).body.data
  assert.deepEqual(
    nextQuestions.map(({ question }: any) =>
      /private question/.test(question) ? 'private' : /work number/.test(question) ? 'ai' : 'bank',
    ),
    [...Array(5).fill('private'), ...Array(5).fill('ai')],
  )
  await expectOk(calls.submitAnswers(session, []))
  const { skills } = await calls.getVerification(session)
  assert.deepEqual(
    skills.map(({ assessment }: any) => assessment.unpilotedQuestions),
    [5, 5],
    'neither the new items of the organisation nor those of the AI writer have been tried out',
  )

  const otherCalls = await setUp()
  const otherSession = await otherCalls.openPreparedSession('assessment', { skills: [BRICKLAYING] })
  const { body } = await expectOk(otherCalls.generateAssessment(otherSession))
  assert.ok(
    body.data.questions.every(({ question }: any) => !/private question/.test(question)),
    'own items only',
  )
})

test('items of the organisation make a skill assessable; pilot items do not count and are not asked', async () => {
  const calls = await setUp()
  await insertPrivateItems(calls.app.context, calls.orgId, { skillNumber: 1002, count: 11 })
  await insertPrivateItems(calls.app.context, calls.orgId, { skillNumber: 1002, count: 5, status: 'pilot' })
  const session = await calls.openSession()
  await expectOk(calls.storeSkills(session, [WITHOUT_QUESTIONS]))
  assert.equal(outcomeOf(await calls.chooseMethod(session, 'assessment')), '400 INVALID_VERIFICATION_METHOD')

  await insertPrivateItems(calls.app.context, calls.orgId, { skillNumber: 1002, count: 1 })
  assert.deepEqual((await expectOk(calls.chooseMethod(session, 'assessment'))).body.data.notAssessable, [])
  await expectOk(calls.storeItems(session))
  for (let attempt = 0; attempt < 3; attempt++) {
    const { questions } = (await expectOk(calls.generateAssessment(session))).body.data
    assert.equal(questions.length, 5)
    assert.ok(questions.every(({ question }: any) => /private question.*active/.test(question)))
    await expectOk(calls.submitAnswers(session, []))
  }
})

test('questions are in the language of the student if the skill has it, otherwise in English', async () => {
  const calls = await setUp()
  const languagesAsked = async (acceptLanguage: string, skills: string[]) => {
    const student = { externalStudentId: `stu-${acceptLanguage}-${skills}` }
    const session = await calls.openPreparedSession('assessment', { skills, student })
    const { questions } = (await expectOk(calls.generateAssessment(session, acceptLanguage))).body.data
    const scripts = questions.map(({ question }: any) =>
      /\p{Script=Tamil}{2}/u.test(question) ? 'ta' : /\p{Script=Devanagari}{2}/u.test(question) ? 'hi' : 'en',
    )
    await expectOk(calls.submitAnswers(session, []))
    return [...new Set<string>(scripts)]
  }
  assert.deepEqual(await languagesAsked('ta-IN,ta;q=0.9,en;q=0.5', [BRICKLAYING]), ['ta'])
  assert.deepEqual(await languagesAsked('ta', [PLASTERING]), ['en'])
  assert.deepEqual(await languagesAsked('ta', [BRICKLAYING, PLASTERING]), ['ta', 'en'])
  assert.deepEqual(await languagesAsked('hi', [PLASTERING]), ['hi'])
  assert.deepEqual(await languagesAsked('fr', [BRICKLAYING]), ['en'])
  const responses = await readResponses(calls)
  assert.deepEqual(
    responses.map(({ language }) => language),
    ['ta', 'en', 'ta', 'en', 'hi', 'en'].flatMap((language) => Array(5).fill(language)),
  )
})

test('items without a text in the language are not mixed with those that have one', async () => {
  const calls = await setUp()
  const add = (count: number, languages: ('en' | 'hi' | 'ta')[]) =>
    insertPrivateItems(calls.app.context, calls.orgId, { skillNumber: 1001, count, languages })
  await add(12, ['en', 'ta'])
  await add(12, ['en'])
  const session = await calls.openPreparedSession('assessment', { skills: [BRICKLAYING] })
  const tamilQuestions = (await expectOk(calls.generateAssessment(session, 'ta'))).body.data.questions
  assert.ok(tamilQuestions.every(({ question }: any) => question.includes('(ta)')))

  const hindiCalls = await setUp()
  await insertPrivateItems(hindiCalls.app.context, hindiCalls.orgId, {
    skillNumber: 1001,
    count: 12,
    languages: ['hi'],
  })
  const hindiSession = await hindiCalls.openPreparedSession('assessment', { skills: [BRICKLAYING] })
  const { questions } = (await expectOk(hindiCalls.generateAssessment(hindiSession, 'ta'))).body.data
  assert.ok(
    questions.every(({ question }: any) => question.includes('(hi)')),
    'the only language of the items',
  )
  await expectOk(hindiCalls.submitAnswers(hindiSession, []))
  assert.deepEqual(
    (await readResponses(hindiCalls)).map(({ language }) => language),
    Array(5).fill('hi'),
  )
})
