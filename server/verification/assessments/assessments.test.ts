import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BRICKLAYING,
  type Calls,
  type OpenedSession,
  ok,
  outcome,
  shareVerification,
  WIRING,
} from '../../../test/support/verification.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { ItemsRequest } from '../../questions/questions.ts'
import { writeEndings } from '../jobs.ts'
import { generateAssessment } from './assessments.ts'

/** The questions, answered rightly but for the first `wrong` of them. */
async function answers(calls: Calls, session: OpenedSession, wrong = 0) {
  const { body } = await calls.generate(session)
  const keys = await calls.keys(session)
  return body.data.questions.map(
    ({ questionId, options }: { questionId: string; options: string[] }, index: number) => {
      const right = keys.find((key) => key.questionId === questionId)!.option
      return { questionId, option: index < wrong ? options.find((option) => option !== right) : right }
    },
  )
}

async function fail(calls: Calls, session: OpenedSession) {
  await ok(calls.generate(session))
  return ok(calls.submitAnswers(session, []))
}

const given = await shareVerification()

test('questions are made once, answered and marked; keys stay on the server', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment', { skills: [BRICKLAYING, WIRING] })
  const first = await calls.generate(session)
  assert.equal(first.status, 200)
  const { questions, ...data } = first.body.data
  assert.deepEqual(data, { serviceVerificationId: session.id, totalQuestions: 6 })
  assert.match(first.body.executionTime, /^\d+ms$/)
  assert.equal(questions.length, 6)
  for (const question of questions) {
    assert.deepEqual(Object.keys(question).sort(), ['options', 'question', 'questionId'])
    assert.equal(new Set(question.options).size, 4)
  }
  assert.equal(questions.filter(({ question }: any) => question.includes('Bricklaying')).length, 3)
  assert.equal(questions.filter(({ question }: any) => question.includes('House wiring')).length, 3)
  assert.ok(
    questions.some(({ question }: any) => /Fabricator|Metro/.test(question)),
    'they lean on the source',
  )

  const again = await calls.generate(session)
  assert.deepEqual(again.body.data, { ...data, questions, alreadyGenerated: true })
  assert.equal('executionTime' in again.body, false)
  assert.equal((await calls.full(session)).status, 'in_assessment')
  assert.equal(outcome(await calls.skills(session)), '409 SESSION_LOCKED')
  assert.equal(outcome(await calls.items(session)), '409 SESSION_LOCKED')
  assert.equal(outcome(await calls.method(session, 'human')), '409 SESSION_LOCKED')
  assert.equal(outcome(await calls.method(session, 'assessment')), '200')
  assert.equal(outcome(await calls.page(session)), '400 INVALID_VERIFICATION_TYPE')

  const submitted = await calls.submitAnswers(session, await answers(calls, session, 1))
  assert.deepEqual(submitted.body.data, {
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
  assert.equal(outcome(await calls.generate(session)), '403 ASSESSMENT_LOCKED')
  assert.equal(outcome(await calls.submitAnswers(session, [])), '403 ASSESSMENT_LOCKED')
  const { status, score, skills, completedAt } = await calls.verification(session)
  assert.deepEqual([status, score, completedAt], ['completed', 83, new Date(calls.clock.now()).toISOString()])
  assert.deepEqual(
    skills.map(({ outcome }: any) => outcome),
    ['passed', 'passed'],
  )
  const events = await calls.events()
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.status]),
    [
      ['verification.initiated', 'in_assessment'],
      ['verification.completed', 'completed'],
    ],
  )
  assert.deepEqual(events[1]!.data.skills, skills)
})

test('no right answer shows in any answer, event, mail or log line of a whole run', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment', { skills: [BRICKLAYING] })
  const answered: string[] = []
  const remember = async (answer: Promise<{ body: any }>) => answered.push(JSON.stringify((await answer).body))
  await remember(calls.generate(session))
  const keys = await calls.keys(session)
  const places = new Set<string>()
  for (let round = 0; round < 2; round++) {
    await remember(calls.generate(session))
    await remember(calls.submitAnswers(session, round === 0 ? [] : await answers(calls, session)))
    await remember(calls.full(session).then((body) => ({ body })))
    await remember(calls.verification(session).then((body) => ({ body })))
  }
  const events = JSON.stringify(await calls.events())
  const log = calls.app.logged.join('\n')
  for (const { option } of keys) {
    const told = /\p{L}/u.test(option) ? option : JSON.stringify(option) // a mere number stands in times and ids too
    assert.equal(events.includes(told), false, option)
    assert.equal(log.includes(told), false, option)
    for (const text of answered.filter((text) => text.includes(told))) {
      const { questions } = JSON.parse(text).data
      const holding = questions.filter(({ options }: any) => options.includes(option))
      for (const { options } of holding) places.add(String(options.indexOf(option)))
      const elsewhere = text.split(JSON.stringify(option)).length - 1
      assert.equal(elsewhere, holding.length, 'it stands among the options and nowhere else')
    }
  }
  for (const text of answered) assert.doesNotMatch(text, /"(key|correctOption|answer|isCorrect|difficulty|bankId)"/)
})

test('one skill has five questions, ten have thirty', async () => {
  const calls = await given()
  const one = await calls.prepared('assessment')
  assert.equal((await calls.generate(one)).body.data.totalQuestions, 5)
  const skills = Array.from({ length: 10 }, (_, index) => `sk_${1001 + index}`)
  const ten = await calls.prepared('assessment', { skills, student: { externalStudentId: 'stu-2' } })
  const { questions, totalQuestions } = (await calls.generate(ten)).body.data
  assert.equal(totalQuestions, 30)
  assert.equal(new Set(questions.map(({ question }: any) => question)).size, 30)
})

test('what generating refuses, in its order', async () => {
  const calls = await given()
  const session = await calls.open()
  assert.equal(outcome(await calls.submitAnswers(session, [])), '409 NO_OPEN_ATTEMPT')
  assert.equal(outcome(await calls.generate(session)), '404 VERIFICATION_NOT_FOUND')
  await ok(calls.method(session, 'human'))
  assert.equal(outcome(await calls.generate(session)), '400 INVALID_VERIFICATION_TYPE')
  await ok(calls.method(session, 'assessment'))
  assert.equal(outcome(await calls.generate(session)), '400 NO_DATA')
  await ok(calls.items(session))
  assert.equal(outcome(await calls.generate(session)), '400 NO_SKILLS')
  await ok(calls.skills(session))
  assert.equal(outcome(await calls.generate(session)), '200')
})

test('answers that are none are refused, and nothing is marked', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  const [first, second] = (await calls.generate(session)).body.data.questions
  const option = first.options[0]
  for (const given of [
    [{ questionId: 'Q_UNKNOWN', option }],
    [{ questionId: first.questionId, option: 'None of these' }],
    [
      { questionId: second.questionId, option: second.options[0] },
      { questionId: second.questionId, option: second.options[1] },
    ],
    [{ questionId: first.questionId }],
    [{ questionId: first.questionId, option: 0 }],
  ]) {
    const refused = await calls.submitAnswers(session, given)
    assert.equal(outcome(refused), '400 VALIDATION_FAILED')
    assert.match(refused.body.error.message, /^answers\[\d\]/)
  }
  const { key, call } = calls
  assert.equal(
    outcome(await call('POST', '/assessment/submit', { key, token: session.token })),
    '400 VALIDATION_FAILED',
  )
  const partly = await calls.submitAnswers(session, (await answers(calls, session)).slice(0, 4))
  assert.equal(partly.body.data.score, 80, 'unanswered counts as wrong')
})

test('not passed, the next questions are new and tell nobody again; the third failure ends it', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  const seen = new Set<string>()
  for (const attempt of [1, 2, 3]) {
    const { questions } = (await ok(calls.generate(session))).body.data
    for (const { question, options } of questions) {
      const set = JSON.stringify([...options].sort())
      assert.equal(seen.has(set) || seen.has(question), false, 'a question came again')
      seen.add(set).add(question)
    }
    const { body } = await calls.submitAnswers(session, [])
    const { passed, attemptsLeft, locked, score } = body.data
    assert.deepEqual([body.data.attempt, passed, attemptsLeft, locked, score], [attempt, false, 3 - attempt, false, 0])
    assert.equal(outcome(await calls.submitAnswers(session, [])), '409 NO_OPEN_ATTEMPT')
    assert.equal((await calls.verification(session)).status, attempt === 3 ? 'failed' : 'in_assessment')
  }
  assert.equal(outcome(await calls.generate(session)), '403 ATTEMPTS_EXHAUSTED')
  assert.equal((await calls.verification(session)).skills[0].outcome, 'not_passed')
  assert.deepEqual(
    (await calls.events()).map(({ type }) => type),
    ['verification.initiated'],
  )

  // Across sessions, and also where only one of the skills is used up.
  const other = await calls.prepared('assessment', { skills: [WIRING, BRICKLAYING] })
  assert.equal(outcome(await calls.generate(other)), '403 ATTEMPTS_EXHAUSTED')
  calls.clock.advance(30 * DAY)
  const later = await calls.prepared('assessment', { skills: [WIRING, BRICKLAYING] })
  assert.equal(outcome(await calls.generate(later)), '200')
})

test('what fails in one session ends the attempt that another one has open', async () => {
  const calls = await given()
  const [first, other] = [await calls.prepared('assessment'), await calls.prepared('assessment')]
  const right = await answers(calls, other)
  for (let attempt = 0; attempt < 2; attempt++) await fail(calls, first)
  assert.equal(outcome(await calls.generate(other)), '200', 'two have failed')
  await fail(calls, first)
  assert.equal((await calls.verification(other)).status, 'failed')
  assert.equal(outcome(await calls.submitAnswers(other, right)), '403 ATTEMPTS_EXHAUSTED')
  assert.equal(outcome(await calls.generate(other)), '403 ATTEMPTS_EXHAUSTED')
  assert.equal(outcome(await calls.submitAnswers(other, right)), '403 ATTEMPTS_EXHAUSTED')
  assert.equal((await calls.verification(other)).skills[0].outcome, 'not_passed')
})

test('a question of an earlier attempt comes again only where there is no other', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  const { context } = calls.app
  const { writer } = context
  const texts: string[] = []
  const asked: number[] = []
  let others = true
  context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      asked.push(request.skills[0]!.count)
      const { items, short } = await writer.writeItems(request)
      const again = !others || asked.length === 2
      return { items: items.map((item, at) => (again && texts[at] ? { ...item, stem: texts[at] } : item)), short }
    },
  }
  texts.push(...(await ok(calls.generate(session))).body.data.questions.map(({ question }: any) => question))
  await ok(calls.submitAnswers(session, []))
  const { questions } = (await ok(calls.generate(session))).body.data
  assert.equal(questions.filter(({ question }: any) => texts.includes(question)).length, 0)
  assert.deepEqual(asked, [5, 5, 30])
  await ok(calls.submitAnswers(session, []))
  others = false
  assert.equal((await ok(calls.generate(session))).body.data.questions.length, 5)
})

test('an attempt lives 60 minutes, then it has failed', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  const late = await answers(calls, session)
  calls.clock.advance(60 * MINUTE)
  assert.equal(outcome(await calls.submitAnswers(session, late)), '409 ASSESSMENT_EXPIRED')
  const next = await calls.generate(session)
  assert.equal('alreadyGenerated' in next.body.data, false)
  assert.equal((await calls.submitAnswers(session, [])).body.data.attemptsLeft, 1)
  await ok(calls.generate(session))
  assert.equal((await calls.verification(session)).status, 'in_assessment')
  calls.clock.advance(60 * MINUTE)
  assert.equal((await calls.verification(session)).status, 'failed', 'seen at once')
  await writeEndings(calls.app.context)
  assert.equal((await calls.verification(session)).status, 'failed')
  assert.equal(outcome(await calls.generate(session)), '403 ATTEMPTS_EXHAUSTED')
})

test('an attempt that was given up is looked at once, and still ends what it was the last of', async () => {
  const calls = await given()
  const { context } = calls.app
  const [first, second] = [await calls.prepared('assessment'), await calls.prepared('assessment')]
  await ok(calls.generate(first))
  calls.clock.advance(60 * MINUTE)
  await writeEndings(context)
  let transactions = 0
  const transaction: typeof context.db.transaction = (work) => {
    transactions++
    return context.db.transaction(work)
  }
  await writeEndings({ ...context, db: { ...context.db, transaction } })
  assert.equal(transactions, 2, 'for sessions and for links: no attempt is looked at again')
  assert.equal((await calls.verification(first)).status, 'in_assessment')

  await ok(calls.generate(second))
  await ok(calls.submitAnswers(second, []))
  await ok(calls.generate(second))
  calls.clock.advance(60 * MINUTE)
  await writeEndings(context)
  const { rows } = await context.db.pool.query(
    'select status from verification_sessions where verification_id = any ($1)',
    [[first.id, second.id]],
  )
  assert.deepEqual(rows, [{ status: 'failed' }, { status: 'failed' }], 'written down for both sessions')
})

test('what was passed is not asked again, in any session of the student', async () => {
  const calls = await given()
  const [first, second] = [
    await calls.prepared('assessment'),
    await calls.prepared('assessment', { skills: [WIRING, BRICKLAYING] }),
  ]
  const failing = await calls.prepared('assessment', { skills: [WIRING] })
  await ok(calls.submitAnswers(first, await answers(calls, first)))
  const { key, call } = calls
  const anything = { key, token: first.token, body: { answers: 'none' } }
  assert.equal(outcome(await call('POST', '/assessment/submit', anything)), '403 ASSESSMENT_LOCKED')
  assert.equal(outcome(await calls.generate(second)), '409 ASSESSMENT_ALREADY_PASSED', 'looked at again under the lock')
  const third = await calls.open()
  await ok(calls.skills(third))
  await ok(calls.method(third, 'assessment'))
  assert.equal(outcome(await calls.items(third, { projectIds: ['p-1'] })), '409 ASSESSMENT_ALREADY_PASSED')
  await ok(calls.method(third, 'human'))
  assert.equal(outcome(await calls.items(third)), '200')
  await fail(calls, failing)
  await calls.prepared('assessment', { skills: [WIRING] })
})

test('passed as a whole, a skill below 60 percent is not passed', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment', { skills: [BRICKLAYING, WIRING, 'sk_1002'] })
  const most = await answers(calls, session, 2)
  const { passed, skills } = (await calls.submitAnswers(session, most)).body.data
  assert.equal(passed, true)
  assert.deepEqual(
    skills.map(({ passed }: any) => passed),
    [false, true, true],
  )
  assert.deepEqual(
    (await calls.verification(session)).skills.map(({ outcome }: any) => outcome),
    ['not_passed', 'passed', 'passed'],
  )
  await calls.prepared('assessment', { skills: [BRICKLAYING] })
})

test('where two questions read the same, others are asked for, most of which may read the same again', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  const { context } = calls.app
  const { writer } = context
  const asked: number[] = []
  let stem = ''
  context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      asked.push(request.skills[0]!.avoid!.length)
      const { items, short } = await writer.writeItems(request)
      stem ||= items[0]!.stem
      const alike = asked.length === 1 ? 2 : 10
      return { items: items.map((item, at) => (at < alike ? { ...item, stem } : item)), short }
    },
  }
  const { questions } = (await calls.generate(session)).body.data
  assert.equal(new Set(questions.map(({ question }: any) => question)).size, 5)
  assert.deepEqual(asked, [0, 4])
})

test('calls at once make one set, and one submission counts', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  const { writer } = calls.app.context
  let written = 0
  calls.app.context.writer = {
    ...writer,
    kind: writer.kind,
    translate: (request) => writer.translate(request),
    async writeItems(request: ItemsRequest) {
      written++
      await new Promise((resolve) => setTimeout(resolve, 250))
      return writer.writeItems(request)
    },
  }
  const made = await Promise.all(Array.from({ length: 5 }, () => calls.generate(session)))
  assert.deepEqual(made.map(outcome), Array(5).fill('200'))
  assert.equal(written, 1)
  assert.equal(made.filter(({ body }) => body.data.alreadyGenerated).length, 4)
  assert.equal(new Set(made.map(({ body }) => JSON.stringify(body.data.questions))).size, 1)
  assert.equal((await calls.events()).length, 1)

  const right = await answers(calls, session)
  const submitted = await Promise.all([calls.submitAnswers(session, right), calls.submitAnswers(session, right)])
  assert.deepEqual(submitted.map(outcome).sort(), ['200', '403 ASSESSMENT_LOCKED'])
  assert.equal((await calls.events()).length, 2)
})

test('steps wait for nobody while questions are made: they are refused', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  const { writer } = calls.app.context
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
  const { promise: go, resolve: proceed } = Promise.withResolvers<void>()
  calls.app.context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      ask()
      await go
      return writer.writeItems(request)
    },
  }
  const making = calls.generate(session)
  await asked
  assert.equal(outcome(await calls.skills(session, [WIRING])), '409 SESSION_LOCKED')
  assert.equal(outcome(await calls.method(session, 'assessment')), '200')
  proceed()
  assert.equal((await making).status, 200)
})

test('a writer that fails, is too slow or falls short leaves the session as it was', async () => {
  const calls = await given()
  const { context } = calls.app
  const { writer } = context
  const session = await calls.prepared('assessment')
  const before = await calls.full(session)
  const faulty = (writeItems: typeof writer.writeItems) => ({
    kind: 'ai' as const,
    translate: async () => undefined,
    writeItems,
  })
  context.writer = faulty(async () => {
    throw new Error('the key is "Stretcher bond"')
  })
  assert.equal(outcome(await calls.generate(session)), '500 GENERATION_FAILED')
  let asked = 0
  context.writer = faulty(async (request) => {
    asked++
    const { items } = await writer.writeItems(request)
    return { items: items.slice(3), short: [1001] }
  })
  assert.equal(outcome(await calls.generate(session)), '500 GENERATION_FAILED')
  assert.equal(asked, 1, 'it asks its endpoint again by itself')
  let aborted = false
  context.writer = faulty(({ signal }) => {
    signal!.addEventListener('abort', () => {
      aborted = true
    })
    return new Promise(() => {})
  })
  await assert.rejects(generateAssessment(context, session.token, undefined, { timeout: 50 }), {
    code: 'GENERATION_FAILED',
  })
  assert.equal(aborted, true, 'the writer is told to stop')
  assert.deepEqual(await calls.full(session), before)
  assert.deepEqual(await calls.events(), [])
  assert.equal(calls.app.logged.join('').includes('Stretcher bond'), false)

  context.writer = writer
  assert.equal(outcome(await calls.skills(session)), '200', 'still open')
  assert.equal(outcome(await calls.generate(session)), '200')
})

test('a process that died while it made questions blocks nobody for good', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  await calls.app.context.db.queries
    .updateTable('verification_sessions')
    .set({ generating_by: 'gone', generating_until: new Date(calls.clock.now() + 100_000) })
    .where('verification_id', '=', session.id)
    .execute()
  const waiting = calls.generate(session)
  calls.clock.advance(100_000)
  assert.equal((await waiting).status, 200)
})

test('rules are looked at again when the questions are stored', async () => {
  const calls = await given()
  const [first, second] = [await calls.prepared('assessment'), await calls.prepared('assessment')]
  const { context } = calls.app
  const { writer } = context
  const right = await answers(calls, first)
  context.writer = {
    kind: 'built-in',
    translate: async () => undefined,
    async writeItems(request: ItemsRequest) {
      await ok(calls.submitAnswers(first, right)) // passes while the second is being made
      return writer.writeItems(request)
    },
  }
  assert.equal(outcome(await calls.generate(second)), '409 ASSESSMENT_ALREADY_PASSED')
  assert.equal((await calls.full(second)).status, 'open')
})

test('a session that ends in an assessment keeps its state', async () => {
  const calls = await given()
  const session = await calls.prepared('assessment')
  await fail(calls, session)
  calls.clock.advance(24 * HOUR)
  assert.equal(outcome(await calls.generate(session)), '404 SESSION_NOT_FOUND')
  assert.equal((await calls.verification(session)).status, 'in_assessment')
})
