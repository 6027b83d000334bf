import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Clock } from '../clock.ts'
import { coalesce } from '../coalesce.ts'
import { withDeadline } from '../deadline.ts'
import { errorText } from '../error-text.ts'
import type { Log } from '../log.ts'
import type { ConnectionSettings } from './connection-settings.ts'
import { destroyUnresponsiveConnections } from './connection-watchdog.ts'
import { DatabaseClient } from './database-client.ts'
import { isDatabaseUnavailable } from './outage.ts'
import { createPool } from './pool.ts'
import { PooledClient } from './transaction-pooling.ts'

/** How long a request waits for the replica before it uses the primary. */
const MAX_WAIT_MS = 100
const POLL_INTERVAL_MS = 5
/** How long all requests use the primary after the replica was behind, or was not available. */
const PAUSE_WHEN_BEHIND_MS = 1_000
const PAUSE_WHEN_UNAVAILABLE_MS = 5_000
const CONNECTION_TIMEOUT_MS = 2_000
/** Each server process writes every few seconds. A replica whose last transaction is older has lost its primary. */
const MAX_TRANSACTION_AGE_S = 30
const QUERY_TIMEOUT_MS = 2_000

/** serialization_failure and deadlock_detected: on a standby, the statement conflicted with a change that the standby had to apply. */
const CONFLICT_CODES = new Set(['40001', '40P01'])

type ReplicaOutcome = 'used' | 'behind' | 'unavailable' | 'failed'

interface ReplicaLag {
  bytes: number
  seconds: number
}

/** A standby that requests read from. */
export interface Replica {
  readonly pool: pg.Pool
  /**
   * Returns whether the replica has everything that was committed before the call. Waits a short time for it. Each call is counted, as
   * are errors that `shouldRetry` receives.
   */
  isCurrent(): Promise<boolean>
  /** Returns whether a read that failed with this error can be repeated on the primary. */
  shouldRetry(error: unknown): boolean
  /** Returns how far the replica is behind. Rejects if it cannot be used. */
  readLag(): Promise<ReplicaLag>
  /** Sets the function that is called when the replica becomes unavailable. */
  onUnavailable(callback: () => void): void
  readonly outcomes: Readonly<Record<ReplicaOutcome, number>>
  close(): Promise<void>
}

export interface ReplicaOptions {
  /** Settings of the replica. */
  connection: ConnectionSettings
  /** Whether the replica is reached through a pooler in transaction mode. */
  isPooled: boolean
  /** Settings of the primary itself. */
  primary: ConnectionSettings
  name: string
  maxConnections: number
  clock: Clock
  log: Log
}

interface Identity {
  role: string
  database: string
  server: string
}

/** The server at the address of the replica cannot be used as one. */
class UnusableReplicaError extends Error {}

/** A connection to a standby of the primary. */
class ReplicaClient extends PooledClient {
  protected override get isReadOnlyAccepted(): boolean {
    return true
  }
}

/** A connection to a standby that keeps its session. */
class ReplicaSessionClient extends DatabaseClient {
  protected override get isReadOnlyAccepted(): boolean {
    return true
  }
}

function requireRecent(age: number): void {
  if (age > MAX_TRANSACTION_AGE_S)
    throw new UnusableReplicaError(`the replica has applied no transaction for ${Math.round(age)} seconds`)
}

const IDENTITY = `select current_user as role, current_database() as database,
  (select system_identifier::text from pg_control_system()) as server`

/**
 * Opens the pool of a replica. A request may read from it once it has applied everything that the primary had committed when the request
 * began, so that every caller reads its own writes, whichever process has made them.
 */
export function openReplica({
  connection,
  isPooled,
  primary,
  name,
  maxConnections,
  clock,
  log,
}: ReplicaOptions): Replica {
  const Client = isPooled ? ReplicaClient : ReplicaSessionClient
  const pool = createPool({
    connection,
    isPooled,
    Client,
    name,
    maxConnections,
    connectionTimeoutMs: CONNECTION_TIMEOUT_MS,
  })
  const positionOptions = {
    max: 1,
    application_name: name,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
  }
  // Positions are read on connections of their own, which never wait for a slow statement.
  const primaryPositions = new pg.Pool({ ...primary, ...positionOptions, Client: DatabaseClient })
  const replicaPositions = new pg.Pool({ ...connection, ...positionOptions, Client })
  for (const each of [pool, primaryPositions, replicaPositions])
    each.on('error', (error) => {
      appliedPosition = -1 // the replica may have been replaced by one that is behind
      log.warn({ err: error }, 'connection for reads from the replica lost, the pool will reconnect')
    })
  const stopWatching = destroyUnresponsiveConnections(pool, { ...connection, application_name: name })

  const outcomes = { used: 0, behind: 0, unavailable: 0, failed: 0 }
  let pausedUntil = 0
  let pauseReason: 'behind' | 'unavailable' = 'unavailable'
  let isWarned = false
  let appliedPosition = -1
  let identity: Identity | undefined
  let alarm = () => {}

  // Calls share a query that started after them.
  const readPrimaryPosition = coalesce(async () => {
    const { rows } = await primaryPositions.query<{ position: number }>(
      `select (pg_current_wal_flush_lsn() - '0/0')::bigint as position`,
    )
    return rows[0]!.position
  })
  const readReplica = coalesce(async () => {
    await requireSameDatabase()
    const { rows } = await replicaPositions.query<{ is_standby: boolean; position: number; age: number | null }>(
      `select pg_is_in_recovery() as is_standby, (pg_last_wal_replay_lsn() - '0/0')::bigint as position,
         extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as age`,
    )
    const { is_standby, position, age } = rows[0]!
    if (!is_standby) throw new UnusableReplicaError('the server at DATABASE_REPLICA_URL is not a standby')
    appliedPosition = position
    return { position, age: age ?? 0 }
  })

  return {
    pool,
    outcomes,
    async isCurrent() {
      if (clock.now() < pausedUntil) return count(pauseReason)
      try {
        return count(await waitUntilCurrent())
      } catch (error) {
        return count(pause('unavailable', error))
      }
    },
    shouldRetry(error) {
      const isConflict = CONFLICT_CODES.has((error as { code?: string } | undefined)?.code ?? '')
      if (!isConflict && !isDatabaseUnavailable(error)) return false
      if (!isConflict) pause('unavailable', error)
      outcomes.failed++
      return true
    },
    async readLag() {
      const target = await readPrimaryPosition()
      const { position, age } = await readReplica()
      if (position >= target) return { bytes: 0, seconds: 0 }
      requireRecent(age)
      return { bytes: target - position, seconds: age }
    },
    onUnavailable(callback) {
      alarm = callback
    },
    async close() {
      stopWatching()
      await Promise.all([pool.end(), primaryPositions.end(), replicaPositions.end()])
    },
  }

  async function waitUntilCurrent(): Promise<ReplicaOutcome> {
    const target = await readPrimaryPosition()
    const deadline = performance.now() + MAX_WAIT_MS
    while (appliedPosition < target) {
      const { age } = await withDeadline(readReplica(), QUERY_TIMEOUT_MS)
      if (appliedPosition >= target) break
      requireRecent(age)
      if (performance.now() > deadline) return pause('behind')
      await sleep(POLL_INTERVAL_MS)
    }
    if (isWarned) log.info('requests read from the replica again')
    isWarned = false
    return 'used'
  }

  function count(outcome: ReplicaOutcome): boolean {
    outcomes[outcome]++
    return outcome === 'used'
  }

  function pause(reason: 'behind' | 'unavailable', error?: unknown): 'behind' | 'unavailable' {
    pauseReason = reason
    pausedUntil = clock.now() + (reason === 'behind' ? PAUSE_WHEN_BEHIND_MS : PAUSE_WHEN_UNAVAILABLE_MS)
    if (reason === 'unavailable') {
      // A server that comes back may be another one.
      appliedPosition = -1
      identity = undefined
      if (!isWarned) {
        log.warn({ reason: errorText(error) }, 'the replica cannot be used, reading from the primary')
        alarm()
      }
      isWarned = true
    }
    return reason
  }

  /** Throws unless the replica has the same database and role as the primary. */
  async function requireSameDatabase(): Promise<void> {
    if (identity) return
    const [expected, found] = await Promise.all(
      [primaryPositions, replicaPositions].map(async (each) => (await each.query<Identity>(IDENTITY)).rows[0]!),
    )
    for (const key of ['role', 'database', 'server'] as const)
      if (expected![key] !== found![key])
        throw new UnusableReplicaError(
          `DATABASE_REPLICA_URL must reach a standby of the same database as the same role, but the ${key} differs: ${expected![key]} at the primary, ${found![key]} at the replica`,
        )
    identity = found
  }
}
