// Runs PostgreSQL programs: PostgreSQL does not run as root, and must not outlive a server that is killed.
import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How root runs PostgreSQL: in a user namespace that maps root to nobody, or as another user. */
export type RootMethod = 'unshare' | 'setuid'

export interface Launch {
  method: 'plain' | RootMethod
  /** Required owner of the cluster's files, if it is another user. */
  owner?: { uid: number; gid: number }
  /** The program accesses its files through /proc/self, regardless of the permissions of the parent folders. */
  throughProc: boolean
  /** Returns the path under which the program can access the folder that it is started in. */
  programPath(folder: string): string
  start(program: string, args: string[], options: StartOptions): ChildProcess
  /** Runs the program and returns its error, or undefined if it succeeds. */
  tryRun(program: string, args: string[]): string | undefined
}

interface StartOptions {
  cwd: string
  stdio: StdioOptions
  /** Sends SIGINT to the program when this process ends, even if it is killed. */
  endWithParent: boolean
}

const nobody = { uid: 65534, gid: 65534 }
const unshare = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, '--']
const setParentDeathSignal = ['setpriv', '--pdeathsig', 'INT', '--']
// PostgreSQL does not inherit our environment: no locale, no PG* variable, no preloaded library.
const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

export function chooseLaunch(options: {
  /** Owner of the cluster's files, if the cluster exists. */
  clusterOwner?: { uid: number; gid: number }
  rootMethod?: RootMethod
}): Launch {
  if (process.getuid?.() !== 0) return createLaunch('plain')
  const { clusterOwner } = options
  // A cluster of a non-root user stays theirs: root runs PostgreSQL as that user.
  if (clusterOwner && clusterOwner.uid !== 0) return createLaunch('setuid', clusterOwner)
  const method = options.rootMethod ?? (exitsSuccessfully([...unshare, 'true']) ? 'unshare' : 'setuid')
  return createLaunch(method, method === 'setuid' ? nobody : undefined)
}

function createLaunch(method: Launch['method'], owner?: { uid: number; gid: number }): Launch {
  const prefix = method === 'unshare' ? unshare : []
  const common = (program: string): SpawnOptions => ({ env: { ...env, ...librariesFor(program) }, ...owner })
  const canEndWithParent = exitsSuccessfully([...setParentDeathSignal, 'true'])
  // Another user may lack access to the parent folders (a home with mode 0700); this link bypasses them.
  const throughProc = method !== 'plain' && existsSync('/proc/self/cwd')

  return {
    method,
    owner,
    throughProc,
    programPath: (folder) => (throughProc ? '/proc/self/cwd' : folder),
    start(program, args, { cwd, stdio, endWithParent }) {
      // setpriv comes last: a change of user would reset the parent death signal.
      const prefixes = [...prefix, ...(endWithParent && canEndWithParent ? setParentDeathSignal : [])]
      const [file, ...rest] = [...prefixes, program, ...args]
      // Detached, so that Ctrl-C in a terminal does not reach the database before the server has drained.
      return spawn(file!, rest, { ...common(program), cwd, stdio, detached: true })
    },
    tryRun(program, args) {
      const [file, ...rest] = [...prefix, program, ...args]
      const run = spawnSync(file!, rest, { ...common(program), cwd: '/', encoding: 'utf8', timeout: 10_000 })
      return run.status === 0 ? undefined : (run.error?.message ?? String(run.stderr)).trim()
    },
  }
}

/** The programs locate their libraries through /proc; without it, they need LD_LIBRARY_PATH. */
function librariesFor(program: string): Record<string, string> {
  if (process.platform !== 'linux' || existsSync('/proc/self/exe')) return {}
  return { LD_LIBRARY_PATH: join(dirname(program), '..', 'lib') }
}

function exitsSuccessfully([file, ...args]: string[]): boolean {
  return spawnSync(file!, args, { env, stdio: 'ignore', timeout: 10_000 }).status === 0
}
