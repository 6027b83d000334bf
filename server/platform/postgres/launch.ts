// Runs PostgreSQL programs: PostgreSQL does not run as root, and must not outlive a server that is killed.
import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** How root runs PostgreSQL: in a user namespace that maps root to nobody, or as another user. */
export type RootMethod = 'unshare' | 'setuid'

export interface Launcher {
  method: 'plain' | RootMethod
  /** Required owner of the cluster's files, if it is another user. */
  owner?: { uid: number; gid: number }
  /** Whether the program accesses its files through links in /proc/self, regardless of the permissions of the parent folders. */
  usesProcLink: boolean
  /** Returns the path at which the program can access the folder that it is started in. */
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

const nobodyUser = { uid: 65534, gid: 65534 }
const unshareCommand = ['unshare', '--user', `--map-user=${nobodyUser.uid}`, `--map-group=${nobodyUser.gid}`, '--']
const setParentDeathSignalCommand = ['setpriv', '--pdeathsig', 'INT', '--']
// PostgreSQL does not inherit the environment of this process: no locale, no PG* variable, no preloaded library.
const postgresEnvironment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

export function chooseLauncher(options: {
  /** Owner of the cluster's files, if the cluster exists. */
  clusterOwner?: { uid: number; gid: number }
  rootMethod?: RootMethod
}): Launcher {
  if (process.getuid?.() !== 0) return createLauncher('plain')
  const { clusterOwner } = options
  // A cluster of a non-root user stays theirs: root runs PostgreSQL as that user.
  if (clusterOwner && clusterOwner.uid !== 0) return createLauncher('setuid', clusterOwner)
  const method = options.rootMethod ?? (exitsSuccessfully([...unshareCommand, 'true']) ? 'unshare' : 'setuid')
  return createLauncher(method, method === 'setuid' ? nobodyUser : undefined)
}

function createLauncher(method: Launcher['method'], owner?: { uid: number; gid: number }): Launcher {
  const methodPrefix = method === 'unshare' ? unshareCommand : []
  const spawnOptions = (program: string): SpawnOptions => ({
    env: { ...postgresEnvironment, ...libraryEnvironment(program) },
    ...owner,
  })
  const canEndWithParent = exitsSuccessfully([...setParentDeathSignalCommand, 'true'])
  // Another user may lack access to the parent folders (a home with mode 0700); this link bypasses them.
  const canUseProc = method !== 'plain' && existsSync('/proc/self/cwd')

  return {
    method,
    owner,
    usesProcLink: canUseProc,
    programPath: (folder) => (canUseProc ? '/proc/self/cwd' : folder),
    start(program, args, { cwd, stdio, endWithParent }) {
      // setpriv comes last: a change of user would reset the parent death signal.
      const commandPrefix = [...methodPrefix, ...(endWithParent && canEndWithParent ? setParentDeathSignalCommand : [])]
      const [file, ...rest] = [...commandPrefix, program, ...args]
      // Detached, so that Ctrl-C in a terminal does not reach the database before the server has drained.
      return spawn(file!, rest, { ...spawnOptions(program), cwd, stdio, detached: true })
    },
    tryRun(program, args) {
      const [file, ...rest] = [...methodPrefix, program, ...args]
      const result = spawnSync(file!, rest, { ...spawnOptions(program), cwd: '/', encoding: 'utf8', timeout: 10_000 })
      return result.status === 0 ? undefined : (result.error?.message ?? String(result.stderr)).trim()
    },
  }
}

/** The programs locate their libraries through /proc; without it, they need LD_LIBRARY_PATH. */
function libraryEnvironment(program: string): Record<string, string> {
  if (process.platform !== 'linux' || existsSync('/proc/self/exe')) return {}
  return { LD_LIBRARY_PATH: join(dirname(program), '..', 'lib') }
}

function exitsSuccessfully([file, ...args]: string[]): boolean {
  return spawnSync(file!, args, { env: postgresEnvironment, stdio: 'ignore', timeout: 10_000 }).status === 0
}
