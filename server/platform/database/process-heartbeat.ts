import { type Clock, SECOND } from '../clock.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Vault } from '../vault.ts'
import type { Database } from './database.ts'

const HEARTBEAT_INTERVAL_MS = 5 * SECOND
/** A process without a heartbeat for this long counts as dead. */
const DEAD_AFTER_MS = 4 * HEARTBEAT_INTERVAL_MS
/** Age at which the row of a dead process is deleted. */
const DELETE_AFTER_MS = 10 * DEAD_AFTER_MS

export interface HeartbeatOptions {
  roles: string[]
  sharedLimits: boolean
  /** The most connections that this process opens, and that the database accepts. */
  connections: { max: number; limit: number }
  db: Database
  vault: Vault
  clock: Clock
  log: Log
  metrics: Metrics
}

/**
 * Registers this process in the database while it runs. If two API processes run without shared rate limits, callers get twice
 * the documented limits, so several such processes are logged as an error and counted as an alarm.
 */
export async function startHeartbeat({
  roles,
  sharedLimits,
  connections,
  db,
  vault,
  clock,
  log,
  metrics,
}: HeartbeatOptions): Promise<() => Promise<void>> {
  const processId = newId('PR_', clock.now())
  let hasWarned = false
  let hasWarnedOfConnections = false
  let isStopped = false
  await sendHeartbeat()
  const timer = setInterval(sendQuietly, HEARTBEAT_INTERVAL_MS)
  // A rotation of the data key waits until every process has reported the new key.
  vault.onReload(sendQuietly)
  timer.unref()
  return async () => {
    isStopped = true
    clearInterval(timer)
    await db.queries
      .deleteFrom('processes')
      .where('process_id', '=', processId)
      .execute()
      .catch(() => {})
  }

  function sendQuietly() {
    if (!isStopped) sendHeartbeat().catch((error) => log.warn({ err: error }, 'process heartbeat failed, retrying'))
  }

  async function sendHeartbeat() {
    const now = clock.now()
    const row = {
      roles,
      shared_limits: sharedLimits,
      seen_at: new Date(now),
      data_key_ids: [...vault.dataKeyIds],
      max_connections: connections.max,
    }
    await db.queries
      .with('dead', (query) =>
        query
          .deleteFrom('processes')
          .where('seen_at', '<', new Date(now - DELETE_AFTER_MS))
          .where('process_id', '<>', processId),
      )
      .insertInto('processes')
      .values({ process_id: processId, started_at: new Date(now), ...row })
      .onConflict((conflict) => conflict.column('process_id').doUpdateSet(row))
      .execute()
    const processes = await liveProcesses(db, now)
    const total = totalConnections(processes)
    if (total > connections.limit && !hasWarnedOfConnections) {
      hasWarnedOfConnections = true
      log.warn(
        { processes: processes.length, connections: total, limit: connections.limit },
        'the processes can open more connections than the database accepts; set a lower DATABASE_POOL_SIZE, or raise max_connections',
      )
    }
    if (!roles.includes('api') || sharedLimits) return
    const processCount = processes.filter(hasSeparateLimits).length
    if (processCount < 2) return
    metrics.alarms.inc({ alarm: 'limits_not_shared' })
    if (!hasWarned)
      log.error(
        { processes: processCount },
        'several api processes run without REDIS_URL, so each enforces rate limits separately; set REDIS_URL',
      )
    hasWarned = true
  }
}

/** Returns the processes with a recent heartbeat. */
export function liveProcesses({ queries }: Pick<Database, 'queries'>, now: number) {
  return queries
    .selectFrom('processes')
    .select(['roles', 'shared_limits', 'data_key_ids', 'max_connections'])
    .where('seen_at', '>', new Date(now - DEAD_AFTER_MS))
    .execute()
}

/** Counts the live api processes that do not share their rate limits with the others. */
export async function countApisWithSeparateLimits(db: Database, now: number): Promise<number> {
  const rows = await liveProcesses(db, now)
  return rows.filter(hasSeparateLimits).length
}

function hasSeparateLimits({ roles, shared_limits }: { roles: string[]; shared_limits: boolean }): boolean {
  return roles.includes('api') && !shared_limits
}

/** Returns the most connections that these processes open together. */
export function totalConnections(processes: { max_connections: number | null }[]): number {
  return processes.reduce((total, { max_connections }) => total + (max_connections ?? 0), 0)
}

/** Counts the live processes that have not loaded a data key yet, or do not encrypt with it yet. */
export async function waitingForDataKey(
  db: Database,
  now: number,
  dataKeyId: string,
  state: 'loaded' | 'sealing',
): Promise<number> {
  const rows = await liveProcesses(db, now)
  const isReady = (ids: string[] | null) =>
    ids !== null && (state === 'loaded' ? ids.includes(dataKeyId) : ids[0] === dataKeyId)
  return rows.filter((row) => !isReady(row.data_key_ids)).length
}
