// Starts and stops a postmaster process.
import type { ChildProcess } from 'node:child_process'
import { closeSync, fchownSync, openSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Binaries } from './binaries.ts'
import { type ClusterPaths, prepareStart } from './cluster.ts'
import type { Launcher } from './launch.ts'
import { logSize, readLog, rotateLog } from './log-file.ts'
import { runningPostmaster } from './pid-file.ts'
import { clusterName, isRunning, type ProcessIdentity, postgresProcesses, sendSignal } from './processes.ts'
import { fixedArguments } from './settings.ts'

export interface StartedPostmaster {
  isRunning(): boolean
  /** Returns why the postmaster exited. */
  error(): string
  /** Stops the postmaster, even during its startup. */
  stop(): Promise<void>
}

/** Time after which a postmaster that does not stop during its startup is killed. */
const FAST_STOP_TIMEOUT_MS = 10_000

/** Starts a postmaster. The caller checks whether it becomes ready; the postmaster exits if another one is running. */
export function startPostmaster(
  paths: ClusterPaths,
  binaries: Binaries,
  launch: Launcher,
  options: { starter: string; endWithParent: boolean },
): StartedPostmaster {
  prepareStart(paths, launch)
  rotateLog(paths.logFile)
  const logStart = logSize(paths.logFile)
  const logDescriptor = openSync(paths.logFile, 'a', 0o600)
  if (launch.owner) fchownSync(logDescriptor, launch.owner.uid, launch.owner.gid)
  let child: ChildProcess
  try {
    child = launch.start(
      binaries.postgres,
      ['-D', launch.programPath(paths.data), ...fixedArguments(clusterName(paths.data), options.starter)],
      {
        cwd: paths.data,
        stdio: ['ignore', logDescriptor, logDescriptor],
        endWithParent: options.endWithParent,
      },
    )
  } finally {
    closeSync(logDescriptor)
  }
  let failure: string | undefined
  child.once('error', (error) => {
    failure = error.message
  })
  // The running postmaster must not keep this process alive; only the connection to it does.
  child.unref()
  const isChildRunning = () => failure === undefined && child.exitCode === null && child.signalCode === null
  return {
    isRunning: isChildRunning,
    error: () => failure ?? lastErrorLine(readLog(paths.logFile, logStart)) ?? `it exited with ${child.exitCode}`,
    async stop() {
      if (!isChildRunning()) return
      child.kill('SIGINT')
      for (let waitedMs = 0; isChildRunning(); waitedMs += 20) {
        if (waitedMs === FAST_STOP_TIMEOUT_MS) child.kill('SIGKILL')
        await pause(20)
      }
    },
  }
}

export interface StopTimeouts {
  /** Timeout of a fast shutdown, which ends sessions and flushes to disk. */
  fastMs: number
  /** Timeout of an immediate shutdown, which requires recovery at the next start. */
  immediateMs: number
}

/** Shuts the cluster's postmaster down, no matter which process started it, and returns when none of its processes is left. */
export async function stopPostmaster(
  paths: ClusterPaths,
  timeouts: StopTimeouts,
): Promise<'stopped' | 'killed' | 'absent'> {
  const postmasterProcess = runningPostmaster(paths.data)
  if (!postmasterProcess) return 'absent'
  sendSignal(postmasterProcess, 'SIGINT')
  if (await waitForExit(paths, postmasterProcess, timeouts.fastMs)) return 'stopped'
  sendSignal(postmasterProcess, 'SIGQUIT')
  if (await waitForExit(paths, postmasterProcess, timeouts.immediateMs)) return 'killed'
  sendSignal(postmasterProcess, 'SIGKILL')
  for (const backend of postgresProcesses(paths.data)) sendSignal(backend, 'SIGKILL')
  await waitForExit(paths, postmasterProcess, timeouts.immediateMs)
  return 'killed'
}

async function waitForExit(paths: ClusterPaths, postmaster: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  for (
    let delayMs = 5;
    isRunning(postmaster) || postgresProcesses(paths.data).length > 0;
    delayMs = Math.min(delayMs * 1.5, 100)
  ) {
    if (performance.now() > deadline) return false
    await pause(delayMs)
  }
  return true
}

function lastErrorLine(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.trim() !== '')
  const errorLine = lines.findLast((line) => /FATAL|PANIC|error/.test(line)) ?? lines.at(-1)
  return errorLine?.replace(/^.*?(FATAL|PANIC): +/, '')
}
