import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { signInMember } from '../../test/support/console.ts'
import { expectOk, outcomeOf, verificationCalls } from '../../test/support/verification.ts'
import { DAY, HOUR } from '../platform/clock.ts'
import { remindReviewers } from '../verification/reviews/review-requests.ts'

/** Addresses of one mailbox. */
const EQUIVALENT_ADDRESSES = [
  'big.boss@gmail.com',
  'bigboss+1@gmail.com',
  'BigBoss@googlemail.com',
  'bigboss@gmail.com',
]

/** Emails are counted if they can be sent; without a worker, they stay queued. */
const smtpUrl = 'smtp://127.0.0.1:9'

async function createCaller(app: TestApp) {
  const { orgId } = await app.fixtures.createOrg()
  return verificationCalls(app, orgId, await app.fixtures.createSessionKey(orgId))
}

test('a mailbox gets twenty review emails per day from all sessions and organisations', async (t) => {
  const app = await startApp(t, { config: { smtpUrl } })
  const callers = await Promise.all(Array.from({ length: 6 }, () => createCaller(app)))
  const preparedSessions = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      const calls = callers[index % callers.length]!
      const session = await calls.openPreparedSession('human', { student: { externalStudentId: `s-${index}` } })
      return { calls, session, email: EQUIVALENT_ADDRESSES[index % EQUIVALENT_ADDRESSES.length]! }
    }),
  )

  const responses = await Promise.all(
    preparedSessions.map(({ calls, session, email }) => calls.storeReviewer(session, { email })),
  )

  const rejected = responses.filter(({ status }) => status !== 200)
  assert.equal(responses.length - rejected.length, 20)
  assert.deepEqual([...new Set(rejected.map(outcomeOf))], ['429 RATE_LIMITED'])
  // The clock of the tests is at noon in India.
  assert.equal(rejected[0]!.headers.get('retry-after'), String((12 * HOUR) / 1000))
  assert.match(
    rejected[0]!.body.error.message,
    /20 review emails per day.*Try again in 12 hours, or use another reviewer\./,
  )
  const { rows } = await app.context.db.pool.query('select count(*)::int as count from mails')
  assert.equal(rows[0].count, 20)
  const blockedSession = preparedSessions[responses.findIndex(({ status }) => status !== 200)]!
  const { calls, session } = blockedSession
  assert.equal((await calls.call('GET', `/storereviewerdetails/${session.id}`)).status, 404, 'nothing was stored')
  await expectOk(calls.storeReviewer(session, { email: 'another@gmail.com' }))

  app.clock.advance(12 * HOUR)
  const calls2 = await createCaller(app)
  await calls2.requestReview({ reviewer: { email: 'bigboss@gmail.com' } })
})

test('reminders over the limit are skipped and recorded, and the reviewer can still respond', async (t) => {
  const app = await startApp(t, { config: { smtpUrl, mailLimits: { perRecipient: 2, perOrganisation: 1000 } } })
  const calls = await createCaller(app)
  const reviews = []
  for (const number of [1, 2, 3]) {
    reviews.push(
      await calls.requestReview({
        student: { externalStudentId: `s-${number}` },
        reviewer: { email: `boss+${number}@metro.example` },
      }),
    )
    app.clock.advance(number === 2 ? DAY : 1000)
  }
  app.clock.advance(3 * DAY)
  await remindReviewers(app.context)

  const statuses = await Promise.all(
    reviews.map(async ({ session }) => {
      const [reminder] = await calls.listEmails(session)
      return [reminder!.kind, reminder!.status, reminder!.status_reason]
    }),
  )
  assert.deepEqual(
    statuses.sort((first, second) => String(first).localeCompare(String(second))),
    [
      ['review_reminder', 'queued', null],
      ['review_reminder', 'queued', null],
      ['review_reminder', 'skipped', 'recipient_limit'],
    ],
  )
  const { session, token } = reviews[0]!
  await expectOk(calls.submitReview(session, token, { decisions: [{ skillId: 'sk_1001', endorsed: true }] }))
})

test('an organisation sends a limited number of emails per day, in the console too', async (t) => {
  const app = await startApp(t, { config: { smtpUrl, mailLimits: { perRecipient: 10, perOrganisation: 2 } } })
  const calls = await createCaller(app)
  const first = await calls.requestReview({ student: { externalStudentId: 's-1' }, reviewer: { email: 'a@x.example' } })
  await calls.requestReview({ student: { externalStudentId: 's-2' }, reviewer: { email: 'b@x.example' } })
  const session = await calls.openPreparedSession('human', { student: { externalStudentId: 's-3' } })

  const response = await calls.storeReviewer(session, { email: 'c@x.example' })

  assert.equal(outcomeOf(response), '429 RATE_LIMITED')
  assert.match(response.body.error.message, /Your organisation has sent the maximum of 2 emails per day/)
  app.clock.advance(61_000)
  const recruiter = await signInMember(app, calls.orgId, 'recruiter')
  const resendResponse = await recruiter.post(`/orgs/${calls.orgId}/live/verifications/${first.session.id}/resend`)
  assert.equal(outcomeOf(resendResponse), '429 RATE_LIMITED')
  const otherCalls = await createCaller(app)
  await otherCalls.requestReview({ reviewer: { email: 'c@x.example' } })
})

test('limits survive a restart and are shared by processes', async (t) => {
  const config = { smtpUrl, mailLimits: { perRecipient: 1, perOrganisation: 1000 } }
  const app = await startApp(t, { config })
  const calls = await createCaller(app)
  await calls.requestReview({ reviewer: { email: 'boss@metro.example' } })
  const { databaseUrl, masterKey } = app.context.config
  const { openContext } = await import('../open-context.ts')
  const { context, close } = await openContext(
    { ...app.context.config, databaseUrl, masterKey },
    { jobs: [], clock: app.clock, log: app.context.log },
  )
  t.after(close)

  assert.deepEqual(context.mailboxes.hash('boss@metro.example'), app.context.mailboxes.hash('Boss+x@metro.example'))
  const session = await calls.openPreparedSession('human', { student: { externalStudentId: 's-2' } })
  assert.equal(outcomeOf(await calls.storeReviewer(session, { email: 'boss@metro.example' })), '429 RATE_LIMITED')
})
