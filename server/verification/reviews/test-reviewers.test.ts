import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { startApp } from '../../../test/support/app.ts'
import {
  BRICKLAYING,
  expectOk,
  outcomeOf,
  sharedVerification,
  type VerificationCalls,
  verificationCalls,
  WIRING,
} from '../../../test/support/verification.ts'
import { switchService } from '../../access/service-switch.ts'
import { discard } from '../../console/operator/dead-letters.ts'
import { storeExpiredStatuses } from '../jobs.ts'
import { processDueReviews } from './test-reviewers.ts'

const setUp = sharedVerification('test')

const skills = [BRICKLAYING, WIRING]
const reviewer = (name: string) => ({ reviewer: { email: `${name}@test.attestry.example` } })

async function passSeconds({ app, clock }: VerificationCalls, seconds: number): Promise<void> {
  clock.advance(seconds * 1000)
  await processDueReviews(app.context)
}

async function listEventTypes(calls: VerificationCalls): Promise<string[]> {
  return (await calls.listEvents()).map(({ type }) => type)
}

test('the test reviewer endorse@ endorses all skills within seconds, once, with the same events and emails as a person', async () => {
  const calls = await setUp()
  const { session } = await calls.requestReview({ skills, ...reviewer('Endorse') })
  await processDueReviews(calls.app.context)
  assert.equal((await calls.getVerification(session)).status, 'pending_review')

  await passSeconds(calls, 3)
  const verification = await calls.getVerification(session)
  assert.equal(verification.status, 'completed')
  assert.equal(verification.evidenceLevel, 'moderate')
  assert.deepEqual(
    verification.skills.map(({ skillId, outcome }: any) => [skillId, outcome]),
    skills.map((skillId) => [skillId, 'endorsed']),
  )
  await passSeconds(calls, 3600)
  const events = await calls.listEvents()
  assert.deepEqual(
    events.map(({ type }) => type),
    ['verification.requested', 'verification.completed'],
  )
  assert.deepEqual(events[1]!.data.skills, verification.skills)
  assert.equal(events[1]!.data.evidenceLevel, 'moderate')
  assert.deepEqual(
    (await calls.listEmails(session)).map(({ kind, status }) => [kind, status]),
    [
      ['review_outcome', 'kept'],
      ['review_request', 'kept'],
    ],
  )
})

test('the test reviewer refuse@ declines with a reason', async () => {
  const calls = await setUp()
  const { session } = await calls.requestReview({ skills, ...reviewer('refuse') })
  await passSeconds(calls, 3)
  const { status, declineReason, skills: outcomes } = await calls.getVerification(session)
  assert.deepEqual([status, declineReason], ['declined', 'This test reviewer always declines.'])
  assert.deepEqual(
    outcomes.map(({ outcome }: any) => outcome),
    ['not_endorsed', 'not_endorsed'],
  )
  assert.deepEqual(await listEventTypes(calls), ['verification.requested', 'verification.declined'])
})

test('the test reviewer silent@ never responds, and the review expires after 30 seconds, once', async () => {
  const calls = await setUp()
  const { session } = await calls.requestReview(reviewer('silent'))
  await passSeconds(calls, 29)
  assert.equal((await calls.getVerification(session)).status, 'pending_review')
  await passSeconds(calls, 1)
  assert.equal((await calls.getVerification(session)).status, 'expired')
  await storeExpiredStatuses(calls.app.context)
  await passSeconds(calls, 60)
  assert.deepEqual(await listEventTypes(calls), ['verification.requested', 'verification.expired'])
})

test('the expiry of a silent test reviewer is recorded once if the regular job is first', async () => {
  const calls = await setUp()
  await calls.requestReview(reviewer('silent'))
  calls.clock.advance(31_000)
  await storeExpiredStatuses(calls.app.context)
  await processDueReviews(calls.app.context)
  assert.deepEqual(await listEventTypes(calls), ['verification.requested', 'verification.expired'])
})

test('several processes submit the response of a test reviewer once', async () => {
  const calls = await setUp()
  for (const externalStudentId of ['stu-1', 'stu-2', 'stu-3'])
    await calls.requestReview({ ...reviewer('endorse'), student: { externalStudentId } })
  calls.clock.advance(3000)
  await Promise.all(Array.from({ length: 5 }, () => processDueReviews(calls.app.context)))
  const types = await listEventTypes(calls)
  assert.equal(types.filter((type) => type === 'verification.completed').length, 3)
  assert.equal(types.length, 6)
})

test('a test reviewer does not respond after a person has submitted the review or was asked instead', async () => {
  const calls = await setUp()
  const { session, token } = await calls.requestReview(reviewer('endorse'))
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: BRICKLAYING, endorsed: false }] }))
  const { session: changedSession } = await calls.requestReview({
    ...reviewer('refuse'),
    student: { externalStudentId: 'stu-2' },
  })
  await expectOk(calls.storeReviewer(changedSession))
  await passSeconds(calls, 60)
  assert.equal((await calls.getVerification(session)).skills[0].outcome, 'not_endorsed')
  assert.equal((await calls.getVerification(changedSession)).status, 'pending_review')
})

test('test reviewers wait while the service is off', async () => {
  const calls = await setUp()
  const { context } = calls.app
  const { session } = await calls.requestReview(reviewer('endorse'))
  const { session: silentSession } = await calls.requestReview({
    ...reviewer('silent'),
    student: { externalStudentId: 'stu-2' },
  })
  await setService('off')
  await passSeconds(calls, 3600)
  await setService('on')
  assert.equal((await calls.getVerification(session)).status, 'pending_review')
  await processDueReviews(context)
  assert.equal((await calls.getVerification(session)).status, 'completed')
  assert.equal((await calls.getVerification(silentSession)).status, 'pending_review')
  await passSeconds(calls, 30)
  assert.equal((await calls.getVerification(silentSession)).status, 'expired')
  assert.equal((await listEventTypes(calls)).filter((type) => type === 'verification.expired').length, 1)

  async function setService(state: 'on' | 'off') {
    await context.db.transaction((tx) => switchService(tx, calls.clock, { orgId: calls.orgId, state }))
    await context.keyring.refresh()
  }
})

test('a response of a test reviewer that cannot be processed becomes a dead letter and can be discarded', async () => {
  const calls = await setUp()
  const { db } = calls.app.context
  const { session: brokenSession } = await calls.requestReview(reviewer('endorse'))
  const { session } = await calls.requestReview({ ...reviewer('endorse'), student: { externalStudentId: 'stu-2' } })
  await sql`update verification_sessions set sources = '{}' where verification_id = ${brokenSession.id}`.execute(
    db.queries,
  )
  await passSeconds(calls, 3)
  assert.equal((await calls.getVerification(session)).status, 'completed')
  const letter = await db.transaction((tx) => discard(tx, calls.clock, 'test-reviews', brokenSession.id))
  assert.deepEqual([letter.org_id, letter.mode, letter.attempts], [calls.orgId, 'test', 1])
  await passSeconds(calls, 3600)
  assert.equal((await calls.getVerification(brokenSession)).status, 'pending_review')
})

test('no email is sent to test addresses, even if TEST_MAIL_ALLOW allows their domain', async (t) => {
  const app = await startApp(t, {
    config: { testMailAllow: ['@test.attestry.example'], smtpUrl: 'smtp://127.0.0.1:9' },
  })
  const { orgId } = await app.fixtures.createOrg()
  const calls = verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId, 'test'), 'test')
  const { session } = await calls.requestReview({
    ...reviewer('endorse'),
    student: { email: 'pass@test.attestry.example' },
  })
  await passSeconds(calls, 3)
  assert.deepEqual(
    (await calls.listEmails(session)).map(({ kind, status }) => [kind, status]),
    [
      ['review_outcome', 'kept'],
      ['review_request', 'kept'],
    ],
  )
})

test('an organisation that unsubscribes a test reviewer does not affect others', async () => {
  const calls = await setUp()
  const { session } = await calls.requestReview(reviewer('endorse'))
  const [email] = await calls.listEmails(session)
  const path = new URL(email!.unsubscribeUrl!).pathname
  assert.equal((await fetch(calls.app.url + path, { method: 'POST' })).status, 200)
  const { session: nextSession } = await calls.requestReview({
    ...reviewer('endorse'),
    student: { externalStudentId: 'stu-2' },
  })
  await passSeconds(calls, 3)
  assert.equal((await calls.getVerification(nextSession)).status, 'completed')
})

test('the evidence of a test reviewer does not depend on the number of endorsed students', async () => {
  const calls = await setUp()
  for (let number = 1; number <= 21; number++) {
    calls.clock.advance(1000)
    await calls.requestReview({
      ...reviewer('endorse'),
      student: { externalStudentId: `stu-${number}`, email: `student-${number}@example.com` },
    })
  }
  const { session } = await calls.requestReview({ ...reviewer('endorse'), student: { externalStudentId: 'stu-22' } })
  await passSeconds(calls, 3)
  assert.deepEqual(
    (await calls.getVerification(session)).reasons.map(({ code }: any) => code),
    ['no_website', 'saw_the_work', 'quick_answer'],
  )
})

test('reviewers with other addresses of the test domain are rejected, and all of them in LIVE mode', async () => {
  const calls = await setUp()
  const session = await calls.openPreparedSession('human')
  for (const name of ['pass', 'endorsed', 'Asha']) {
    const response = await calls.storeReviewer(session, reviewer(name).reviewer)
    assert.equal(outcomeOf(response), '400 INVALID_EMAIL', name)
    assert.match(
      response.body.error.message,
      /use endorse@test\.attestry\.example, refuse@test\.attestry\.example or silent@test\.attestry\.example/,
    )
  }
  const liveKey = await calls.app.fixtures.createSessionKey(calls.orgId)
  const liveCalls = verificationCalls(calls.app, calls.orgId, liveKey)
  const liveSession = await liveCalls.openPreparedSession('human')
  for (const name of ['endorse', 'Refuse', 'silent+1', 'asha']) {
    const response = await liveCalls.storeReviewer(liveSession, reviewer(name).reviewer)
    assert.equal(outcomeOf(response), '400 INVALID_EMAIL', name)
    assert.match(response.body.error.message, /TEST mode only/)
  }
  assert.deepEqual(await liveCalls.listEmails(liveSession), [])
})
