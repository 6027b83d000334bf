// From whatever state the cluster is in to a connection: join the postmaster that runs, or start one, or wait until that is possible.
import { setTimeout as pause } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import { type ClusterPlace, checkVersion } from './cluster.ts'
import { PostgresFailure } from './failure.ts'
import { Absent, Busy, type Keeper, openKeeper, type Role, starterText } from './keeper.ts'
import type { Launch } from './launch.ts'
import { removeStaleLocks, runningPostmaster } from './pid-file.ts'
import { type StartedPostmaster, startPostmaster } from './postmaster.ts'
import { type Mark, pidOf, postgresOf, signal } from './processes.ts'

export type Log = (line: { level: 'info' | 'warn' | 'error'; message: string; [key: string]: unknown }) => void

export interface Cluster {
  dataDir: string
  place: ClusterPlace
  host: string
  password: string
  database: string
  /** Found only when something has to be started. */
  tools(): { binaries: Binaries; launch: Launch }
}

export interface ReachOptions {
  role: Role
  log: Log
  progress?: (text: string) => void
  cancel: AbortSignal
}

/** How long one and the same obstacle may last. */
const patienceMs = 30_000
/** The same for a postmaster that says that it is starting or stopping. */
const longPatienceMs = 10 * 60_000
/** Orphans of a killed postmaster see that by themselves, unless they are deep in a query. */
const orphanMs = 2_000
/** Said by a postmaster that found another one, or the remains of one: no reason to give up. */
const passing = /lock file .* already exists|shared memory block .* (is )?still in use/

export async function reach(cluster: Cluster, options: ReachOptions): Promise<Keeper> {
  const obstacle = new Obstacle(options.progress)
  const orphans = new Orphans(cluster.place.data, options.log)
  let started: StartedPostmaster | undefined
  try {
    for (let wait = 5; ; wait = Math.min(wait * 1.3, 50)) {
      options.cancel.throwIfAborted()
      try {
        return await openKeeper({ ...cluster, role: options.role })
      } catch (error) {
        if (error instanceof Busy) obstacle.meet(error.message, error.onItsWay ? longPatienceMs : patienceMs)
        else if (!(error instanceof Absent)) throw error
        else if (!started?.running()) {
          if (started) obstacle.meet(excuseOf(started, cluster), patienceMs)
          started = startUnlessTaken(cluster, options, obstacle, orphans)
        }
      }
      await pause(wait, undefined, { signal: options.cancel })
    }
  } catch (error) {
    // Whoever owns the folder goes on with the postmaster; in all other cases nobody would.
    if (!(error instanceof PostgresFailure && error.code === 'IN_USE')) await started?.end()
    throw error
  }
}

/** Starts a postmaster if nothing of the cluster runs any more. */
function startUnlessTaken(
  cluster: Cluster,
  { role, log }: ReachOptions,
  obstacle: Obstacle,
  orphans: Orphans,
): StartedPostmaster | undefined {
  const { place } = cluster
  const running = runningPostmaster(place.data)
  if (running) {
    obstacle.meet(`PostgreSQL (pid ${pidOf(running)}) runs and does not listen`, patienceMs)
    return undefined
  }
  if (orphans.remain()) {
    obstacle.meet('processes of a PostgreSQL that was killed are still there', patienceMs)
    return undefined
  }
  for (const name of removeStaleLocks(place.data))
    log({ level: 'warn', message: `Removed the stale lock file ${name}.` })
  const { binaries, launch } = cluster.tools()
  checkVersion(place, binaries)
  return startPostmaster(place, binaries, launch, { starter: starterText(role), endWithUs: role === 'owner' })
}

function excuseOf(started: StartedPostmaster, { place }: Cluster): string {
  const complaint = started.complaint()
  if (passing.test(complaint)) return complaint
  throw new PostgresFailure('CANNOT_RUN', `PostgreSQL does not start: ${complaint} (more in ${place.logFile})`)
}

/** What stands in the way, for how long already, and whether the user was told. */
class Obstacle {
  #text = ''
  #since = 0
  #told = false
  readonly #progress: ((text: string) => void) | undefined

  constructor(progress?: (text: string) => void) {
    this.#progress = progress
  }

  meet(text: string, patience: number): void {
    const now = performance.now()
    if (text !== this.#text) {
      this.#text = text
      this.#since = now
      this.#told = false
    }
    const lasted = now - this.#since
    if (lasted > patience) {
      throw new PostgresFailure(
        'NO_ANSWER',
        `The database could not be reached within ${Math.round(lasted / 1000)} s: ${text}.`,
      )
    }
    if (lasted > 1_000 && !this.#told) {
      this.#told = true
      this.#progress?.(`Waiting for the database: ${text}…`)
    }
  }
}

/** Backends whose postmaster is dead. They hold the shared memory, and no new postmaster may start beside them. */
class Orphans {
  readonly #data: string
  readonly #log: Log
  #seen = new Map<Mark, number>()

  constructor(data: string, log: Log) {
    this.#data = data
    this.#log = log
  }

  /** To be asked only when no postmaster runs; ends those that were seen for too long. */
  remain(): boolean {
    const now = performance.now()
    const there = postgresOf(this.#data)
    this.#seen = new Map(there.map((mark) => [mark, this.#seen.get(mark) ?? now]))
    for (const [mark, since] of this.#seen) {
      if (now - since < orphanMs) continue
      this.#log({ level: 'warn', message: `Ending process ${pidOf(mark)} of a PostgreSQL that was killed.` })
      signal(mark, 'SIGKILL')
    }
    return there.length > 0
  }
}
