import pg from 'pg'

/** How long a connection may be in use before the database is probed. */
const STALLED_AFTER_MS = 8_000
const PROBE_TIMEOUT_MS = 5_000

/**
 * Destroys the connections to a database that no longer responds. A frozen database, or a network that drops all packets, neither
 * responds nor closes the connection, so queries would wait forever. When a connection has been in use for long, a new connection
 * probes the database; if the probe gets no response, every connection opened before it is destroyed and its queries fail.
 * Returns a function that stops the watchdog.
 */
export function destroyUnresponsiveConnections(
  pool: pg.Pool,
  connection: pg.ClientConfig,
  stalledAfterMs = STALLED_AFTER_MS,
  probeTimeoutMs = Math.min(stalledAfterMs, PROBE_TIMEOUT_MS),
): () => void {
  /** The open connections, and when each was last opened, acquired or released. */
  const lastUsed = new Map<pg.PoolClient, number>()
  const inUse = new Set<pg.PoolClient>()
  pool.on('connect', (client) => lastUsed.set(client, performance.now()))
  pool.on('acquire', (client) => {
    lastUsed.set(client, performance.now())
    inUse.add(client)
  })
  pool.on('release', (_error, client) => {
    if (lastUsed.has(client)) lastUsed.set(client, performance.now())
    inUse.delete(client)
  })
  pool.on('remove', (client) => {
    lastUsed.delete(client)
    inUse.delete(client)
  })
  let probing = false
  const timer = setInterval(async () => {
    const startedAt = performance.now()
    if (probing || ![...inUse].some((client) => lastUsed.get(client)! < startedAt - stalledAfterMs)) return
    probing = true
    const unresponsive = await isUnresponsive(connection, probeTimeoutMs)
    probing = false
    if (unresponsive) for (const [client, usedAt] of lastUsed) if (usedAt < startedAt) destroySocket(client)
  }, stalledAfterMs / 2)
  timer.unref()
  return () => clearInterval(timer)
}

/** Probes the database on a new connection. An error from PostgreSQL itself, such as too many connections, is a response. */
async function isUnresponsive(connection: pg.ClientConfig, timeoutMs: number): Promise<boolean> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return false
  } catch (error) {
    return !(error instanceof pg.DatabaseError)
  } finally {
    destroySocket(client)
  }
}

/** Closes a connection without the usual handshake, which would wait for a response too. */
export function destroySocket(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  stream.destroy()
}
