import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPartner } from '../../../test/support/partners.ts'
import {
  aStudent,
  BRICKLAYING,
  expectOk,
  PLASTERING,
  sharedVerification,
  type VerificationCalls,
  verificationCalls,
  WIRING,
} from '../../../test/support/verification.ts'
import { runTestClocks } from '../../test-clocks/runner.ts'
import { timedWorks } from '../../worker.ts'
import { processDueReviews } from '../reviews/test-reviewers.ts'
import { processDueStudents } from './test-students.ts'

const setUp = sharedVerification('test')

const assessed = (...attempts: object[]) => ({
  student: { skills: [BRICKLAYING], method: 'assessment', ...(attempts.length > 0 ? { attempts } : {}) },
})
const reviewed = (reviewer: object) => ({ student: { skills: [BRICKLAYING, WIRING], method: 'human' }, reviewer })

/** Scripts with the expected status, the outcomes of the skills, and the type of the last event. */
const SCRIPTS: [name: string, script: object, status: string, outcomes: string[], event: string][] = [
  ['passes', assessed(), 'completed', ['passed'], 'verification.completed'],
  ['passes at last', assessed({ answers: ['wrong'] }, {}), 'completed', ['passed'], 'verification.completed'],
  [
    'uses up all attempts',
    assessed({ answers: ['wrong'] }, { answers: ['wrong'] }, { answers: ['undecided'] }),
    'failed',
    ['not_passed'],
    'verification.failed',
  ],
  ['is endorsed', reviewed({}), 'completed', ['endorsed', 'endorsed'], 'verification.completed'],
  [
    'is endorsed in part',
    reviewed({ email: 'ravi@metro.example', notEndorsed: [WIRING], rating: 5 }),
    'completed',
    ['endorsed', 'not_endorsed'],
    'verification.completed',
  ],
  [
    'is declined',
    reviewed({ response: 'decline', reason: 'Never met' }),
    'declined',
    ['not_endorsed', 'not_endorsed'],
    'verification.declined',
  ],
  ['waits in vain', reviewed({ response: 'none' }), 'expired', ['pending', 'pending'], 'verification.expired'],
]

async function passSeconds({ app, clock }: VerificationCalls, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1000)
    await processDueStudents(app.context)
    await processDueReviews(app.context)
  }
}

async function readOutcome(calls: VerificationCalls, session: { token: string; id: string; userId: string }) {
  const verification = await calls.getVerification(session)
  const events = (await calls.listEvents()).filter(({ data }: any) => data.serviceVerificationId === session.id)
  return [verification.status, verification.skills.map(({ outcome }: any) => outcome), events.at(-1)?.type]
}

for (const [name, testScript, ...expected] of SCRIPTS) {
  test(`without a test clock, a scripted student ${name}`, async () => {
    const calls = await setUp()
    const session = await calls.openSession({ testScript })
    await passSeconds(calls, testScript === SCRIPTS.at(-1)![1] ? 33 : 6)
    assert.deepEqual(await readOutcome(calls, session), expected)
  })
}

test('a script continues after the steps that were already taken', async () => {
  const calls = await setUp()
  const session = await calls.openSession({ testScript: assessed() })
  await expectOk(calls.storeSkills(session, [BRICKLAYING]))
  await expectOk(calls.chooseMethod(session, 'assessment'))
  await passSeconds(calls, 6)
  assert.deepEqual(await readOutcome(calls, session), ['completed', ['passed'], 'verification.completed'])
})

test('scripted students and reviewers act in the time of their test clock', async () => {
  const { app, orgId } = await setUp()
  const partner = await createPartner(app, 'test', orgId)
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const { body } = await partner.post('/test-clocks', { starts_at: '2030-01-15T06:00:00Z' })
  const testClockId = body.data.test_clock_id
  const delayed = {
    student: { skills: [BRICKLAYING], method: 'human', delaySeconds: 3600 },
    reviewer: { delaySeconds: 8 * 86_400 },
  }
  const scripts: typeof SCRIPTS = [
    ...SCRIPTS,
    ['is endorsed late', delayed, 'completed', ['endorsed'], 'verification.completed'],
  ]
  const sessions: Awaited<ReturnType<typeof calls.openSession>>[] = []
  for (const [name, testScript] of scripts)
    sessions.push(await calls.openSession({ externalStudentId: name, testScript, testClockId }))
  app.clock.advance(60_000)
  await processDueStudents(app.context)
  assert.equal((await calls.getVerification(sessions[0]!)).status, 'open', 'real time does not matter')

  await partner.post(`/test-clocks/${testClockId}/advance`, { seconds: 7 * 86_400 })
  await runTestClocks(app.context, timedWorks)
  assert.equal((await calls.getVerification(sessions.at(-1)!)).status, 'pending_review')
  await partner.post(`/test-clocks/${testClockId}/advance`, { seconds: 24 * 86_400 })
  await runTestClocks(app.context, timedWorks)
  for (const [index, [name, , ...expected]] of scripts.entries())
    assert.deepEqual(await readOutcome(calls, sessions[index]!), expected, name)
  const { completedAt } = await calls.getVerification(sessions.at(-1)!)
  assert.equal(completedAt, '2030-01-23T07:00:00.000Z')
})

test('an undecided student gets the verdict inconclusive, and skills can differ', async () => {
  const calls = await setUp()
  const testScript = {
    student: {
      skills: [BRICKLAYING, PLASTERING, WIRING],
      method: 'assessment',
      attempts: [
        {
          skills: [
            { skillId: PLASTERING, answers: ['wrong'] },
            { skillId: WIRING, answers: ['undecided'] },
          ],
        },
      ],
    },
  }
  const session = await calls.openSession({ testScript })
  await passSeconds(calls, 5)
  const { status, skills } = await calls.getVerification(session)
  assert.equal(status, 'in_assessment', 'two attempts are left')
  assert.deepEqual(
    skills.map(({ assessment }: any) => assessment.verdict),
    ['passed', 'not_passed', 'inconclusive'],
  )
})

test('a script that cannot continue ends, and other students go on', async () => {
  const calls = await setUp()
  const first = await calls.openSession({ testScript: assessed() })
  await passSeconds(calls, 3)
  assert.equal((await calls.getVerification(first)).status, 'completed')
  const again = await calls.openSession({ testScript: assessed() })
  const other = await calls.openSession({ externalStudentId: 'stu-2', testScript: assessed() })
  await passSeconds(calls, 3)
  assert.deepEqual(
    [(await calls.getVerification(again)).status, (await calls.getVerification(other)).status],
    ['open', 'completed'],
    'a passed skill cannot be assessed again',
  )
  const { testScript } = await calls.getVerification(again)
  assert.deepEqual([testScript.ended, testScript.code], [true, 'ASSESSMENT_ALREADY_PASSED'])
  assert.match(testScript.message, /passed/)
  assert.equal((await calls.getVerification(first)).testScript, undefined, 'no step was rejected')
})

test('an unexpected error ends a script, and its message is logged and not shown', async (t) => {
  const calls = await setUp()
  const session = await calls.openSession({ testScript: assessed() })
  const { mock } = t.mock.method(calls.app.context.catalogue, 'load', async () => {
    throw new Error('disk 7 is full')
  })
  await passSeconds(calls, 2)
  mock.restore()
  await passSeconds(calls, 2)
  const { status, testScript } = await calls.getVerification(session)
  assert.equal(status, 'open', 'the script is not repeated')
  assert.deepEqual(testScript, {
    ended: true,
    code: 'SERVER_ERROR',
    message: 'An internal error ended the script.',
  })
  const [line, ...otherLines] = calls.app.logLines.filter((logLine) => logLine.includes('disk 7 is full'))
  assert.match(line!, /the script of a test student ended, because of an error/)
  assert.deepEqual(otherLines, [])
})

test('invalid scripts are rejected with the expected values', async () => {
  const calls = await setUp()
  const { status, body } = await calls.call('POST', '/verify', {
    key: calls.key,
    body: aStudent({
      testScript: {
        student: { skills: [BRICKLAYING, BRICKLAYING, 'sk_999999'], method: 'assessment', delaySeconds: 61 },
        reviewer: { notEndorsed: [WIRING], email: 'nobody' },
      },
    }),
  })
  assert.deepEqual([status, body.error.code], [400, 'VALIDATION_FAILED'])
  for (const message of [
    'testScript.student.delaySeconds: must be at most 60 without a test clock; for longer delays, open the session with a testClockId',
    'testScript.reviewer: is not allowed with the method assessment of the student',
    'testScript.student.skills: must not contain duplicates',
    'testScript.reviewer.email: must be an email address, such as ravi@metro.example',
    'testScript.student.skills[2]: skill "sk_999999" not found; find skill IDs with GET /api/skills/search?keyword=…',
    'testScript.reviewer.notEndorsed[0]: skill "sk_2001" is not one of testScript.student.skills',
  ])
    assert.ok(
      JSON.stringify(body).includes(JSON.stringify(message).slice(1, -1)),
      `${message} in ${JSON.stringify(body)}`,
    )
  const unknownField = await calls.call('POST', '/verify', {
    key: calls.key,
    body: aStudent({ testScript: { student: { skills: [BRICKLAYING], method: 'assessment', attempt: [] } } }),
  })
  assert.equal(unknownField.status, 400)
})

test('a script is rejected in LIVE mode', async () => {
  const { app, orgId } = await setUp()
  const key = await app.fixtures.createSessionKey(orgId, 'live')
  const live = verificationCalls(app, orgId, key, 'live')
  const { status, body } = await live.call('POST', '/verify', { key, body: aStudent({ testScript: assessed() }) })
  assert.equal(status, 400)
  assert.match(body.error.message, /testScript: is for TEST mode only; leave it out, or use a TEST key/)
})
