import { sql } from 'kysely'
import type { Resumption } from '../access/service-switch.ts'
import type { Tx } from '../platform/database/database.ts'

/** Excludes the pause from the time for which an endpoint has been failing. Held deliveries are due since their creation. */
export async function resumeWebhooks(tx: Tx, { orgIds, pausedSince, extendByMs }: Resumption): Promise<void> {
  await sql`update webhooks set failing_since = failing_since + make_interval(secs => ${extendByMs / 1000})
    where org_id = any (${orgIds}::text[]) and failing_since <= ${pausedSince}`.execute(tx)
}
