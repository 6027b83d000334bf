import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import type { Clock } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { endSessionsOfOrigins } from './embed-sessions.ts'
import { isListed, parseListedOrigin } from './origins.ts'

/** Replaces the list of allowed origins. Pages on a removed origin stop working at once. Returns the stored list. */
export async function changeOrigins(tx: Tx, clock: Clock, scope: OrgScope, texts: string[]): Promise<string[]> {
  const parsed = texts.map((text) => parseListedOrigin(text, scope.mode))
  const details = parsed.flatMap((result, index) =>
    'error' in result ? [{ path: `origins[${index}]`, message: result.error }] : [],
  )
  if (details.length > 0) throw invalid(details)
  const origins = [...new Set(parsed.flatMap((result) => ('origin' in result ? [result.origin] : [])))]
  await sql`
    insert into embed_origins (org_id, mode, origins, updated_at)
    values (${scope.orgId}, ${scope.mode}, ${origins}::text[], ${new Date(clock.now())})
    on conflict (org_id, mode) do update set origins = excluded.origins, updated_at = excluded.updated_at`.execute(tx)
  await endSessionsOfOrigins(tx, clock, scope, (origin) => !isListed(origin, origins))
  return origins
}
