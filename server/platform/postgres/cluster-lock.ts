// A dedicated connection whose advisory locks show which processes use the cluster. The locks are released however the process
// ends, and the loss of the connection is the first sign that the postmaster died.
import pg from 'pg'
import { serverPassword, serverRole, superuser } from './cluster.ts'
import { errorCodeOf, PostgresFailure } from './failure.ts'
import { identifyProcess, isRunning, type ProcessIdentity, pidOf } from './processes.ts'
import { port } from './socket.ts'

export type ProcessRole = 'server' | 'command'

/** No postmaster is listening; one may have to be started. */
export class NotListeningError extends Error {}
/** A postmaster is starting or stopping, or another process holds the lock; try again. */
export class NotReadyError extends Error {
  /** True if PostgreSQL itself reports that it is starting up or shutting down, which may take minutes after a crash. */
  readonly inTransition: boolean

  constructor(message: string, inTransition = false) {
    super(message)
    this.inTransition = inTransition
  }
}

export interface ClusterLock {
  /** Role and identity of the process that started the postmaster. */
  starter: string
  /** Resolves when the connection that holds the locks has ended. */
  lost: Promise<void>
  /** Returns whether the connection, and with it the locks, still exists. */
  isHeld(): boolean
  /**
   * Returns true if no other process uses the cluster. From then on, processes that want to use it wait until the postmaster is
   * down.
   */
  lockIfLast(): Promise<boolean>
  close(): Promise<void>
}

// Advisory locks in the database `postgres`, which the product itself does not use.
const LOCK_CLASS = 1_635_021_684
/** Held by the server. */
const SERVER_LOCK = `${LOCK_CLASS}, 1`
/** Shared by all processes that use the cluster. */
const USER_LOCK = `${LOCK_CLASS}, 2`

export function starterText(role: ProcessRole): string {
  return `${role} ${identifyProcess(process.pid)}`
}

/** Connects to the cluster and takes the locks of the role. Throws NotListeningError, NotReadyError or, if a retry cannot succeed, PostgresFailure. */
export async function openClusterLock(options: {
  host: string
  password: string
  database: string
  role: ProcessRole
  dataDir: string
}): Promise<ClusterLock> {
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
  // Errors outside a query must not end the process.
  client.on('error', () => {})
  let ended = false
  const connectionLost = new Promise<void>((resolve) => {
    client.once('end', () => {
      ended = true
      resolve()
    })
  })
  try {
    await client.connect()
    const starter = await readStarter(client)
    if (options.role === 'server') await takeServerLock(client, starter, options.dataDir)
    // Waits for a command that is shutting the postmaster down; this connection is lost when the postmaster is down.
    await client.query(`set lock_timeout = '20s'; select pg_advisory_lock_shared(${USER_LOCK})`)
    await ensureDatabase(client, options.database)
    await ensureServerRole(client, serverPassword(options.password), options.role)
    return {
      starter,
      lost: connectionLost,
      isHeld: () => !ended,
      lockIfLast: async () => {
        await client.query(`select pg_advisory_unlock_shared(${USER_LOCK})`)
        return isTrue(client, `select pg_try_advisory_lock(${USER_LOCK}) as value`)
      },
      close: () => client.end(),
    }
  } catch (error) {
    await client.end().catch(() => {})
    throw classifyError(error, options.dataDir)
  }
}

async function readStarter(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ starter: string | null }>(
    `select current_setting('attestry.starter', true) as starter`,
  )
  return rows[0]?.starter ?? ''
}

async function takeServerLock(client: pg.Client, starter: string, dataDir: string): Promise<void> {
  // A server that has just started the postmaster gets the lock, even if this process connects first.
  const [role, identity] = starter.split(' ') as [string, ProcessIdentity | undefined]
  if (role === 'server' && identity && identity !== identifyProcess(process.pid) && isRunning(identity))
    throw folderInUseFailure(dataDir, pidOf(identity))

  if (await isTrue(client, `select pg_try_advisory_lock(${SERVER_LOCK}) as value`)) return
  const { rows } = await client.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.granted and l.classid = ${LOCK_CLASS} and l.objid = 1`,
  )
  const holder = rows[0]?.name.split(' ')[1]
  if (holder && isRunning(holder)) throw folderInUseFailure(dataDir, pidOf(holder))
  throw new NotReadyError(
    holder ? `a server in another container (pid ${pidOf(holder)}) uses it` : 'another server is stopping',
  )
}

async function ensureDatabase(client: pg.Client, name: string): Promise<void> {
  if (await isTrue(client, `select exists (select from pg_database where datname = '${name}') as value`)) return
  try {
    await client.query(`create database ${name}`)
  } catch (error) {
    // 42P04 and 23505: another process created the database first.
    if (errorCodeOf(error) !== '42P04' && errorCodeOf(error) !== '23505') throw error
  }
}

/** Creates the role that serves requests, and takes away rights that it was given since. Clusters of earlier versions do not have it. */
async function ensureServerRole(client: pg.Client, password: string, processRole: ProcessRole): Promise<void> {
  const exists = await isTrue(client, `select exists (select from pg_roles where rolname = '${serverRole}') as value`)
  if (exists && processRole === 'command') return
  try {
    await client.query(
      `${exists ? 'alter' : 'create'} role ${serverRole} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls
       password '${password}'`,
    )
  } catch (error) {
    // 42710 and 23505: another process created the role first.
    if (errorCodeOf(error) !== '42710' && errorCodeOf(error) !== '23505') throw error
  }
}

async function isTrue(client: pg.Client, query: string): Promise<boolean> {
  const { rows } = await client.query<{ value: boolean }>(query)
  return rows[0]?.value === true
}

function folderInUseFailure(dataDir: string, pid: number): PostgresFailure {
  return new PostgresFailure(
    'IN_USE',
    `Another server (pid ${pid}) is using the data folder ${dataDir}: stop it first, or set another DATA_DIR.`,
  )
}

function classifyError(error: unknown, dataDir: string): Error {
  if (error instanceof PostgresFailure || error instanceof NotReadyError) return error
  const code = errorCodeOf(error)
  const message = (error as Error).message
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return new NotListeningError(message)
  if (code === '28P01' || code === '28000') {
    return new PostgresFailure('BROKEN', `The database in ${dataDir} rejects its password: restore the password file.`)
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new PostgresFailure('CANNOT_RUN', `The database in ${dataDir} belongs to another user (${message}).`)
  }
  // 57P01 to 57P03: starting up or shutting down; 53300 and 55P03: too many processes; others: the connection was lost.
  return new NotReadyError(message, code === '57P03')
}
