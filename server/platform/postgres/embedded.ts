// The embedded PostgreSQL: starts a real PostgreSQL server in DATA_DIR or joins a running one, restarts it if it crashes, and stops it.
import { mkdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { findBinaries } from './binaries.ts'
import {
  clusterExists,
  clusterOwner,
  clusterPaths,
  createCluster,
  readPassword,
  serverPassword,
  serverRole,
  superuser,
} from './cluster.ts'
import { type ClusterLock, openClusterLock, type ProcessRole, starterText } from './cluster-lock.ts'
import { type Cluster, connectOrStart, type PostgresLog } from './connect-or-start.ts'
import { errorCodeOf, PostgresFailure } from './failure.ts'
import { chooseLauncher, type RootMethod } from './launch.ts'
import { rotateLog } from './log-file.ts'
import { type StopTimeouts, stopPostmaster } from './postmaster.ts'
import { port, socketFolder } from './socket.ts'

export interface EmbeddedPostgres {
  /** Connection settings of the superuser, who owns the tables. They stay the same when the database is restarted. */
  connection: EmbeddedConnection
  /** Connection settings of the role that serves requests, which can only read and write rows. */
  serverConnection: EmbeddedConnection
  /** The superuser's settings as a URL. */
  url: string
  /**
   * Role `server`: shuts the database down and returns when none of its processes is left. Role `command`: does so only if no
   * other process uses the database.
   */
  stop(): Promise<void>
}

interface EmbeddedConnection {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export interface EmbeddedPostgresOptions {
  dataDir: string
  /** At most one `server` uses the folder, and restarts a database that crashes. Any number of `command`s may run at the same time. */
  role: ProcessRole
  log: PostgresLog
  /** Called with a progress message for the terminal when a step takes long. */
  progress?: (text: string) => void
  /** Called when a program of PostgreSQL runs and this process would only wait for it, so that it can do other work. */
  onWaiting?: () => void
  /** Called if another server took over the folder while the database was down; this process must exit. */
  onTakenOver?: (error: Error) => void
  /** Overrides detected properties of the machine, for tests. */
  machine?: Partial<MachineOverrides>
}

interface MachineOverrides {
  rootMethod: RootMethod
  packageFolder: string
  /** Folders for programs that another user must be able to run. */
  sharedFolders: string[]
  /** Folders for a short symlink to a socket with a long path. */
  temporaryFolders: string[]
  stopTimeouts: StopTimeouts
}

const databaseName = 'attestry'
const DEFAULT_STOP_TIMEOUTS: StopTimeouts = { fastMs: 60_000, immediateMs: 10_000 }
const LOG_CHECK_INTERVAL_MS = 60_000
/** If the database stops this soon after it was connected, the next restart is delayed, so that it does not restart in a tight loop. */
const QUICK_LOSS_MS = 5_000
const MAX_QUICK_LOSS_DELAY_MS = 1_000

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { role, log } = options
  const cluster = await openCluster(options)
  const stopTimeouts = options.machine?.stopTimeouts ?? DEFAULT_STOP_TIMEOUTS
  const stopController = new AbortController()
  const { progress, onWaiting } = options
  const connectOptions = { role, log, progress, onWaiting, cancel: stopController.signal }

  let lock = await connectOrStart(cluster, connectOptions)
  if (role === 'server' && lock.starter !== starterText(role)) {
    log({ level: 'info', message: 'Using a database that is already running.' })
  }
  const watchEnded = role === 'server' ? watchForCrashes() : undefined
  let stopped: Promise<void> | undefined

  return {
    connection: { host: cluster.host, port, user: superuser, password: cluster.password, database: databaseName },
    serverConnection: {
      host: cluster.host,
      port,
      user: serverRole,
      password: serverPassword(cluster.password),
      database: databaseName,
    },
    url: `postgres://${superuser}:${cluster.password}@localhost:${port}/${databaseName}?host=${encodeURIComponent(cluster.host)}`,
    stop() {
      stopped ??= role === 'server' ? stopAsServer() : stopAsCommand()
      return stopped
    },
  }

  /** Restarts the database when it crashes. Detects this by the loss of the connection, since the postmaster may not be a child process. */
  async function watchForCrashes(): Promise<void> {
    const logCheckTimer = setInterval(rotateLargeLog, LOG_CHECK_INTERVAL_MS).unref()
    const stopRequested = waitForAbort(stopController.signal)
    let quickLosses = 0
    while (!stopController.signal.aborted) {
      const connectedAt = performance.now()
      await Promise.race([lock.lost, stopRequested])
      if (stopController.signal.aborted) break
      log({ level: 'warn', message: 'The database stopped unexpectedly; restarting it.' })
      quickLosses = performance.now() - connectedAt < QUICK_LOSS_MS ? quickLosses + 1 : 0
      const newLock = await restartDatabase(
        Math.min(MAX_QUICK_LOSS_DELAY_MS, quickLosses === 0 ? 0 : 25 * 2 ** quickLosses),
      )
      if (!newLock) break
      lock = newLock
    }
    clearInterval(logCheckTimer)
  }

  function rotateLargeLog(): void {
    try {
      rotateLog(cluster.paths.logFile)
    } catch (error) {
      log({ level: 'warn', message: `Rotating the database log failed: ${(error as Error).message}` })
    }
  }

  async function restartDatabase(firstDelayMs: number): Promise<ClusterLock | undefined> {
    const startedAt = performance.now()
    for (let delayMs = firstDelayMs; ; delayMs = Math.min(5_000, Math.max(200, delayMs * 2))) {
      try {
        await pause(delayMs, undefined, { signal: stopController.signal })
        const newLock = await connectOrStart(cluster, connectOptions)
        log({ level: 'info', message: 'The database is running again.', ms: Math.round(performance.now() - startedAt) })
        return newLock
      } catch (error) {
        if (stopController.signal.aborted) return undefined
        const { message } = error as Error
        log({ level: 'error', message })
        if (errorCodeOf(error) === 'IN_USE') {
          options.onTakenOver?.(error as Error)
          return undefined
        }
      }
    }
  }

  async function stopAsServer(): Promise<void> {
    stopController.abort()
    await watchEnded
    if (await isLockHeld()) logStop(await stopPostmaster(cluster.paths, stopTimeouts))
    await lock.close()
  }

  /** Returns false if the database was down and another server has taken it over. */
  async function isLockHeld(): Promise<boolean> {
    if (lock.isHeld()) return true
    try {
      lock = await openClusterLock({ ...cluster, role })
    } catch (error) {
      return errorCodeOf(error) !== 'IN_USE'
    }
    return true
  }

  async function stopAsCommand(): Promise<void> {
    // If the database crashed, the connection is lost, but another process may have restarted the database.
    const isLastUser = await lock
      .lockIfLast()
      .catch(async () => {
        lock = await openClusterLock({ ...cluster, role })
        return lock.lockIfLast()
      })
      .catch(() => false)
    if (isLastUser) logStop(await stopPostmaster(cluster.paths, stopTimeouts))
    await lock.close()
  }

  function logStop(outcome: Awaited<ReturnType<typeof stopPostmaster>>): void {
    if (outcome === 'killed') log({ level: 'warn', message: 'PostgreSQL did not stop in time and was killed.' })
  }
}

async function openCluster({ dataDir, progress, onWaiting, machine }: EmbeddedPostgresOptions): Promise<Cluster> {
  let folder: string
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    folder = realpathSync(dataDir)
  } catch (error) {
    throw new PostgresFailure('CANNOT_RUN', `The data folder ${dataDir} cannot be used: ${(error as Error).message}`)
  }
  const paths = clusterPaths(folder)
  let tools: ReturnType<Cluster['tools']> | undefined
  const loadTools = () => {
    if (tools) return tools
    const launch = chooseLauncher({ clusterOwner: clusterOwner(paths), rootMethod: machine?.rootMethod })
    const binaries = findBinaries(launch, {
      packageFolder: machine?.packageFolder,
      privateFolder: folder,
      sharedFolders: machine?.sharedFolders ?? ['/var/lib', '/var/tmp', tmpdir()],
    })
    tools = { launch, binaries }
    return tools
  }
  if (!clusterExists(paths)) {
    progress?.('Preparing the database (first start only)…')
    const created = createCluster(paths, loadTools().binaries, loadTools().launch)
    onWaiting?.()
    await created
  }
  return {
    dataDir,
    paths,
    host: socketFolder(paths.data, machine?.temporaryFolders ?? [tmpdir()]),
    password: readPassword(paths),
    database: databaseName,
    tools: loadTools,
  }
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
