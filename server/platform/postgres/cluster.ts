// The database cluster on disk: created atomically, with a password that only its owner can read.
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Binaries } from './binaries.ts'
import { codeOf, PostgresFailure } from './failure.ts'
import type { Launch } from './launch.ts'
import { includes, settings, settingsFile } from './settings.ts'

export const superuser = 'attestry'

export interface ClusterPaths {
  /** Contains the other paths. */
  folder: string
  /** PostgreSQL's data directory. */
  data: string
  passwordFile: string
  logFile: string
}

export function clusterPaths(dataDir: string): ClusterPaths {
  const folder = join(dataDir, 'postgres')
  return {
    folder,
    data: join(folder, 'data'),
    passwordFile: join(folder, 'password'),
    logFile: join(folder, 'postgres.log'),
  }
}

export function clusterOwner(paths: ClusterPaths): { uid: number; gid: number } | undefined {
  return statSync(paths.data, { throwIfNoEntry: false })
}

export function clusterExists(paths: ClusterPaths): boolean {
  return lstatSync(paths.folder, { throwIfNoEntry: false }) !== undefined
}

export function readPassword(paths: ClusterPaths): string {
  return read(paths.passwordFile, 'has no readable password file').trim()
}

/** Throws if the cluster was created by another major version of PostgreSQL. */
export function checkVersion(paths: ClusterPaths, { major }: Binaries): void {
  const version = read(join(paths.data, 'PG_VERSION'), 'contains no database').trim()
  if (version === String(major)) return
  throw new PostgresFailure(
    'BROKEN',
    `The database in ${paths.folder} was created by PostgreSQL ${version}, but version ${major} is installed: dump it with the old version and restore it into a new DATA_DIR, or set DATABASE_URL.`,
  )
}

/** Creates the cluster in a staging folder and renames it. If several processes do so at the same time, the first one wins. */
export async function createCluster(paths: ClusterPaths, binaries: Binaries, launch: Launch): Promise<void> {
  const staging = clusterPaths(`${paths.folder}-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    mkdirSync(staging.data, { recursive: true, mode: 0o700 })
    writeFileSync(staging.passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
    if (launch.owner) changeOwner(launch.owner, staging.data, staging.passwordFile)
    if (launch.owner && !launch.throughProc)
      allowTraversal(dirname(paths.folder), dirname(staging.folder), staging.folder)
    await initdb(staging, binaries, launch)
    changeOwner({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, staging.passwordFile)
    appendFileSync(join(staging.data, 'postgresql.conf'), includes)
    for (const path of [join(staging.data, 'postgresql.conf'), staging.passwordFile, staging.data, staging.folder]) {
      syncToDisk(path)
    }
    renameSync(staging.folder, paths.folder)
    syncToDisk(dirname(paths.folder))
  } catch (error) {
    if (!clusterExists(paths)) throw error
  } finally {
    discard(dirname(staging.folder))
    if (clusterExists(paths)) discardLeftovers(paths)
  }
}

/** Deletes the staging folders of processes that were slower or killed. */
function discardLeftovers(paths: ClusterPaths): void {
  const parent = dirname(paths.folder)
  const names = readdirSync(parent).filter((name) => /^postgres-\d+-[0-9a-f]{8}$/.test(name))
  for (const name of names) discard(join(parent, name))
}

function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Another process still writes there, and deletes it when it finds that it was not the first.
  }
}

/** Prepares ownership and settings for a start. The caller must have made sure that no process of the cluster is running. */
export function prepareStart(paths: ClusterPaths, launch: Launch): void {
  const { owner } = launch
  if (owner && clusterOwner(paths)?.uid !== owner.uid) {
    // It was created by root in a user namespace, which is no longer permitted.
    changeOwner(owner, paths.data)
    const inside = readdirSync(paths.data, { recursive: true, encoding: 'utf8' })
    changeOwner(owner, ...inside.map((name) => join(paths.data, name)))
  }
  if (owner && !launch.throughProc) allowTraversal(dirname(paths.folder), paths.folder)

  const file = join(paths.data, settingsFile)
  try {
    if (readFileSync(file, 'utf8') === settings) return
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const fresh = `${file}.${process.pid}`
  rmSync(fresh, { force: true })
  writeFileSync(fresh, settings, { mode: 0o600, flag: 'wx' })
  if (owner) changeOwner(owner, fresh)
  renameSync(fresh, file)
}

async function initdb(staging: ClusterPaths, binaries: Binaries, launch: Launch): Promise<void> {
  const password = openSync(staging.passwordFile, 'r')
  const args = [
    `--pgdata=${launch.programPath(staging.data)}`,
    `--username=${superuser}`,
    `--pwfile=${launch.throughProc ? '/proc/self/fd/0' : staging.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts and compares the same on every machine, independently of the C library.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
  ]
  const run = launch.start(binaries.initdb, args, {
    cwd: staging.data,
    stdio: [password, 'ignore', 'pipe'],
    endWithParent: true,
  })
  try {
    const error = await errorOutputOf(run)
    if (error !== undefined) {
      const hint =
        launch.owner && !launch.throughProc ? `; uid ${launch.owner.uid} must be able to access this folder` : ''
      throw new PostgresFailure(
        'CANNOT_RUN',
        `The database could not be created in ${dirname(dirname(staging.folder))}: ${error}${hint}`,
      )
    }
  } finally {
    closeSync(password)
  }
}

/** Waits for the process to exit and returns its error output; undefined if it succeeded. */
function errorOutputOf(run: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    run.stderr?.on('data', (chunk) => {
      text += chunk
    })
    run.once('error', (error) => resolve(error.message))
    run.once('close', (code, signal) => {
      const lines = text.split('\n').filter((line) => /error|fatal/i.test(line))
      resolve(
        code === 0
          ? undefined
          : lines.join(' ') || text.trim().replaceAll('\n', ' ') || `exited with ${signal ?? code}`,
      )
    })
  })
}

function changeOwner({ uid, gid }: { uid: number; gid: number }, ...paths: string[]): void {
  for (const path of paths) lchownSync(path, uid, gid)
}

/** Lets other users pass through the folders to the files they own, without listing them. */
function allowTraversal(...folders: string[]): void {
  for (const folder of folders) chmodSync(folder, 0o711)
}

function syncToDisk(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function read(path: string, problem: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new PostgresFailure(
      'BROKEN',
      `${dirname(path)} ${problem} (${codeOf(error)}): restore it, or choose another DATA_DIR.`,
    )
  }
}
