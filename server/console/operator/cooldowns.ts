import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { MINUTE } from '../../platform/clock.ts'

export interface RunningCooldown {
  key_id: string
  /** Epoch milliseconds. */
  until: number
}

/** Those of the keys that rest now. */
export async function cooldownsOf(
  { limits, clock }: Pick<Context, 'limits' | 'clock'>,
  keyIds: string[],
): Promise<RunningCooldown[]> {
  const now = clock.now()
  const found = await Promise.all(
    keyIds.map(async (key_id) => ({ key_id, left: await limits.limiter.cooldown(key_id, now) })),
  )
  return found.filter(({ left }) => left > 0).map(({ key_id, left }) => ({ key_id, until: now + left }))
}

/** No cooldown lasts longer; whoever rests was refused something since. */
const LONGEST = 16 * MINUTE

/** Keys that were refused calls lately: only those can be resting. */
export async function lately429({ db, clock }: Pick<Context, 'db' | 'clock'>) {
  const since = new Date(clock.now() - LONGEST)
  const { rows } = await sql<{ key_id: string; org_id: string }>`
    select distinct key_id, org_id from request_log where at >= ${since} and status = 429 and key_id is not null
    limit 1000`.execute(db.queries)
  return rows
}
