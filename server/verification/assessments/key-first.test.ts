import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  aStudent,
  BRICKLAYING,
  expectOk,
  outcomeOf,
  PLASTERING,
  sharedVerification,
  type VerificationCalls,
  verificationCalls,
  WIRING,
} from '../../../test/support/verification.ts'

const setUp = sharedVerification('test')
const skills = [BRICKLAYING, PLASTERING, WIRING]

interface Question {
  questionId: string
  question: string
  options: string[]
}

/** Generates an assessment of three skills, and returns its questions and the position of each key. */
async function generate(calls: VerificationCalls, student: object) {
  const session = await calls.openPreparedSession('assessment', { skills, student })
  const { body } = await expectOk(calls.generateAssessment(session))
  const questions = body.data.questions as Question[]
  const keys = new Map((await calls.getCorrectAnswers(session)).map(({ questionId, option }) => [questionId, option]))
  return {
    session,
    questions,
    keys: questions.map(({ questionId, options }) => options.indexOf(keys.get(questionId)!)),
  }
}

test('test students get questions whose right option is first', async () => {
  const calls = await setUp()
  for (const name of ['pass', 'fail', 'inconclusive', 'Pass+17']) {
    const { questions, keys } = await generate(calls, {
      externalStudentId: `stu-${name}`,
      email: `${name}@test.attestry.example`,
    })
    assert.ok(
      keys.every((key) => key === 0),
      `${name}: ${keys}`,
    )
    for (const { options } of questions) assert.equal(new Set(options).size, 4)
  }
})

test('a test student passes with the first options and fails with others, in every attempt', async () => {
  const calls = await setUp()
  const { session, questions } = await generate(calls, { email: 'pass@test.attestry.example' })
  const firstResponse = await calls.submitAnswers(session, answer(questions, 1))
  assert.deepEqual([firstResponse.body.data.passed, firstResponse.body.data.correct], [false, 0])
  const { body } = await expectOk(calls.generateAssessment(session))
  const secondResponse = await calls.submitAnswers(session, answer(body.data.questions, 0))
  assert.deepEqual([secondResponse.body.data.passed, secondResponse.body.data.score], [true, 100])
  assert.deepEqual(
    (await calls.getVerification(session)).skills.map(({ outcome }: any) => outcome),
    ['passed', 'passed', 'passed'],
  )

  function answer(asked: Question[], position: number) {
    return asked.map(({ questionId, options }) => ({ questionId, option: options[position] }))
  }
})

test('other students of TEST mode get shuffled options', async () => {
  const calls = await setUp()
  const positions = new Set<number>()
  for (const email of ['asha@example.com', 'pass@attestry.example', 'pass@example.com']) {
    const { keys } = await generate(calls, { externalStudentId: email, email })
    for (const key of keys) positions.add(key)
  }
  assert.ok(positions.size > 1, `all keys are at ${[...positions]}`)
})

test('students with other addresses of the test domain are rejected, and all of them in LIVE mode', async () => {
  const calls = await setUp()
  const liveKey = await calls.app.fixtures.createSessionKey(calls.orgId)
  const liveCalls = verificationCalls(calls.app, calls.orgId, liveKey)
  await assert.rejects(
    calls.openSession({ email: 'endorse@test.attestry.example' }),
    /is not a test student; use pass@test\.attestry\.example, fail@test\.attestry\.example or inconclusive@test/,
  )
  for (const name of ['pass', 'FAIL', 'inconclusive+1', 'asha'])
    await assert.rejects(liveCalls.openSession({ email: `${name}@test.attestry.example` }), /TEST mode only/)
  const response = await liveCalls.call('POST', '/verify', {
    key: liveKey,
    body: aStudent({ email: 'pass@TEST.attestry.example' }),
  })
  assert.equal(outcomeOf(response), '400 VALIDATION_FAILED')
})
