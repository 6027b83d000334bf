import { sql } from 'kysely'
import { isNotPaused } from '../../access/service-switch.ts'
import { skillId } from '../../catalogue/ids.ts'
import type { Context } from '../../context.ts'
import { type TestReviewer, testReviewerOf } from '../../mail/test-addresses.ts'
import { DAY, realClock, SECOND } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import {
  type DueRow,
  type IsolatedWork,
  isNoDeadLetter,
  nextDeadLetterRetry,
  processIsolated,
} from '../../platform/jobs/dead-letters.ts'
import { startDuePoller } from '../../platform/jobs/due-poller.ts'
import type { BackgroundActivity } from '../../platform/jobs/queue.ts'
import { recordExpiries } from '../outcome.ts'
import type { ReviewInput } from '../schema.ts'
import {
  atSessionTime,
  changeSession,
  findVerification,
  hasTestClock,
  lockVerification,
  type Session,
} from '../sessions.ts'
import type { ReviewerScript } from '../test-scripts/schema.ts'
import { submitReview } from './review-submission.ts'
import { findReview } from './reviews.ts'

/** Notification that a test reviewer was asked for a review. */
export const TEST_REVIEW_REQUESTED = 'test_review_requested'

/** Time before a test reviewer responds. */
const DEFAULT_DELAY_SECONDS = 2
const DEFAULT_RATING = 4
const LINK_LIFETIME_MS = 30 * DAY
/** A shorter lifetime for the reviewer who never responds, so that integrators see the expiry without a test clock. */
const SILENT_LINK_LIFETIME_MS = 30 * SECOND

interface ReviewSchedule {
  linkLifetimeMs: number
  /** Time from the request to the next action of a test reviewer; undefined for a person. */
  testResponseDelayMs: number | undefined
}

/** Returns how long the link to a review is valid and, in TEST mode, when a test reviewer acts. */
export function reviewSchedule(session: Session, email: string): ReviewSchedule {
  const script = findReviewerScript(session, email)
  if (!script) return { linkLifetimeMs: LINK_LIFETIME_MS, testResponseDelayMs: undefined }
  if (script.response === 'none') {
    const lifetimeMs = session.testClockId === null ? SILENT_LINK_LIFETIME_MS : LINK_LIFETIME_MS
    return { linkLifetimeMs: lifetimeMs, testResponseDelayMs: lifetimeMs }
  }
  const { delaySeconds = DEFAULT_DELAY_SECONDS } = script
  return { linkLifetimeMs: LINK_LIFETIME_MS, testResponseDelayMs: delaySeconds * SECOND }
}

const scriptsByAddress: Record<TestReviewer, ReviewerScript> = {
  endorse: { response: 'endorse', comment: 'This test reviewer always endorses.' },
  refuse: { response: 'decline', reason: 'This test reviewer always declines.' },
  silent: { response: 'none' },
}

/** Returns the script of a reviewer of TEST mode: that of the session, or that of a test address; undefined for a person. */
function findReviewerScript({ scope, testScript }: Session, email: string): ReviewerScript | undefined {
  if (scope.mode !== 'test') return undefined
  if (testScript?.reviewer) return testScript.reviewer
  const testReviewer = testReviewerOf(email)
  return testReviewer && scriptsByAddress[testReviewer]
}

/** Processes the due reviews of test reviewers continuously. Any number of processes may run this concurrently. */
export function startTestReviewers(context: Context): BackgroundActivity {
  const { db, clock, log, keyring } = context
  const poller = startDuePoller({
    clock,
    nextDueAt: () => nextResponseDue(context),
    work: (isStopped) => processDueReviews(context, isStopped),
    onError: (error) => log.warn({ err: error }, 'responding for test reviewers failed, retrying'),
  })
  db.onCommitted(TEST_REVIEW_REQUESTED, poller.wake)
  keyring.onPauseChanged(poller.wake)
  return { stop: poller.stop }
}

/** Processes the reviews of test reviewers that are due now, in real time or with a test clock. Those of paused organisations wait. */
export async function processDueReviews(
  context: Context,
  isStopped: () => boolean = () => false,
  testClockId?: string,
): Promise<void> {
  await context.keyring.ensureFresh()
  const work: IsolatedWork = {
    queue: 'test-reviews',
    process: async (tx, _limit, onlyId) =>
      onlyId === undefined || testClockId !== undefined
        ? processDueReview(tx, context, { testClockId, onlyId })
        : retryReview(tx, context, onlyId),
    listDue: (queries, limit) => listDueReviews(queries, context, limit, testClockId),
  }
  // Dead letters are retried in real time.
  const deps = { ...context, clock: realClock(context.clock) }
  const options = { retriesDeadLetters: testClockId === undefined }
  // One review per transaction: it locks the student, and two batches could lock the same students in a different order.
  while (!isStopped() && (await processIsolated(deps, work, 1, options)) > 0);
}

/** Processes the review of one session, which may have a test clock. */
async function retryReview(tx: Tx, context: Context, onlyId: string): Promise<number> {
  const session = await findVerification(tx, context.clock, onlyId)
  if (!session) return 0
  const testClockId = session.testClockId ?? undefined
  return processDueReview(tx, atSessionTime(context, session), { testClockId, onlyId })
}

async function nextResponseDue(context: Context): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select least(
      (select min(r.test_response_at) from verification_reviews r join verification_sessions s using (verification_id)
        where r.test_response_at is not null and ${isProcessable(context)} and ${hasTestClock(undefined)}
          and ${isNoDeadLetter('test-reviews', sql`r.verification_id`)}),
      ${nextDeadLetterRetry('test-reviews')}) as due`.execute(context.db.queries)
  return rows[0]!.due?.getTime()
}

async function listDueReviews(
  queries: Queries,
  context: Context,
  limit: number,
  testClockId: string | undefined,
): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    select r.verification_id as id, s.org_id as "orgId", s.mode
    from verification_reviews r join verification_sessions s using (verification_id)
    where ${isDue(context, { testClockId })} order by r.test_response_at limit ${limit}`.execute(queries)
  return rows
}

interface ReviewFilter {
  testClockId: string | undefined
  onlyId?: string | undefined
}

function isDue(context: Context, { testClockId, onlyId }: ReviewFilter) {
  return sql`r.test_response_at <= ${new Date(context.clock.now())} and ${isProcessable(context)} and ${hasTestClock(testClockId)}
    and ${onlyId === undefined ? isNoDeadLetter('test-reviews', sql`r.verification_id`) : sql`r.verification_id = ${onlyId}`}`
}

function isProcessable({ keyring }: Context) {
  return isNotPaused(sql`s.org_id`, keyring.pausedOrganisations())
}

/**
 * Processes the review that has been due longest and matches the filter, and returns how many were due. The session is
 * locked before the review, as everywhere else.
 */
async function processDueReview(tx: Tx, context: Context, filter: ReviewFilter): Promise<number> {
  const { rows } = await sql<{ verification_id: string }>`
    select s.verification_id from verification_reviews r join verification_sessions s using (verification_id)
    where ${isDue(context, filter)} order by r.test_response_at limit 1 for update of s skip locked`.execute(tx)
  const [dueReview] = rows
  if (!dueReview) return 0
  await respond(tx, context, (await lockVerification(tx, context.clock, dueReview.verification_id))!)
  return 1
}

/** Submits the response of a test reviewer, unless the review has ended or its reviewer has changed in the meantime. */
async function respond(tx: Tx, context: Context, session: Session): Promise<void> {
  const { clock } = context
  const now = clock.now()
  const review = await findReview(tx, session.id)
  await clearTestResponse(tx, session.id)
  const script = review && findReviewerScript(session, review.email)
  if (!script || !review.link || session.status !== 'pending_review') return
  const { expiresAt } = review.link
  if (script.response === 'none') {
    // A pause of the organisation extends the link.
    if (now < expiresAt) return scheduleTestResponse(tx, session.id, expiresAt)
    return recordExpiries(tx, clock, [await changeSession(tx, session, now, { status: 'expired' })])
  }
  if (now < expiresAt) await submitReview(tx, context, { session, review }, responseOf(script, session))
}

function responseOf(script: ReviewerScript, { id, skills }: Session): ReviewInput {
  const response = { serviceVerificationId: id, token: '' } // the caller has locked the review without a token
  const { reason = 'The script of this test declines.', notEndorsed = [], rating = DEFAULT_RATING, comment } = script
  if (script.response === 'decline') return { ...response, declined: true, reason }
  return {
    ...response,
    decisions: skills.map(({ number }) => {
      const id = skillId(number)
      const endorsed = !notEndorsed.includes(id)
      return { skillId: id, endorsed, ...(endorsed ? { rating } : {}), ...(comment ? { comment } : {}) }
    }),
  }
}

async function scheduleTestResponse(tx: Tx, verificationId: string, dueAt: number): Promise<void> {
  await sql`update verification_reviews set test_response_at = ${new Date(dueAt)}
    where verification_id = ${verificationId}`.execute(tx)
}

/** Cancels the response of a test reviewer. */
export async function clearTestResponse(tx: Tx, verificationId: string): Promise<void> {
  await sql`update verification_reviews set test_response_at = null where verification_id = ${verificationId}`.execute(
    tx,
  )
}
