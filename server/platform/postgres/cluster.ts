// The database cluster on disk: made whole or not at all, with a password that only its owner can read.
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

export interface ClusterPlace {
  /** Holds all the rest. */
  folder: string
  /** PostgreSQL's own. */
  data: string
  passwordFile: string
  logFile: string
}

export function clusterPlace(dataDir: string): ClusterPlace {
  const folder = join(dataDir, 'postgres')
  return {
    folder,
    data: join(folder, 'data'),
    passwordFile: join(folder, 'password'),
    logFile: join(folder, 'postgres.log'),
  }
}

export function clusterOwner(place: ClusterPlace): { uid: number; gid: number } | undefined {
  return statSync(place.data, { throwIfNoEntry: false })
}

export function clusterExists(place: ClusterPlace): boolean {
  return lstatSync(place.folder, { throwIfNoEntry: false }) !== undefined
}

export function readPassword(place: ClusterPlace): string {
  return read(place.passwordFile, 'has no readable password').trim()
}

/** Throws when this is not a cluster that the installed programs can run. */
export function checkVersion(place: ClusterPlace, { major }: Binaries): void {
  const version = read(join(place.data, 'PG_VERSION'), 'holds no database').trim()
  if (version === String(major)) return
  throw new PostgresFailure(
    'BROKEN',
    `The database in ${place.folder} was made by PostgreSQL ${version} and the one installed is ${major}: dump it with the old one and load it into a new DATA_DIR, or set DATABASE_URL.`,
  )
}

/** Makes the cluster beside its place and moves it there; who comes second takes the first one's. */
export async function createCluster(place: ClusterPlace, binaries: Binaries, launch: Launch): Promise<void> {
  const staging = clusterPlace(`${place.folder}-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    mkdirSync(staging.data, { recursive: true, mode: 0o700 })
    writeFileSync(staging.passwordFile, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
    if (launch.owner) giveTo(launch.owner, staging.data, staging.passwordFile)
    if (launch.owner && !launch.throughProc) letPass(dirname(place.folder), dirname(staging.folder), staging.folder)
    await initdb(staging, binaries, launch)
    giveTo({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }, staging.passwordFile)
    appendFileSync(join(staging.data, 'postgresql.conf'), includes)
    for (const path of [join(staging.data, 'postgresql.conf'), staging.passwordFile, staging.data, staging.folder]) {
      toDisk(path)
    }
    renameSync(staging.folder, place.folder)
    toDisk(dirname(place.folder))
  } catch (error) {
    if (!clusterExists(place)) throw error
  } finally {
    discard(dirname(staging.folder))
    if (clusterExists(place)) discardLeftovers(place)
  }
}

/** What was being made by others, who were slower or killed: no longer of use to anyone. */
function discardLeftovers(place: ClusterPlace): void {
  const parent = dirname(place.folder)
  const names = readdirSync(parent).filter((name) => /^postgres-\d+-[0-9a-f]{8}$/.test(name))
  for (const name of names) discard(join(parent, name))
}

function discard(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // Another starter still writes there, and clears it away on seeing that it was not the first.
  }
}

/** Puts in order what a start needs; only for who has made sure that nothing runs there. */
export function prepareStart(place: ClusterPlace, launch: Launch): void {
  const { owner } = launch
  if (owner && clusterOwner(place)?.uid !== owner.uid) {
    // Made where root could run it in a namespace, and that is not permitted any more.
    giveTo(owner, place.data)
    const inside = readdirSync(place.data, { recursive: true, encoding: 'utf8' })
    giveTo(owner, ...inside.map((name) => join(place.data, name)))
  }
  if (owner && !launch.throughProc) letPass(dirname(place.folder), place.folder)

  const file = join(place.data, settingsFile)
  try {
    if (readFileSync(file, 'utf8') === settings) return
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const fresh = `${file}.${process.pid}`
  rmSync(fresh, { force: true })
  writeFileSync(fresh, settings, { mode: 0o600, flag: 'wx' })
  if (owner) giveTo(owner, fresh)
  renameSync(fresh, file)
}

async function initdb(staging: ClusterPlace, binaries: Binaries, launch: Launch): Promise<void> {
  const password = openSync(staging.passwordFile, 'r')
  const args = [
    `--pgdata=${launch.here(staging.data)}`,
    `--username=${superuser}`,
    `--pwfile=${launch.throughProc ? '/proc/self/fd/0' : staging.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorts and compares the same on every machine, with nothing from its C library.
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--data-checksums',
    '--no-instructions',
  ]
  const run = launch.start(binaries.initdb, args, {
    cwd: staging.data,
    stdio: [password, 'ignore', 'pipe'],
    endWithUs: true,
  })
  try {
    const complaint = await complaintOf(run)
    if (complaint !== undefined) {
      const hint = launch.owner && !launch.throughProc ? `; uid ${launch.owner.uid} must be able to go there` : ''
      throw new PostgresFailure(
        'CANNOT_RUN',
        `The database could not be made in ${dirname(dirname(staging.folder))}: ${complaint}${hint}`,
      )
    }
  } finally {
    closeSync(password)
  }
}

/** Waits for the end; undefined when all went well. */
function complaintOf(run: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = ''
    run.stderr?.on('data', (chunk) => {
      text += chunk
    })
    run.once('error', (error) => resolve(error.message))
    run.once('close', (code, signal) => {
      const lines = text.split('\n').filter((line) => /error|fatal/i.test(line))
      resolve(
        code === 0 ? undefined : lines.join(' ') || text.trim().replaceAll('\n', ' ') || `ended by ${signal ?? code}`,
      )
    })
  })
}

function giveTo({ uid, gid }: { uid: number; gid: number }, ...paths: string[]): void {
  for (const path of paths) lchownSync(path, uid, gid)
}

/** Others may go through to what they own below, and still not look around. */
function letPass(...folders: string[]): void {
  for (const folder of folders) chmodSync(folder, 0o711)
}

function toDisk(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function read(path: string, otherwise: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new PostgresFailure(
      'BROKEN',
      `${dirname(path)} ${otherwise} (${codeOf(error)}): restore it, or choose another DATA_DIR.`,
    )
  }
}
