// The database cluster on disk: created atomically, with a password that only its owner can read.
import type { ChildProcess } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
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
import { errorCodeOf, PostgresFailure } from './failure.ts'
import type { Launcher } from './launch.ts'
import { includeDirectives, settingsFile, settingsText } from './settings.ts'

/** Role that owns the cluster and its tables: it creates the database, applies migrations and maintains partitions. */
export const superuser = 'attestry'
/** Role that serves requests. It can read and write rows, and nothing else. */
export const serverRole = 'attestry_server'

export interface ClusterPaths {
  /** Folder that contains the other paths. */
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
  return readOrFail(paths.passwordFile, 'has no readable password file').trim()
}

/** Derives the password of the server role, which does not reveal the superuser's. Existing clusters need no further file. */
export function serverPassword(superuserPassword: string): string {
  return createHmac('sha256', superuserPassword).update(serverRole).digest('base64url')
}

/** Throws if the cluster was created by another major version of PostgreSQL. */
export function checkVersion(paths: ClusterPaths, { major }: Binaries): void {
  const version = readOrFail(join(paths.data, 'PG_VERSION'), 'contains no database').trim()
  if (version === String(major)) return
  throw new PostgresFailure(
    'BROKEN',
    `The database in ${paths.folder} was created by PostgreSQL ${version}, but version ${major} is installed: make a backup with the release of Attestry that you used before, and restore it into an empty DATA_DIR (docs/guides/back-up-and-restore.md).`,
  )
}

/** Creates the cluster in a staging folder and renames it. If several processes do so at the same time, the first one wins. */
export async function createCluster(paths: ClusterPaths, binaries: Binaries, launch: Launcher): Promise<void> {
  const stagingPaths = clusterPaths(`${paths.folder}-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    mkdirSync(stagingPaths.data, { recursive: true, mode: 0o700 })
    writeFileSync(stagingPaths.passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
    if (launch.owner) changeOwner(launch.owner, stagingPaths.data, stagingPaths.passwordFile)
    if (launch.owner && !launch.usesProcLink)
      allowTraversal(dirname(paths.folder), dirname(stagingPaths.folder), stagingPaths.folder)
    await runInitdb(stagingPaths, binaries, launch)
    changeOwner({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, stagingPaths.passwordFile)
    appendFileSync(join(stagingPaths.data, 'postgresql.conf'), includeDirectives)
    for (const path of [
      join(stagingPaths.data, 'postgresql.conf'),
      stagingPaths.passwordFile,
      stagingPaths.data,
      stagingPaths.folder,
    ]) {
      syncToDisk(path)
    }
    renameSync(stagingPaths.folder, paths.folder)
    syncToDisk(dirname(paths.folder))
  } catch (error) {
    if (!clusterExists(paths)) throw error
  } finally {
    deleteFolder(dirname(stagingPaths.folder))
    if (clusterExists(paths)) deleteStagingFolders(paths)
  }
}

/** Deletes the staging folders left by other processes that were slower or were killed. */
function deleteStagingFolders(paths: ClusterPaths): void {
  const parent = dirname(paths.folder)
  const names = readdirSync(parent).filter((name) => /^postgres-\d+-[0-9a-f]{8}$/.test(name))
  for (const name of names) deleteFolder(join(parent, name))
}

function deleteFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Another process still writes there. It deletes its folder itself when it finds that another process was first.
  }
}

/** Sets the owner of the data files and writes the settings file. The caller must have made sure that no process of the cluster is running. */
export function prepareStart(paths: ClusterPaths, launch: Launcher): void {
  const { owner } = launch
  if (owner && clusterOwner(paths)?.uid !== owner.uid) {
    // The cluster was created by root in a user namespace, and user namespaces are no longer permitted.
    changeOwner(owner, paths.data)
    const dataFiles = readdirSync(paths.data, { recursive: true, encoding: 'utf8' })
    changeOwner(owner, ...dataFiles.map((name) => join(paths.data, name)))
  }
  if (owner && !launch.usesProcLink) allowTraversal(dirname(paths.folder), paths.folder)

  const settingsPath = join(paths.data, settingsFile)
  try {
    if (readFileSync(settingsPath, 'utf8') === settingsText) return
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error
  }
  const temporaryPath = `${settingsPath}.${process.pid}`
  rmSync(temporaryPath, { force: true })
  writeFileSync(temporaryPath, settingsText, { mode: 0o600, flag: 'wx' })
  if (owner) changeOwner(owner, temporaryPath)
  renameSync(temporaryPath, settingsPath)
}

async function runInitdb(stagingPaths: ClusterPaths, binaries: Binaries, launch: Launcher): Promise<void> {
  const passwordFile = openSync(stagingPaths.passwordFile, 'r')
  const args = [
    `--pgdata=${launch.programPath(stagingPaths.data)}`,
    `--username=${superuser}`,
    `--pwfile=${launch.usesProcLink ? '/proc/self/fd/0' : stagingPaths.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Texts are sorted and compared in the same way on every machine, independently of the C library.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
  ]
  const childProcess = launch.start(binaries.initdb, args, {
    cwd: stagingPaths.data,
    stdio: [passwordFile, 'ignore', 'pipe'],
    endWithParent: true,
  })
  try {
    const error = await waitForErrorOutput(childProcess)
    if (error !== undefined) {
      const hint =
        launch.owner && !launch.usesProcLink ? `; uid ${launch.owner.uid} must be able to access this folder` : ''
      throw new PostgresFailure(
        'CANNOT_RUN',
        `The database could not be created in ${dirname(dirname(stagingPaths.folder))}: ${error}${hint}`,
      )
    }
  } finally {
    closeSync(passwordFile)
  }
}

/** Waits for the process to exit and returns its error output; undefined if it succeeded. */
function waitForErrorOutput(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    child.stderr?.on('data', (chunk) => {
      text += chunk
    })
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => {
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

/** Lets other users access files inside the folders, without being able to list the folders. */
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

function readOrFail(path: string, failureText: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new PostgresFailure(
      'BROKEN',
      `${dirname(path)} ${failureText} (${errorCodeOf(error)}): restore it, or choose another DATA_DIR.`,
    )
  }
}
