import { sql } from 'kysely'
import type { Resumption } from '../access/service-switch.ts'
import type { Tx } from '../platform/database/database.ts'

/**
 * Extends sessions, review links and assessments that had not expired when their organisation was paused. Test clocks stood still during
 * the pause.
 */
export async function resumeVerifications(tx: Tx, { orgIds, pausedSince, extendByMs }: Resumption): Promise<void> {
  const pause = sql`make_interval(secs => ${extendByMs / 1000})`
  const sessions = sql`select verification_id from verification_sessions
    where org_id = any (${orgIds}::text[]) and status in ('open', 'pending_review', 'in_assessment')
      and test_clock_id is null`
  await sql`update verification_attempts set expires_at = expires_at + ${pause}
    where submitted_at is null and ended_at is null and expires_at > ${pausedSince} and verification_id in (${sessions})`.execute(
    tx,
  )
  await sql`update verification_reviews set expires_at = expires_at + ${pause}
    where submitted_at is null and expires_at > ${pausedSince} and verification_id in (${sessions})`.execute(tx)
  await sql`update verification_sessions set expires_at = expires_at + ${pause}
    where expires_at > ${pausedSince} and verification_id in (${sessions})`.execute(tx)
}
