import pg from 'pg'
import type { ConnectionSettings } from './connection-settings.ts'
import { destroySocket } from './destroy-socket.ts'
import { forgetPrimary, resolvePrimary } from './primary.ts'

type ProbeSettings = pg.ClientConfig & ConnectionSettings

/** How long a connection may be in use before the database is probed. */
const STALLED_AFTER_MS = 8_000
const PROBE_TIMEOUT_MS = 5_000

export interface WatchdogOptions {
  stalledAfterMs?: number | undefined
  probeTimeoutMs?: number
  /** Settings of PostgreSQL itself, if the connections of the pool go through a pooler in transaction mode. */
  direct?: ProbeSettings | undefined
}

/**
 * Destroys the connections to a database that no longer responds. A frozen database, or a network that drops all packets, neither
 * responds nor closes the connection, so queries would wait forever. When a connection has been in use for a long time, a new connection
 * probes the database. If the probe gets no response, all connections that were last used before the probe are destroyed, and their
 * queries fail. Returns a function that stops the watchdog.
 *
 * If the pool connects through a pooler, which may only be busy, the probe connects to the pooler, and queries `direct`.
 */
export function destroyUnresponsiveConnections(
  pool: pg.Pool,
  connection: ProbeSettings,
  {
    stalledAfterMs = STALLED_AFTER_MS,
    probeTimeoutMs = Math.min(stalledAfterMs, PROBE_TIMEOUT_MS),
    direct,
  }: WatchdogOptions = {},
): () => void {
  /** The open connections, and when each was last opened, acquired or released. */
  const lastUsedAt = new Map<pg.PoolClient, number>()
  const clientsInUse = new Set<pg.PoolClient>()
  pool.on('connect', (client) => lastUsedAt.set(client, performance.now()))
  pool.on('acquire', (client) => {
    lastUsedAt.set(client, performance.now())
    clientsInUse.add(client)
  })
  pool.on('release', (_error, client) => {
    if (lastUsedAt.has(client)) lastUsedAt.set(client, performance.now())
    clientsInUse.delete(client)
  })
  pool.on('remove', (client) => {
    lastUsedAt.delete(client)
    clientsInUse.delete(client)
  })
  let isProbing = false
  const timer = setInterval(async () => {
    const startedAt = performance.now()
    if (isProbing || ![...clientsInUse].some((client) => lastUsedAt.get(client)! < startedAt - stalledAfterMs)) return
    isProbing = true
    const isDatabaseUnresponsive =
      (await isUnresponsive(connection, probeTimeoutMs, direct === undefined)) ||
      (direct !== undefined && (await isUnresponsive(direct, probeTimeoutMs)))
    isProbing = false
    if (isDatabaseUnresponsive) for (const [client, usedAt] of lastUsedAt) if (usedAt < startedAt) destroySocket(client)
  }, stalledAfterMs / 2)
  timer.unref()
  return () => clearInterval(timer)
}

/** Probes the database on a new connection. An error from PostgreSQL itself, such as too many connections, is a response. */
async function isUnresponsive(connection: ProbeSettings, timeoutMs: number, sendsQuery = true): Promise<boolean> {
  let settings: ProbeSettings
  try {
    settings = await resolvePrimary(connection)
  } catch {
    return true
  }
  const client = new pg.Client({ ...settings, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    if (sendsQuery) await client.query('select 1')
    return false
  } catch (error) {
    if (error instanceof pg.DatabaseError) return false
    if (connection.hosts) forgetPrimary(connection.hosts)
    return true
  } finally {
    destroySocket(client)
  }
}
