import pg from 'pg'

/** Milliseconds that a statement may take before it is asked whether the database still answers, and that the answer may take. */
const PATIENCE = 10_000

/**
 * A database that is frozen, or behind a network that swallows everything, neither answers nor closes a connection, and who waits for
 * it would wait for ever. So where connections have been in use for long, another one asks whether anybody is there. When nobody
 * answers in time they are broken: their statements fail, and callers are told. Watches until the function it answers is called.
 */
export function breakSilentConnections(pool: pg.Pool, connection: pg.ClientConfig, patience = PATIENCE): () => void {
  const inUse = new Map<pg.PoolClient, number>()
  pool.on('acquire', (client) => inUse.set(client, performance.now()))
  pool.on('release', (_error, client) => inUse.delete(client))
  pool.on('remove', (client) => inUse.delete(client))
  let asking = false
  const timer = setInterval(async () => {
    const before = performance.now() - patience
    const long = [...inUse].filter(([, since]) => since < before)
    if (asking || long.length === 0) return
    asking = true
    const silent = await isSilent(connection, patience)
    asking = false
    if (silent) for (const [client, since] of long) if (inUse.get(client) === since) breakOff(client)
  }, patience / 2)
  timer.unref()
  return () => clearInterval(timer)
}

/** Whether nobody answers. A refusal, of whatever kind, is an answer. */
async function isSilent(connection: pg.ClientConfig, patience: number): Promise<boolean> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: patience, query_timeout: patience })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return false
  } catch (error) {
    return /timeout/i.test((error as Error).message)
  } finally {
    breakOff(client)
  }
}

/** A goodbye would wait for an answer too. */
function breakOff(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  stream.destroy()
}
