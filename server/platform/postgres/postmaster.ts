// One postmaster process from its start to its end.
import type { ChildProcess } from 'node:child_process'
import { closeSync, fchownSync, openSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import { type ClusterPlace, prepareStart } from './cluster.ts'
import type { Launch } from './launch.ts'
import { boundLog, logSize, readLog } from './log-file.ts'
import { runningPostmaster } from './pid-file.ts'
import { clusterName, lives, type Mark, postgresOf, signal } from './processes.ts'
import { fixedArguments } from './settings.ts'

export interface StartedPostmaster {
  running(): boolean
  /** Why it ended. */
  complaint(): string
  /** Ends it, however far it has come. */
  end(): Promise<void>
}

/** Starts a postmaster; whether it comes up, and does not find another there, is for the caller to see. */
export function startPostmaster(
  place: ClusterPlace,
  binaries: Binaries,
  launch: Launch,
  options: { starter: string; endWithUs: boolean },
): StartedPostmaster {
  prepareStart(place, launch)
  boundLog(place.logFile)
  const logFrom = logSize(place.logFile)
  const log = openSync(place.logFile, 'a', 0o600)
  if (launch.owner) fchownSync(log, launch.owner.uid, launch.owner.gid)
  let child: ChildProcess
  try {
    child = launch.start(
      binaries.postgres,
      ['-D', launch.here(place.data), ...fixedArguments(clusterName(place.data), options.starter)],
      {
        cwd: place.data,
        stdio: ['ignore', log, log],
        endWithUs: options.endWithUs,
      },
    )
  } finally {
    closeSync(log)
  }
  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  // Our connection to it is what keeps this process going, not the postmaster itself.
  child.unref()
  const running = () => failure === undefined && child.exitCode === null && child.signalCode === null
  return {
    running,
    complaint: () => failure ?? lastComplaint(readLog(place.logFile, logFrom)) ?? `it ended with ${child.exitCode}`,
    async end() {
      if (!running()) return
      child.kill('SIGINT')
      for (let waited = 0; running(); waited += 20) {
        if (waited === 10_000) child.kill('SIGKILL')
        await pause(20)
      }
    },
  }
}

export interface Patience {
  /** For a fast shutdown, which ends sessions and writes everything down. */
  fastMs: number
  /** For an immediate one, which leaves the rest to recovery. */
  immediateMs: number
}

/** Shuts the cluster's postmaster down, whoever started it, and returns when no process of it is left. */
export async function stopPostmaster(
  place: ClusterPlace,
  patience: Patience,
): Promise<'stopped' | 'killed' | 'absent'> {
  const postmaster = runningPostmaster(place.data)
  if (!postmaster) return 'absent'
  signal(postmaster, 'SIGINT')
  if (await gone(place, postmaster, patience.fastMs)) return 'stopped'
  signal(postmaster, 'SIGQUIT')
  if (await gone(place, postmaster, patience.immediateMs)) return 'killed'
  signal(postmaster, 'SIGKILL')
  for (const rest of postgresOf(place.data)) signal(rest, 'SIGKILL')
  await gone(place, postmaster, patience.immediateMs)
  return 'killed'
}

async function gone(place: ClusterPlace, postmaster: Mark, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs
  for (let wait = 5; lives(postmaster) || postgresOf(place.data).length > 0; wait = Math.min(wait * 1.5, 100)) {
    if (performance.now() > until) return false
    await pause(wait)
  }
  return true
}

function lastComplaint(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.trim() !== '')
  const told = lines.findLast((line) => /FATAL|PANIC|error/.test(line)) ?? lines.at(-1)
  return told?.replace(/^.*?(FATAL|PANIC): +/, '')
}
