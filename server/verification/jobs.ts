import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { countFailedAttempts, MAX_FAILED_ATTEMPTS } from './assessments/attempts.ts'
import { addMissingEndorsements } from './endorsements/endorsements.ts'
import { deleteOldOrigins } from './endorsements/origins.ts'
import { updateAllRings } from './endorsements/rings.ts'
import { remindReviewers } from './reviews/review-requests.ts'
import { changeSession, lockVerification } from './sessions.ts'

/** The schedules of these jobs need not be precise: reads compute expiry themselves. */
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
  worker.schedule(endVerifications, '*/10 * * * *')
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

/** Stores the status of sessions whose session, link or last attempt has expired, so that filters by status are correct. */
export async function storeExpiredStatuses({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  const now = new Date(clock.now())
  await expireInBatches(
    sql`select verification_id from verification_sessions where status = 'open' and expires_at <= ${now} limit ${BATCH_SIZE}`,
  )
  await expireInBatches(sql`
    select verification_id from verification_sessions join verification_reviews r using (verification_id)
    where status = 'pending_review' and r.submitted_at is null and r.expires_at <= ${now} limit ${BATCH_SIZE}`)

  while ((await processExpiredAttempts()) === BATCH_SIZE);

  /** Processes each expired attempt once; it may exhaust the attempts of any of the student's sessions. */
  async function processExpiredAttempts(): Promise<number> {
    const { rows: expiredAttempts } = await sql<{ attempt_id: string; user_id: string }>`
      select attempt_id, user_id from verification_attempts
      where submitted_at is null and ended_at is null and expires_at <= ${now} order by expires_at limit ${BATCH_SIZE}`.execute(
      db.queries,
    )
    const { rows: sessions } = await sql<{ verification_id: string }>`
      select verification_id from verification_sessions
      where user_id = any (${[...new Set(expiredAttempts.map(({ user_id }) => user_id))]}::text[]) and status = 'in_assessment'`.execute(
      db.queries,
    )
    for (const { verification_id } of sessions) {
      await db.transaction(async (tx) => {
        const session = await lockVerification(tx, verification_id)
        if (
          session?.status !== 'in_assessment' ||
          (await countFailedAttempts(tx, session, clock.now())) < MAX_FAILED_ATTEMPTS
        )
          return
        await changeSession(tx, session, clock.now(), { status: 'failed', completedAt: clock.now() })
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
      const updateResult = await db.transaction((tx) =>
        sql`update verification_sessions set status = 'expired', version = version + 1, updated_at = ${now}
          where verification_id in (${dueIdsQuery} for update of verification_sessions skip locked)`.execute(tx),
      )
      if (Number(updateResult.numAffectedRows ?? 0) < BATCH_SIZE) return
    }
  }
}
