// Connects to the cluster: joins a running postmaster or starts one, and waits until that is possible.
import { setTimeout as pause } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import { type ClusterPaths, checkVersion } from './cluster.ts'
import {
  type ClusterLock,
  NotListeningError,
  NotReadyError,
  openClusterLock,
  type ProcessRole,
  starterText,
} from './cluster-lock.ts'
import { PostgresFailure } from './failure.ts'
import type { Launcher } from './launch.ts'
import { removeStaleLocks, runningPostmaster } from './pid-file.ts'
import { type StartedPostmaster, startPostmaster } from './postmaster.ts'
import { type ProcessIdentity, pidOf, postgresProcesses, sendSignal } from './processes.ts'

export type PostgresLog = (line: { level: 'info' | 'warn' | 'error'; message: string; [key: string]: unknown }) => void

export interface Cluster {
  dataDir: string
  paths: ClusterPaths
  host: string
  password: string
  database: string
  /** Returns the programs and how to run them. Detected only when a postmaster has to be started. */
  tools(): { binaries: Binaries; launch: Launcher }
}

export interface ConnectOptions {
  role: ProcessRole
  log: PostgresLog
  progress?: ((text: string) => void) | undefined
  onWaiting?: (() => void) | undefined
  cancel: AbortSignal
}

/** How long to wait while the reason for waiting stays the same. */
const WAIT_TIMEOUT_MS = 30_000
/** How long to wait for a postmaster that reports that it is starting up or shutting down. */
const TRANSITION_TIMEOUT_MS = 10 * 60_000
/** Orphans of a killed postmaster normally exit by themselves, unless they are running a query. */
const ORPHAN_TIMEOUT_MS = 2_000
/** Errors of a postmaster that found another running postmaster, or orphans of a killed one; a retry may succeed. */
const TRANSIENT_ERRORS = /lock file .* (already exists|is empty)|shared memory block .* (is )?still in use/

export async function connectOrStart(cluster: Cluster, options: ConnectOptions): Promise<ClusterLock> {
  const waitTracker = new WaitTracker(options.progress)
  const orphans = new Orphans(cluster.paths.data, options.log)
  let started: StartedPostmaster | undefined
  try {
    for (let delayMs = 5; ; delayMs = Math.min(delayMs * 1.3, 50)) {
      options.cancel.throwIfAborted()
      try {
        return await openClusterLock({ ...cluster, role: options.role })
      } catch (error) {
        if (error instanceof NotReadyError)
          waitTracker.track(error.message, error.inTransition ? TRANSITION_TIMEOUT_MS : WAIT_TIMEOUT_MS)
        else if (!(error instanceof NotListeningError)) throw error
        else if (!started?.isRunning()) {
          if (started) waitTracker.track(transientError(started, cluster), WAIT_TIMEOUT_MS)
          started = startIfPossible(cluster, options, waitTracker, orphans)
        }
      }
      await pause(delayMs, undefined, { signal: options.cancel })
    }
  } catch (error) {
    // If another server uses the folder, it still needs the postmaster; otherwise no process needs it.
    if (!(error instanceof PostgresFailure && error.code === 'IN_USE')) await started?.stop()
    throw error
  }
}

/** Starts a postmaster if no process of the cluster is running. */
function startIfPossible(
  cluster: Cluster,
  { role, log, onWaiting }: ConnectOptions,
  waitTracker: WaitTracker,
  orphans: Orphans,
): StartedPostmaster | undefined {
  const { paths } = cluster
  const postmaster = runningPostmaster(paths.data)
  if (postmaster) {
    waitTracker.track(
      `PostgreSQL (pid ${pidOf(postmaster)}) is running but does not accept connections`,
      WAIT_TIMEOUT_MS,
    )
    return undefined
  }
  if (orphans.anyRemain()) {
    waitTracker.track('processes of a killed PostgreSQL are still running', WAIT_TIMEOUT_MS)
    return undefined
  }
  for (const name of removeStaleLocks(paths.data))
    log({ level: 'warn', message: `Removed the stale lock file ${name}.` })
  const { binaries, launch } = cluster.tools()
  checkVersion(paths, binaries)
  const started = startPostmaster(paths, binaries, launch, {
    starter: starterText(role),
    endWithParent: role === 'server',
  })
  onWaiting?.()
  return started
}

/** Returns the error of a postmaster that exited; throws if a retry cannot succeed. */
function transientError(started: StartedPostmaster, { paths }: Cluster): string {
  const error = started.error()
  if (TRANSIENT_ERRORS.test(error)) return error
  throw new PostgresFailure('CANNOT_RUN', `PostgreSQL does not start: ${error} (see ${paths.logFile})`)
}

/** Tracks the reason for waiting and since when; shows the reason to the user after a second and throws after the timeout. */
class WaitTracker {
  #reason = ''
  #since = 0
  #shown = false
  readonly #progress: ((text: string) => void) | undefined

  constructor(progress?: (text: string) => void) {
    this.#progress = progress
  }

  track(reason: string, timeoutMs: number): void {
    const now = performance.now()
    if (reason !== this.#reason) {
      this.#reason = reason
      this.#since = now
      this.#shown = false
    }
    const waitedMs = now - this.#since
    if (waitedMs > timeoutMs) {
      throw new PostgresFailure(
        'TIMEOUT',
        `Connecting to the database timed out after ${Math.round(waitedMs / 1000)} s: ${reason}.`,
      )
    }
    if (waitedMs > 1_000 && !this.#shown) {
      this.#shown = true
      this.#progress?.(`Waiting for the database: ${reason}…`)
    }
  }
}

/** Backends whose postmaster is dead. They hold the shared memory, and no postmaster can start while they run. */
class Orphans {
  readonly #dataFolder: string
  readonly #log: PostgresLog
  /** Time at which each orphan was first seen. */
  #firstSeenAt = new Map<ProcessIdentity, number>()

  constructor(dataFolder: string, log: PostgresLog) {
    this.#dataFolder = dataFolder
    this.#log = log
  }

  /** Returns whether there are orphans, and kills those that have not exited within ORPHAN_TIMEOUT_MS. Must be called only when no postmaster is running. */
  anyRemain(): boolean {
    const now = performance.now()
    const orphanedProcesses = postgresProcesses(this.#dataFolder)
    this.#firstSeenAt = new Map(orphanedProcesses.map((identity) => [identity, this.#firstSeenAt.get(identity) ?? now]))
    for (const [identity, firstSeenAt] of this.#firstSeenAt) {
      if (now - firstSeenAt < ORPHAN_TIMEOUT_MS) continue
      this.#log({
        level: 'warn',
        message: `Killing the orphaned PostgreSQL process ${pidOf(identity)}: its postmaster is no longer running.`,
      })
      sendSignal(identity, 'SIGKILL')
    }
    return orphanedProcesses.length > 0
  }
}
