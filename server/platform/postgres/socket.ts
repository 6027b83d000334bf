// The way to the server's socket, which lies in its data folder. A socket's path may have about a hundred bytes only.
import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './failure.ts'

export const port = 5432
export const socketName = `.s.PGSQL.${port}`
// Linux takes 107 bytes and macOS 103.
const longestPath = 103

/**
 * The folder to give to clients as host. For a long data folder it is a link in a short private folder: the socket itself
 * stays, so that a cleaned temporary folder costs nothing, and every process finds the link again or makes it anew.
 */
export function socketFolder(dataFolder: string, temporaryFolders: string[]): string {
  if (fits(dataFolder)) return dataFolder
  const hash = createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)
  const name = `attestry-${process.getuid?.() ?? 0}-${hash}`
  // Wherever the others lie, this one is short.
  const bases = [...temporaryFolders, '/tmp'].filter((base) => fits(join(base, name, 'data')))
  for (const base of bases) {
    const folder = join(base, name)
    try {
      mkdirSync(folder, { mode: 0o700 })
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || !isPrivate(folder)) continue
    }
    return linkIn(folder, dataFolder)
  }
  // Someone else sits on the name that we would find again.
  return linkIn(mkdtempSync(join('/tmp', `${name}-`)), dataFolder)
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, socketName)) <= longestPath
}

function isPrivate(folder: string): boolean {
  const { uid, mode } = lstatSync(folder)
  return (mode & 0o170777) === 0o040700 && uid === process.getuid?.()
}

function linkIn(folder: string, target: string): string {
  const link = join(folder, 'data')
  const there = lstatSync(link, { throwIfNoEntry: false })
  if (!there || readlinkSync(link) !== target) {
    const fresh = join(folder, `data-${process.pid}`)
    symlinkSync(target, fresh)
    renameSync(fresh, link)
  }
  return link
}
