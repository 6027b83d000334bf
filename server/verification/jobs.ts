import { sql } from 'kysely'
import { isNotPaused } from '../access/service-switch.ts'
import type { Context } from '../context.ts'
import { findPersonKeys } from '../people/identity/people.ts'
import { isNoDeadLetter } from '../platform/jobs/dead-letters.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import type { TimedWork } from '../test-clocks/runner.ts'
import { failSession } from './assessments/assessments.ts'
import { countFailedAttempts, MAX_FAILED_ATTEMPTS } from './assessments/attempts.ts'
import { addMissingEndorsements } from './endorsements/endorsements.ts'
import { deleteOldOrigins } from './endorsements/origins.ts'
import { updateAllRings } from './endorsements/rings.ts'
import { recordExpiries } from './outcome.ts'
import { remindReviewers } from './reviews/review-requests.ts'
import { processDueReviews } from './reviews/test-reviewers.ts'
import { hasTestClock, lockVerification, type SessionRow, sessionFromRow } from './sessions.ts'
import { processDueStudents } from './test-scripts/test-students.ts'

/** The schedules of these jobs need not be precise: reads compute expiry themselves. Events are recorded by the job. */
const sendReviewReminders = defineJob<Record<string, never>>('review-reminders')
const endVerifications = defineJob<Record<string, never>>('end-verifications')

const checkEndorsements = defineJob<Record<string, never>>('check-endorsements', {
  timeoutSeconds: 1800,
  concurrency: 1,
})

export const verificationJobs = [sendReviewReminders, endVerifications, checkEndorsements]

export function handleVerificationJobs(worker: Worker, context: Context): void {
  worker.handle(sendReviewReminders, async () => void (await remindReviewers(context)))
  worker.schedule(sendReviewReminders, '*/5 * * * *')
  worker.handle(endVerifications, () => storeExpiredStatuses(context))
  worker.schedule(endVerifications, '*/2 * * * *')
  worker.handle(checkEndorsements, () => runEndorsementChecks(context))
  worker.schedule(checkEndorsements, '17 2 * * *')
}

/** Deletes old origins, adds endorsements that were never stored, and searches all of them for rings. */
async function runEndorsementChecks(context: Pick<Context, 'db' | 'clock' | 'emailDomains'>): Promise<void> {
  await context.db.transaction((tx) => deleteOldOrigins(tx, context.clock.now()))
  await addMissingEndorsements(context)
  await updateAllRings(context)
}

const BATCH_SIZE = 500

/**
 * Stores the status of sessions whose session, link or last attempt has expired, so that filters by status are correct, and records
 * the events: of sessions in real time, or with a test clock. Skips paused organisations, whose deadlines are extended at the end of the pause.
 */
export async function storeExpiredStatuses(
  { db, clock, keyring }: Pick<Context, 'db' | 'clock' | 'keyring'>,
  testClockId?: string,
): Promise<void> {
  const now = new Date(clock.now())
  await keyring.ensureFresh()
  const isRunning = sql`${isNotPaused(sql`s.org_id`, keyring.pausedOrganisations())} and ${hasTestClock(testClockId)}`
  await expireInBatches(sql`
    select verification_id from verification_sessions s
    where status = 'open' and expires_at <= ${now} and ${isRunning} limit ${BATCH_SIZE}`)
  await expireInBatches(sql`
    select verification_id from verification_sessions s join verification_reviews r using (verification_id)
    where status = 'pending_review' and r.submitted_at is null and r.expires_at <= ${now} and ${isRunning} limit ${BATCH_SIZE}`)

  while ((await processExpiredAttempts()) === BATCH_SIZE);

  /** Processes each expired attempt once; it may exhaust the attempts of any of the student's sessions. */
  async function processExpiredAttempts(): Promise<number> {
    const { rows: expiredAttempts } = await sql<{ attempt_id: string; user_id: string }>`
      select a.attempt_id, a.user_id from verification_attempts a join verification_sessions s using (verification_id)
      where a.submitted_at is null and a.ended_at is null and a.expires_at <= ${now} and ${isRunning}
      order by a.expires_at limit ${BATCH_SIZE}`.execute(db.queries)
    const { rows: sessions } = await sql<{ verification_id: string }>`
      select verification_id from verification_sessions
      where user_id = any (${[...new Set(expiredAttempts.map(({ user_id }) => user_id))]}::text[]) and status = 'in_assessment'`.execute(
      db.queries,
    )
    for (const { verification_id } of sessions) {
      await db.transaction(async (tx) => {
        const session = await lockVerification(tx, clock, verification_id)
        if (
          session?.status !== 'in_assessment' ||
          (await countFailedAttempts(tx, session, clock.now())) < MAX_FAILED_ATTEMPTS
        )
          return
        await failSession(tx, clock, session)
      })
    }
    await sql`update verification_attempts set ended_at = ${now}
      where attempt_id = any (${expiredAttempts.map(({ attempt_id }) => attempt_id)}::text[]) and submitted_at is null`.execute(
      db.queries,
    )
    return expiredAttempts.length
  }

  async function expireInBatches(dueIdsQuery: ReturnType<typeof sql>) {
    for (;;) {
      const expiredCount = await db.transaction(async (tx) => {
        const { rows } = await sql<SessionRow>`
          update verification_sessions set status = 'expired', version = version + 1, updated_at = ${now}
          where verification_id in (${dueIdsQuery} for update of s skip locked) returning *`.execute(tx)
        const keys = await findPersonKeys(
          tx,
          rows.map(({ person_id }) => person_id),
        )
        await recordExpiries(
          tx,
          clock,
          rows.map((row) => sessionFromRow(row, clock, keys.get(row.person_id) ?? null)),
        )
        return rows.length
      })
      if (expiredCount < BATCH_SIZE) return
    }
  }
}

/** Reminders, expiries, and the actions of test students and reviewers in sessions with a test clock. */
export const verificationTimedWork: TimedWork = {
  dueTimes: () => sql`
    select s.test_clock_id, due.due_at from verification_sessions s cross join lateral (
      select s.expires_at as due_at where s.status = 'open'
      union all
      select r.expires_at from verification_reviews r
      where r.verification_id = s.verification_id and s.status = 'pending_review' and r.submitted_at is null
      union all
      select r.remind_at from verification_reviews r where r.verification_id = s.verification_id
      union all
      select r.test_response_at from verification_reviews r
      where r.verification_id = s.verification_id and ${isNoDeadLetter('test-reviews', sql`r.verification_id`)}
      union all
      select s.test_student_at
      union all
      select a.expires_at from verification_attempts a
      where a.verification_id = s.verification_id and a.submitted_at is null and a.ended_at is null
    ) as due where s.test_clock_id is not null and due.due_at is not null`,
  async processDue(context, testClockId, isStopped) {
    await processDueStudents(context, isStopped, testClockId)
    await processDueReviews(context, isStopped, testClockId)
    await remindReviewers(context, testClockId)
    await storeExpiredStatuses(context, testClockId)
  },
}
