import { readdir, readFile } from 'node:fs/promises'
import pg from 'pg'

/** Processor time and bytes that PostgreSQL used between two points in time. */
export interface DatabaseCosts {
  /** Processor time of all its processes in milliseconds; undefined on systems without /proc. */
  cpuMs: number | undefined
  walBytes: number
  storedBytes: number
  /** Stored bytes with indexes, of the tables that grew most. The partitions of a table are one table. */
  tables: { name: string; bytes: number }[]
}

/** Number of clock ticks per second in /proc, on all platforms that Linux supports. */
const TICKS_PER_SECOND = 100
const MAX_LISTED_TABLES = 6

/**
 * Starts to measure what a database costs; the returned function ends it. The sizes are those of tables without free space, so that both
 * calls rewrite all tables. The URL must be that of a superuser.
 */
export async function measureDatabaseCosts(url: string): Promise<() => Promise<DatabaseCosts>> {
  const before = await readSizes(url)
  const cpuBefore = await readCpuMs(url)
  const walBefore = await readWalPosition(url)
  return async () => {
    const walBytes = (await readWalPosition(url)) - walBefore
    const cpuAfter = await readCpuMs(url)
    const after = await readSizes(url)
    const tables = [...after]
      .map(([name, bytes]) => ({ name, bytes: bytes - (before.get(name) ?? 0) }))
      .sort((a, b) => b.bytes - a.bytes)
    return {
      cpuMs: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
      walBytes,
      storedBytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
      tables: tables.slice(0, MAX_LISTED_TABLES),
    }
  }
}

async function readSizes(url: string): Promise<Map<string, number>> {
  await query(url, 'vacuum full')
  const rows = await query<{ name: string; bytes: string }>(
    url,
    `select coalesce(parent.relname, c.relname) as name, sum(pg_total_relation_size(c.oid)) as bytes
     from pg_class c join pg_namespace n on n.oid = relnamespace left join pg_inherits i on inhrelid = c.oid
       left join pg_class parent on parent.oid = inhparent
     where c.relkind = 'r' and nspname not in ('pg_catalog', 'information_schema') group by 1`,
  )
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}

async function readWalPosition(url: string): Promise<number> {
  const [row] = await query<{ position: string }>(url, `select pg_current_wal_lsn() - '0/0'::pg_lsn as position`)
  return Number(row!.position)
}

/** Returns the processor time of the processes of PostgreSQL, including those that have ended. */
async function readCpuMs(url: string): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
    const processes = (await Promise.all(pids.map(readProcess))).filter((each) => each !== undefined)
    const postmaster = processes.find(({ pid }) => pid === rows[0]!.pid)!.parent
    const ticks = processes.reduce((sum, { pid, parent, ownTicks, endedChildrenTicks }) => {
      if (pid === postmaster) return sum + ownTicks + endedChildrenTicks
      return parent === postmaster ? sum + ownTicks : sum
    }, 0)
    return (ticks * 1000) / TICKS_PER_SECOND
  })
}

/** Reads the parent and the processor time of a process; undefined if it has ended. */
async function readProcess(pid: number) {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  // The name of the program, in parentheses, may contain spaces. Fields are counted from the state, which is the third one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, user, system, childrenUser, childrenSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]))
  return { pid, parent: parent!, ownTicks: user! + system!, endedChildrenTicks: childrenUser! + childrenSystem! }
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  return withClient(url, async (client) => (await client.query<Row>(text)).rows)
}

async function withClient<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}
