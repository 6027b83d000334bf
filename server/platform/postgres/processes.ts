// What runs on this machine. A pid alone says little: it may be reused by a stranger, or be a zombie that nobody reaped.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'

/** A pid and the moment its process began, so that a reused pid is not mistaken for it. */
export type Mark = string

const procfs = readText('/proc/self/stat') !== undefined

/** Names a living process; undefined when there is none, or only a zombie. */
export function markOf(pid: number): Mark | undefined {
  if (!procfs) return answersSignals(pid) ? `${pid}/0` : undefined
  const stat = readText(`/proc/${pid}/stat`)
  if (stat === undefined) return undefined
  // The command in parentheses may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${pid}/${fields[19]}`
}

export function lives(mark: Mark): boolean {
  return markOf(pidOf(mark)) === mark
}

export function pidOf(mark: Mark): number {
  return Number.parseInt(mark, 10)
}

/** Whether a process, ours or a stranger's or a zombie, has this pid: what PostgreSQL itself looks at in a lock file. */
export function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The name that all processes of a cluster carry in their command lines, different for a copy of the same folder. */
export function clusterName(dataFolder: string): string {
  const { dev, ino } = statSync(dataFolder, { bigint: true })
  return `attestry-${dev}-${ino}`
}

/** Whether this living process is a PostgreSQL of the given data folder. */
export function isPostgresOf(pid: number, dataFolder: string): boolean {
  const command = commandOf(pid)
  // A machine with neither /proc nor ps tells nothing; then the pid has to do.
  if (!procfs && command === '') return answersSignals(pid)
  return markOf(pid) !== undefined && bears(command, dataFolder)
}

/** All processes of the cluster, orphans of a killed postmaster included. */
export function postgresOf(dataFolder: string): Mark[] {
  return allPids()
    .filter((pid) => isPostgresOf(pid, dataFolder))
    .flatMap((pid) => markOf(pid) ?? [])
}

/** Sends a signal to the process that was meant and to no other. */
export function signal(mark: Mark, name: NodeJS.Signals): void {
  if (!lives(mark)) return
  try {
    process.kill(pidOf(mark), name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

// The command line is what anyone may read. The working folder and the program would say it too, but not to root in a container.
function bears(command: string, dataFolder: string): boolean {
  const name = clusterName(dataFolder)
  if (command.startsWith(`postgres: ${name}:`)) return true
  const setting = `cluster_name=${name}`
  // Arguments end with a NUL; only ps, which has none to show, leaves it open where a path with spaces ends.
  const [program = '', ...args] = command.split('\0')
  if (args.length === 0) return /(^|\/)postgres /.test(command) && command.split(' ').includes(setting)
  return basename(program) === 'postgres' && args.includes(setting)
}

function commandOf(pid: number): string {
  return procfs ? (readText(`/proc/${pid}/cmdline`) ?? '') : ps('-o', 'command=', '-p', String(pid))
}

function allPids(): number[] {
  const names = procfs ? readdirSync('/proc') : ps('-ax', '-o', 'pid=').split('\n')
  return names.map(Number).filter((pid) => pid > 0)
}

function ps(...args: string[]): string {
  return spawnSync('/bin/ps', args, { encoding: 'utf8' }).stdout ?? ''
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
