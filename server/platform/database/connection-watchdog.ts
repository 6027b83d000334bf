import pg from 'pg'

/** Milliseconds that a connection may be in use before it is asked whether the database still answers, and that the answer may take. */
const PATIENCE = 8_000
const ANSWER = 5_000

/**
 * A database that is frozen, or behind a network that swallows everything, neither answers nor closes a connection, and who waits for
 * it would wait for ever. So where a connection has been in use for long, another one asks whether anybody is there. When nobody
 * answers in time all connections are broken but those of the meantime: their statements fail, and callers are told. Watches until
 * the function it answers is called.
 */
export function breakSilentConnections(
  pool: pg.Pool,
  connection: pg.ClientConfig,
  patience = PATIENCE,
  answer = Math.min(patience, ANSWER),
): () => void {
  /** The connections, and when each was last opened, taken or given back. */
  const open = new Map<pg.PoolClient, number>()
  const inUse = new Set<pg.PoolClient>()
  pool.on('connect', (client) => open.set(client, performance.now()))
  pool.on('acquire', (client) => {
    open.set(client, performance.now())
    inUse.add(client)
  })
  pool.on('release', (_error, client) => {
    if (open.has(client)) open.set(client, performance.now())
    inUse.delete(client)
  })
  pool.on('remove', (client) => {
    open.delete(client)
    inUse.delete(client)
  })
  let asking = false
  const timer = setInterval(async () => {
    const began = performance.now()
    if (asking || ![...inUse].some((client) => open.get(client)! < began - patience)) return
    asking = true
    const silent = await isSilent(connection, answer)
    asking = false
    if (silent) for (const [client, since] of open) if (since < began) breakOff(client)
  }, patience / 2)
  timer.unref()
  return () => clearInterval(timer)
}

/** Whether nobody answers. What PostgreSQL itself refuses, such as one connection too many, is an answer. */
async function isSilent(connection: pg.ClientConfig, answer: number): Promise<boolean> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: answer, query_timeout: answer })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return false
  } catch (error) {
    return !(error instanceof pg.DatabaseError)
  } finally {
    breakOff(client)
  }
}

/** Closes a connection at once: a goodbye would wait for an answer too. */
export function breakOff(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection
  stream.destroy()
}
