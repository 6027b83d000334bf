// A connection of our own that says who works on the cluster. Its locks go with the process, in whatever way that ends, and the
// loss of it is the first sign that the postmaster is gone.
import pg from 'pg'
import { superuser } from './cluster.ts'
import { codeOf, PostgresFailure } from './failure.ts'
import { lives, type Mark, markOf, pidOf } from './processes.ts'
import { port } from './socket.ts'

export type Role = 'owner' | 'guest'

/** Nobody listens: a postmaster may have to be started. */
export class Absent extends Error {}
/** Somebody is there, starting or stopping or about to: ask again. */
export class Busy extends Error {
  /** It says itself that it is on its way up or down, which after a crash may take minutes. */
  readonly onItsWay: boolean

  constructor(message: string, onItsWay = false) {
    super(message)
    this.onItsWay = onItsWay
  }
}

export interface Keeper {
  /** Who started the postmaster. */
  starter: string
  /** Settles when the connection has ended, in whatever way. */
  lost: Promise<void>
  holds(): boolean
  /** True when no other process of ours is left; from then on nobody new comes in before the postmaster is down. */
  isLast(): Promise<boolean>
  close(): Promise<void>
}

// Advisory locks in a database that the product itself does not use.
const family = 1_635_021_684
const owning = `${family}, 1`
const present = `${family}, 2`

export function starterText(role: Role): string {
  return `${role} ${markOf(process.pid)}`
}

/** Connects to the cluster and takes its place there. Throws Absent, Busy or, when there is no use in trying, a failure. */
export async function openKeeper(options: {
  host: string
  password: string
  database: string
  role: Role
  dataDir: string
}): Promise<Keeper> {
  const client = new pg.Client({
    host: options.host,
    port,
    user: superuser,
    password: options.password,
    database: 'postgres',
    application_name: starterText(options.role),
    ssl: false,
    connectionTimeoutMillis: 10_000,
  })
  // Also errors out of any query, so that none ends the process.
  client.on('error', () => {})
  let ended = false
  const lost = new Promise<void>((resolve) => {
    client.once('end', () => {
      ended = true
      resolve()
    })
  })
  try {
    await client.connect()
    const starter = await readStarter(client)
    if (options.role === 'owner') await takeOwnership(client, starter, options.dataDir)
    // Waits for a guest that is about to shut down, and falls with the postmaster then.
    await client.query(`set lock_timeout = '20s'; select pg_advisory_lock_shared(${present})`)
    await ensureDatabase(client, options.database)
    return {
      starter,
      lost,
      holds: () => !ended,
      isLast: async () => {
        await client.query(`select pg_advisory_unlock_shared(${present})`)
        return isTrue(client, `select pg_try_advisory_lock(${present}) as answer`)
      },
      close: () => client.end(),
    }
  } catch (error) {
    await client.end().catch(() => {})
    throw classify(error, options.dataDir)
  }
}

async function readStarter(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ starter: string | null }>(
    `select current_setting('attestry.starter', true) as starter`,
  )
  return rows[0]?.starter ?? ''
}

async function takeOwnership(client: pg.Client, starter: string, dataDir: string): Promise<void> {
  // A server that has just started the postmaster will own it, even if we happen to connect first.
  const [role, mark] = starter.split(' ') as [string, Mark | undefined]
  if (role === 'owner' && mark && mark !== markOf(process.pid) && lives(mark)) throw inUse(dataDir, pidOf(mark))

  if (await isTrue(client, `select pg_try_advisory_lock(${owning}) as answer`)) return
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.granted and l.classid = ${family} and l.objid = 1`,
  )
  const holder = rows[0]?.name.split(' ')[1]
  if (holder && lives(holder)) throw inUse(dataDir, pidOf(holder))
  throw new Busy(holder ? `a server that cannot be seen from here (pid ${pidOf(holder)}) holds it` : 'it changes hands')
}

async function ensureDatabase(client: pg.Client, name: string): Promise<void> {
  if (await isTrue(client, `select exists (select from pg_database where datname = '${name}') as answer`)) return
  try {
    await client.query(`create database ${name}`)
  } catch (error) {
    // 42P04 and 23505: another was quicker.
    if (codeOf(error) !== '42P04' && codeOf(error) !== '23505') throw error
  }
}

async function isTrue(client: pg.Client, query: string): Promise<boolean> {
  const { rows } = await client.query<{ answer: boolean }>(query)
  return rows[0]?.answer === true
}

function inUse(dataDir: string, pid: number): PostgresFailure {
  return new PostgresFailure(
    'IN_USE',
    `Another server (pid ${pid}) already uses the data folder ${dataDir}: stop it first, or choose another DATA_DIR.`,
  )
}

function classify(error: unknown, dataDir: string): Error {
  if (error instanceof PostgresFailure || error instanceof Busy) return error
  const code = codeOf(error)
  const message = (error as Error).message
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return new Absent(message)
  if (code === '28P01' || code === '28000') {
    return new PostgresFailure('BROKEN', `The database in ${dataDir} refuses its password: restore the password file.`)
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new PostgresFailure('CANNOT_RUN', `The database in ${dataDir} belongs to another user (${message}).`)
  }
  // 57P01 to 57P03 come with starting and stopping, 53300 and 55P03 with crowds, the rest with a connection that broke.
  return new Busy(message, code === '57P03')
}
