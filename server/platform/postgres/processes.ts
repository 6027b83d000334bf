// Finds processes. A pid alone is ambiguous: it may have been reused by an unrelated process, or belong to a zombie.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'

/** A pid and the start time of its process, so that a reused pid is not mistaken for it. */
export type ProcessIdentity = string

const hasProcfs = readText('/proc/self/stat') !== undefined

/** Returns the identity of a running process; undefined if there is none, or only a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!hasProcfs) return canSignal(pid) ? `${pid}/0` : undefined
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The command in parentheses may contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startTime] = [fields[0], fields[19]]
  return state === 'Z' || state === 'X' ? undefined : `${pid}/${startTime}`
}

export function isRunning(identity: ProcessIdentity): boolean {
  return identifyProcess(pidOf(identity)) === identity
}

export function pidOf(identity: ProcessIdentity): number {
  return Number.parseInt(identity, 10)
}

/** Returns whether any process, even a zombie, has this pid: the check that PostgreSQL applies to lock files. */
export function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Returns the name in the command lines of all processes of a cluster; a copy of the folder has a different one. */
export function clusterName(dataFolder: string): string {
  const { dev, ino } = statSync(dataFolder, { bigint: true })
  return `attestry-${dev}-${ino}`
}

/** Returns whether this running process is a PostgreSQL of the given data folder. */
export function isPostgresOf(pid: number, dataFolder: string): boolean {
  const command = commandLineOf(pid)
  // Without /proc and ps, only the pid can be checked.
  if (!hasProcfs && command === '') return canSignal(pid)
  return commandMatches(command, dataFolder) && identifyProcess(pid) !== undefined
}

/** Returns all processes of the cluster, including orphans of a killed postmaster. */
export function postgresProcesses(dataFolder: string): ProcessIdentity[] {
  return allPids()
    .filter((pid) => isPostgresOf(pid, dataFolder))
    .flatMap((pid) => identifyProcess(pid) ?? [])
}

/** Sends a signal to a process, unless its pid has been reused. */
export function sendSignal(identity: ProcessIdentity, name: NodeJS.Signals): void {
  if (!isRunning(identity)) return
  try {
    process.kill(pidOf(identity), name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

// Every user can read the command line, but root in a container cannot read the working directory and the program file.
function commandMatches(command: string, dataFolder: string): boolean {
  const name = clusterName(dataFolder)
  if (command.startsWith(`postgres: ${name}:`)) return true
  const clusterNameSetting = `cluster_name=${name}`
  // In /proc, arguments end with a NUL; ps separates them with spaces, which a path may contain, too.
  const [program = '', ...args] = command.split('\0')
  if (args.length === 0) return /(^|\/)postgres /.test(command) && command.split(' ').includes(clusterNameSetting)
  return basename(program) === 'postgres' && args.includes(clusterNameSetting)
}

function commandLineOf(pid: number): string {
  return hasProcfs ? (readText(`/proc/${pid}/cmdline`) ?? '') : runPs('-o', 'command=', '-p', String(pid))
}

function allPids(): number[] {
  const names = hasProcfs ? readdirSync('/proc') : runPs('-ax', '-o', 'pid=').split('\n')
  return names.map(Number).filter((pid) => pid > 0)
}

function runPs(...args: string[]): string {
  return spawnSync('/bin/ps', args, { encoding: 'utf8' }).stdout ?? ''
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
