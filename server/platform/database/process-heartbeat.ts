import { type Clock, SECOND } from '../clock.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Database } from './database.ts'

const BEAT = 5 * SECOND
const GONE = 4 * BEAT

export interface Announcement {
  roles: string[]
  sharedLimits: boolean
  db: Database
  clock: Clock
  log: Log
  metrics: Metrics
}

/**
 * Lets processes know of each other. Two that serve the API without shared limits allow callers twice what the table says,
 * and that is said loudly, in the log and in the figures.
 */
export async function announceProcess({
  roles,
  sharedLimits,
  db,
  clock,
  log,
  metrics,
}: Announcement): Promise<() => Promise<void>> {
  const processId = newId('PR_', clock.now())
  let warned = false
  await beat()
  const timer = setInterval(() => {
    beat().catch((error) => log.warn({ err: error }, 'this process could not be announced'))
  }, BEAT)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await db.queries
      .deleteFrom('processes')
      .where('process_id', '=', processId)
      .execute()
      .catch(() => {})
  }

  async function beat() {
    const now = clock.now()
    const row = { roles, shared_limits: sharedLimits, seen_at: new Date(now) }
    await db.queries
      .with('gone', (query) =>
        query
          .deleteFrom('processes')
          .where('seen_at', '<', new Date(now - 10 * GONE))
          .where('process_id', '<>', processId),
      )
      .insertInto('processes')
      .values({ process_id: processId, started_at: new Date(now), ...row })
      .onConflict((conflict) => conflict.column('process_id').doUpdateSet(row))
      .execute()
    if (!roles.includes('api') || sharedLimits) return
    const unshared = await unsharedApis(db, now)
    if (unshared < 2) return
    metrics.alarms.inc({ alarm: 'limits_not_shared' })
    if (!warned)
      log.error(
        { processes: unshared },
        'several api processes run without REDIS_URL: each counts rate limits on its own',
      )
    warned = true
  }
}

/** The processes that have been heard of lately. */
export function liveProcesses({ queries }: Pick<Database, 'queries'>, now: number) {
  return queries
    .selectFrom('processes')
    .select(['roles', 'shared_limits'])
    .where('seen_at', '>', new Date(now - GONE))
    .execute()
}

/** How many live api processes count limits on their own. */
export async function unsharedApis(db: Database, now: number): Promise<number> {
  const rows = await liveProcesses(db, now)
  return rows.filter((row) => row.roles.includes('api') && !row.shared_limits).length
}
