import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { defineJob, type Worker } from '../platform/jobs/queue.ts'
import { countFailed, MOST_FAILED } from './assessments/attempts.ts'
import { remindReviewers } from './reviews/review-requests.ts'
import { changeSession, lockVerification } from './sessions.ts'

/** Looks for what has become due: nothing else depends on the minute at which it runs. */
export const sendReviewReminders = defineJob<Record<string, never>>('review-reminders')
export const endVerifications = defineJob<Record<string, never>>('end-verifications')

export const verificationJobs = [sendReviewReminders, endVerifications]

export function handleVerificationJobs(worker: Worker, context: Context): void {
  worker.handle(sendReviewReminders, async () => void (await remindReviewers(context)))
  worker.schedule(sendReviewReminders, '*/5 * * * *')
  worker.handle(endVerifications, () => writeEndings(context))
  worker.schedule(endVerifications, '*/10 * * * *')
}

const BATCH = 500

/** Writes down what has ended by itself, so that lists by status are true: sessions, links, and attempts that were the last. */
export async function writeEndings({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  const now = new Date(clock.now())
  await inBatches(
    sql`select verification_id from verification_sessions where status = 'open' and expires_at <= ${now} limit ${BATCH}`,
  )
  await inBatches(sql`
    select verification_id from verification_sessions join verification_reviews r using (verification_id)
    where status = 'pending_review' and r.submitted_at is null and r.expires_at <= ${now} limit ${BATCH}`)

  while ((await endAttempts()) === BATCH);

  /** Each is looked at once: a failed one more may be the last for this session, or for another of the student's. */
  async function endAttempts(): Promise<number> {
    const { rows: due } = await sql<{ attempt_id: string; user_id: string }>`
      select attempt_id, user_id from verification_attempts
      where submitted_at is null and ended_at is null and expires_at <= ${now} order by expires_at limit ${BATCH}`.execute(
      db.queries,
    )
    const { rows: sessions } = await sql<{ verification_id: string }>`
      select verification_id from verification_sessions
      where user_id = any (${[...new Set(due.map(({ user_id }) => user_id))]}::text[]) and status = 'in_assessment'`.execute(
      db.queries,
    )
    for (const { verification_id } of sessions) {
      await db.transaction(async (tx) => {
        const session = await lockVerification(tx, verification_id)
        if (session?.status !== 'in_assessment' || (await countFailed(tx, session, clock.now())) < MOST_FAILED) return
        await changeSession(tx, session, clock.now(), { status: 'failed', completedAt: clock.now() })
      })
    }
    await sql`update verification_attempts set ended_at = ${now}
      where attempt_id = any (${due.map(({ attempt_id }) => attempt_id)}::text[]) and submitted_at is null`.execute(
      db.queries,
    )
    return due.length
  }

  async function inBatches(due: ReturnType<typeof sql>) {
    for (;;) {
      const changed = await db.transaction((tx) =>
        sql`update verification_sessions set status = 'expired', version = version + 1, updated_at = ${now}
          where verification_id in (${due} for update of verification_sessions skip locked)`.execute(tx),
      )
      if (Number(changed.numAffectedRows ?? 0) < BATCH) return
    }
  }
}
