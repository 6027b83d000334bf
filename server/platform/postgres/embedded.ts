// The embedded PostgreSQL: a real server in a folder of ours, started, joined, watched over and stopped.
import { mkdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { findBinaries } from './binaries.ts'
import { clusterExists, clusterOwner, clusterPlace, createCluster, readPassword, superuser } from './cluster.ts'
import { codeOf, PostgresFailure } from './failure.ts'
import { type Keeper, openKeeper, type Role, starterText } from './keeper.ts'
import { chooseLaunch, type RootMethod } from './launch.ts'
import { boundLog } from './log-file.ts'
import { type Patience, stopPostmaster } from './postmaster.ts'
import { type Cluster, type Log, reach } from './reach.ts'
import { port, socketFolder } from './socket.ts'

export interface EmbeddedPostgres {
  /** The same for as long as the folder lives, also after the database had to be started again. */
  connection: { host: string; port: number; user: string; password: string; database: string }
  url: string
  /**
   * Owner: shuts the database down, whoever started it, and returns when no process of it is left. Guest: does so only when no
   * other process of ours uses it.
   */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  dataDir: string
  /** The server owns the folder, one at a time, and restarts a database that died. The command line is a guest beside it. */
  role: Role
  log: Log
  /** Told when something takes time, in words for the terminal. */
  progress?: (text: string) => void
  /** The folder was taken over by another server while the database was down: this one has to end. */
  onLost?: (error: Error) => void
  /** What is otherwise found out. */
  machine?: Partial<Machine>
}

interface Machine {
  rootMethod: RootMethod
  packageFolder: string
  /** For programs that another user must be able to run. */
  sharedFolders: string[]
  /** For short ways to a socket with a long path. */
  temporaryFolders: string[]
  stopPatience: Patience
}

const database = 'attestry'
const generous: Patience = { fastMs: 60_000, immediateMs: 10_000 }
const logCheckMs = 60_000

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { role, log } = options
  const cluster = await openCluster(options)
  const patience = options.machine?.stopPatience ?? generous
  const stopping = new AbortController()
  const reachOptions = { role, log, progress: options.progress, cancel: stopping.signal }

  let keeper = await reach(cluster, reachOptions)
  if (role === 'owner' && keeper.starter !== starterText(role)) {
    log({ level: 'info', message: 'Joined a database that was already running.' })
  }
  const watching = role === 'owner' ? watch() : undefined
  let stopped: Promise<void> | undefined

  return {
    connection: { host: cluster.host, port, user: superuser, password: cluster.password, database },
    url: `postgres://${superuser}:${cluster.password}@localhost:${port}/${database}?host=${encodeURIComponent(cluster.host)}`,
    stop() {
      stopped ??= role === 'owner' ? stopAsOwner() : stopAsGuest()
      return stopped
    },
  }

  /** Brings the database back for as long as we run. The loss of our connection tells, also if the postmaster is not our child. */
  async function watch(): Promise<void> {
    const logCheck = setInterval(checkLog, logCheckMs).unref()
    const end = aborted(stopping.signal)
    let losses = 0
    while (!stopping.signal.aborted) {
      const since = performance.now()
      await Promise.race([keeper.lost, end])
      if (stopping.signal.aborted) break
      log({ level: 'warn', message: 'The database went away; bringing it back.' })
      losses = performance.now() - since < 5_000 ? losses + 1 : 0
      const back = await bringBack(Math.min(1_000, losses === 0 ? 0 : 25 * 2 ** losses))
      if (!back) break
      keeper = back
    }
    clearInterval(logCheck)
  }

  function checkLog(): void {
    try {
      boundLog(cluster.place.logFile)
    } catch (error) {
      log({ level: 'warn', message: `The database's log cannot be shortened: ${(error as Error).message}` })
    }
  }

  async function bringBack(firstWaitMs: number): Promise<Keeper | undefined> {
    const since = performance.now()
    for (let wait = firstWaitMs; ; wait = Math.min(5_000, Math.max(200, wait * 2))) {
      try {
        await pause(wait, undefined, { signal: stopping.signal })
        const back = await reach(cluster, reachOptions)
        log({ level: 'info', message: 'The database is back.', ms: Math.round(performance.now() - since) })
        return back
      } catch (error) {
        if (stopping.signal.aborted) return undefined
        const { message } = error as Error
        log({ level: 'error', message })
        if (codeOf(error) === 'IN_USE') {
          options.onLost?.(error as Error)
          return undefined
        }
      }
    }
  }

  async function stopAsOwner(): Promise<void> {
    stopping.abort()
    await watching
    if (await stillOurs()) tell(await stopPostmaster(cluster.place, patience))
    await keeper.close()
  }

  /** It may have been down just now, and another server may have taken it over. */
  async function stillOurs(): Promise<boolean> {
    if (keeper.holds()) return true
    try {
      keeper = await openKeeper({ ...cluster, role })
    } catch (error) {
      return codeOf(error) !== 'IN_USE'
    }
    return true
  }

  async function stopAsGuest(): Promise<void> {
    // Our connection fell if the database broke down meanwhile; then ask it again, if it is there.
    const last = await keeper
      .isLast()
      .catch(async () => {
        keeper = await openKeeper({ ...cluster, role })
        return keeper.isLast()
      })
      .catch(() => false)
    if (last) tell(await stopPostmaster(cluster.place, patience))
    await keeper.close()
  }

  function tell(end: Awaited<ReturnType<typeof stopPostmaster>>): void {
    if (end === 'killed') log({ level: 'warn', message: 'PostgreSQL did not stop in time and was ended by force.' })
  }
}

async function openCluster({ dataDir, progress, machine }: EmbeddedPostgresOptions): Promise<Cluster> {
  let folder: string
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    folder = realpathSync(dataDir)
  } catch (error) {
    throw new PostgresFailure('CANNOT_RUN', `The data folder ${dataDir} cannot be used: ${(error as Error).message}`)
  }
  const place = clusterPlace(folder)
  let found: ReturnType<Cluster['tools']> | undefined
  const tools = () => {
    if (found) return found
    const launch = chooseLaunch({ clusterOwner: clusterOwner(place), rootMethod: machine?.rootMethod })
    const binaries = findBinaries(launch, {
      packageFolder: machine?.packageFolder,
      privateFolder: folder,
      sharedFolders: machine?.sharedFolders ?? ['/var/lib', '/var/tmp', tmpdir()],
    })
    found = { launch, binaries }
    return found
  }
  if (!clusterExists(place)) {
    progress?.('Preparing the database (first start only)…')
    await createCluster(place, tools().binaries, tools().launch)
  }
  return {
    dataDir,
    place,
    host: socketFolder(place.data, machine?.temporaryFolders ?? [tmpdir()]),
    password: readPassword(place),
    database,
    tools,
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
