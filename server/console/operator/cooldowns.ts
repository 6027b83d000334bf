import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { MINUTE } from '../../platform/clock.ts'

export interface ActiveCooldown {
  key_id: string
  /** End of the cooldown in epoch milliseconds. */
  until: number
}

/** Returns the cooldowns of the keys that are in cooldown now. */
export async function findActiveCooldowns(
  { limits, clock, keyring }: Pick<Context, 'limits' | 'clock' | 'keyring'>,
  keyIds: string[],
): Promise<ActiveCooldown[]> {
  const now = clock.now()
  const cooldowns = await Promise.all(
    keyIds.map(async (key_id) => {
      const key = keyring.partnerKey(key_id)
      return { key_id, remainingMs: key ? await limits.limiter.cooldown(key_id, key.limits, now) : 0 }
    }),
  )
  return cooldowns
    .filter(({ remainingMs }) => remainingMs > 0)
    .map(({ key_id, remainingMs }) => ({ key_id, until: now + remainingMs }))
}

/** Upper bound of a cooldown, which starts with a rate-limited request. */
const MAX_COOLDOWN_MS = 16 * MINUTE

/** Returns the keys with recently rate-limited requests; no other key can be in cooldown. */
export async function findRecentlyRateLimitedKeys({ db, clock }: Pick<Context, 'db' | 'clock'>) {
  const since = new Date(clock.now() - MAX_COOLDOWN_MS)
  const { rows } = await sql<{ key_id: string; org_id: string }>`
    select distinct key_id, org_id from request_log where at >= ${since} and status = 429 and key_id is not null
    limit 1000`.execute(db.queries)
  return rows
}
