// How programs of PostgreSQL are run: it refuses to run as root, and must not outlive a server that was killed.
import { type ChildProcess, type SpawnOptions, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** As root: a user namespace in which root is nobody, or really as another user. */
export type RootMethod = 'unshare' | 'setuid'

export interface Launch {
  how: 'plain' | RootMethod
  /** Whom the files of the cluster must belong to when that is not us. */
  owner?: { uid: number; gid: number }
  /** The program gets at its files through /proc/self, and so whatever the folders above allow. */
  throughProc: boolean
  /** The name under which the program finds the folder that it is started in. */
  here(folder: string): string
  start(program: string, args: string[], options: StartOptions): ChildProcess
  /** Whether the program can be run at all; the text is why not. */
  refusal(program: string, args: string[]): string | undefined
}

interface StartOptions {
  cwd: string
  stdio: StdioOptions
  /** End it with SIGINT when this process ends in whatever way. */
  endWithUs: boolean
}

const nobody = { uid: 65534, gid: 65534 }
const unshare = ['unshare', '--user', `--map-user=${nobody.uid}`, `--map-group=${nobody.gid}`, '--']
const endWithParent = ['setpriv', '--pdeathsig', 'INT', '--']
// Nothing of our own environment reaches PostgreSQL: no locale, no PG* variable, no preloaded library.
const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

export function chooseLaunch(options: {
  /** Who owns the cluster, if there is one. */
  clusterOwner?: { uid: number; gid: number }
  rootMethod?: RootMethod
}): Launch {
  if (process.getuid?.() !== 0) return makeLaunch('plain')
  const { clusterOwner } = options
  // A cluster of an ordinary user stays theirs: root works on it in their name.
  if (clusterOwner && clusterOwner.uid !== 0) return makeLaunch('setuid', clusterOwner)
  const how = options.rootMethod ?? (works([...unshare, 'true']) ? 'unshare' : 'setuid')
  return makeLaunch(how, how === 'setuid' ? nobody : undefined)
}

function makeLaunch(how: Launch['how'], owner?: { uid: number; gid: number }): Launch {
  const prefix = how === 'unshare' ? unshare : []
  const common = (program: string): SpawnOptions => ({ env: { ...env, ...librariesFor(program) }, ...owner })
  const canEndWithParent = works([...endWithParent, 'true'])
  // Another user may not pass through the folders above (a home with mode 0700); this link leads straight there.
  const throughProc = how !== 'plain' && existsSync('/proc/self/cwd')

  return {
    how,
    owner,
    throughProc,
    here: (folder) => (throughProc ? '/proc/self/cwd' : folder),
    start(program, args, { cwd, stdio, endWithUs }) {
      // setpriv comes last: a change of user would clear what it sets.
      const [file, ...rest] = [...prefix, ...(endWithUs && canEndWithParent ? endWithParent : []), program, ...args]
      // A session of its own: Ctrl-C in a terminal must not reach the database before the server has drained.
      return spawn(file!, rest, { ...common(program), cwd, stdio, detached: true })
    },
    refusal(program, args) {
      const [file, ...rest] = [...prefix, program, ...args]
      const run = spawnSync(file!, rest, { ...common(program), cwd: '/', encoding: 'utf8', timeout: 10_000 })
      return run.status === 0 ? undefined : (run.error?.message ?? String(run.stderr)).trim()
    },
  }
}

/** Programs find their libraries beside them by way of /proc; where there is none they have to be told. */
function librariesFor(program: string): Record<string, string> {
  if (process.platform !== 'linux' || existsSync('/proc/self/exe')) return {}
  return { LD_LIBRARY_PATH: join(dirname(program), '..', 'lib') }
}

function works([file, ...args]: string[]): boolean {
  return spawnSync(file!, args, { env, stdio: 'ignore', timeout: 10_000 }).status === 0
}
