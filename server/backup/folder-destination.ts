import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type BackupDestination, isBackupName } from './destination.ts'

/** Suffix of a backup that is being written, or whose process was killed. */
const UNFINISHED_SUFFIX = '.unfinished'
/** Files of killed processes are removed after this time. */
const UNFINISHED_MAX_AGE_MS = 24 * 60 * 60 * 1000

export function openFolderDestination(folder: string): BackupDestination {
  return {
    location: folder,
    async write(name, content) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      return writeBackupFile(join(folder, name), content)
    },
    read: (name) => createReadStream(join(folder, name)),
    async list(matches = isBackupName) {
      const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw error
      })
      return Promise.all(
        names
          .filter(matches)
          .sort()
          .map(async (name) => ({ name, bytes: (await stat(join(folder, name))).size })),
      )
    },
    async remove(name) {
      await rm(join(folder, name))
    },
  }
}

/** Writes a file that only its owner can read. It appears under its name when it is complete and on the disk; an existing one is not replaced. */
async function writeBackupFile(path: string, content: AsyncIterable<Buffer>): Promise<number> {
  const folder = dirname(resolve(path))
  await removeUnfinished(folder)
  const unfinishedPath = `${path}.${randomBytes(4).toString('hex')}${UNFINISHED_SUFFIX}`
  let bytes = 0
  try {
    const file = await open(unfinishedPath, 'wx', 0o600)
    try {
      for await (const part of content) {
        await file.writeFile(part)
        bytes += part.length
      }
      await file.sync()
    } finally {
      await file.close()
    }
    await link(unfinishedPath, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new Error(`${path} exists and was not changed`)
    throw error
  } finally {
    await rm(unfinishedPath, { force: true })
  }
  const directory = await open(folder, 'r')
  await directory.sync().finally(() => directory.close())
  return bytes
}

async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder)
  for (const name of names.filter(
    (each) => each.endsWith(UNFINISHED_SUFFIX) && /\.attestry-(backup|erasures)\./.test(each),
  )) {
    const path = join(folder, name)
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > UNFINISHED_MAX_AGE_MS) await rm(path, { force: true })
  }
}
