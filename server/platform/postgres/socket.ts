// The path to the server's socket in its data folder. The operating system limits socket paths to about a hundred bytes.
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { errorCodeOf } from './failure.ts'

export const port = 5432
export const socketName = `.s.PGSQL.${port}`
// Linux allows 107 bytes, macOS 103.
const MAX_SOCKET_PATH_BYTES = 103

/**
 * Returns the folder that clients use as host. For a long data folder path it is a symlink in a short private folder: the socket
 * itself stays in the data folder, and every process finds the symlink or creates it again if the temporary folder was cleaned.
 */
export function socketFolder(dataFolder: string, temporaryFolders: string[]): string {
  if (isShortEnough(dataFolder)) return dataFolder
  const hash = createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)
  const name = `attestry-${process.getuid?.() ?? 0}-${hash}`
  // /tmp is always short enough.
  const baseFolders = [...temporaryFolders, '/tmp'].filter((base) => isShortEnough(join(base, name, 'data')))
  for (const base of baseFolders) {
    const folder = join(base, name)
    try {
      mkdirSync(folder, { mode: 0o700 })
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST' || !isPrivate(folder)) continue
    }
    return ensureSymlink(folder, dataFolder)
  }
  // Every base folder has a folder of another user with this name: use a random name, which other processes cannot find.
  return ensureSymlink(mkdtempSync(join('/tmp', `${name}-`)), dataFolder)
}

function isShortEnough(folder: string): boolean {
  return Buffer.byteLength(join(folder, socketName)) <= MAX_SOCKET_PATH_BYTES
}

function isPrivate(folder: string): boolean {
  const { uid, mode } = lstatSync(folder)
  return (mode & 0o170777) === 0o040700 && uid === process.getuid?.()
}

function ensureSymlink(folder: string, target: string): string {
  const linkPath = join(folder, 'data')
  const existingLink = lstatSync(linkPath, { throwIfNoEntry: false })
  if (!existingLink || readlinkSync(linkPath) !== target) {
    const temporaryLink = join(folder, `data-${process.pid}`)
    symlinkSync(target, temporaryLink)
    renameSync(temporaryLink, linkPath)
  }
  return linkPath
}
