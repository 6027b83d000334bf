import { sql } from 'kysely'
import type { ErasureDeps, PersonRef } from '../people/identity/hooks.ts'
import type { Tx } from '../platform/database/database.ts'

/** Ends the embedded pages of a person who is erased. */
export async function endEmbedSessionsOf(tx: Tx, { clock }: ErasureDeps, { personId }: PersonRef): Promise<void> {
  // Lock the person first, as the routes that create sessions do, so that none is created at the same time.
  await sql`select 1 from people where person_id = ${personId} for update`.execute(tx)
  await sql`update embed_sessions set ended_at = ${new Date(clock.now())}, ended_reason = 'erased'
    where person_id = ${personId} and ended_reason is distinct from 'erased'`.execute(tx)
}
