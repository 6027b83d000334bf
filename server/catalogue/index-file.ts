import { createHash, subtle } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText } from '../platform/error-text.ts'
import type { Log } from '../platform/log.ts'
import type { SkillEntry } from './index/labels/labels.ts'
import type { SkillIndex } from './index/skill-index.ts'
import { restoreIndex, storeIndex } from './index/stored-parts.ts'

/**
 * The index of the catalogue in the data folder, so that a later start does not build it again. The file has a key, which is a hash of
 * everything that the index is built from, and a checksum of its content. If one of them does not fit, the index is built, so a damaged or
 * outdated file never changes a result. It can be deleted at any time. The file:
 *
 * - bytes 0 to 7: the letters "SKILLIDX"
 * - bytes 8 to 39: the SHA-256 hash of all following bytes
 * - bytes 40 to 71: the key
 * - from byte 72 on: the parts of the index (index/stored-parts.ts)
 */
export interface IndexFile {
  /** Returns the stored index if it is that of these skills. Only the first call can return one. */
  load(entries: readonly SkillEntry[]): Promise<SkillIndex | undefined>
  /** Stores the index of these skills, unless the file has it. If this fails, a warning is logged. */
  save(index: SkillIndex, entries: readonly SkillEntry[]): Promise<void>
}

const FILE_NAME = 'catalogue-index.bin'
const MAGIC = 'SKILLIDX'
const HASH_BYTES = 32
const CHECKSUM_AT = MAGIC.length
const KEY_AT = CHECKSUM_AT + HASH_BYTES
const PARTS_AT = KEY_AT + HASH_BYTES

const ROOT = new URL('../../', import.meta.url)
/** Folders with the code and the data that an index depends on, in addition to the skills. */
export const INDEX_SOURCE_FOLDERS = [
  'server/catalogue/index/',
  'server/platform/text/',
  'data/lexicon/',
  'data/models/',
]

/** Opens the file in a folder, and begins to read it. */
export function openIndexFile(folder: string, log: Log): IndexFile {
  const path = join(folder, FILE_NAME)
  const sources = hashSources()
  sources.catch(() => {}) // reported where it is awaited
  let file: Promise<StoredFile | undefined> | undefined = readStoredFile(path, log)
  let storedKey: Buffer | undefined

  return {
    async load(entries) {
      const storedFile = await file
      file = undefined
      if (!storedFile?.key.equals(hashKey(await sources, entries))) return undefined
      try {
        const startedAt = performance.now()
        const index = restoreIndex(storedFile.parts, entries)
        storedKey = storedFile.key
        const milliseconds = Math.round(performance.now() - startedAt)
        log.info({ path, skills: index.size, milliseconds }, 'catalogue index restored')
        return index
      } catch (error) {
        log.warn({ path, err: error }, 'restoring the catalogue index failed, building it')
        return undefined
      }
    },

    async save(index, entries) {
      try {
        const key = hashKey(await sources, entries)
        if (storedKey?.equals(key)) return
        await writeFile(path, key, storeIndex(index))
        storedKey = key
      } catch (error) {
        await rm(draftPathOf(path), { force: true }).catch(() => {})
        log.warn(`storing the catalogue index in ${path} failed, the next start builds it: ${errorText(error)}`)
      }
    },
  }
}

interface StoredFile {
  key: Buffer
  parts: Uint8Array
}

/** Reads the file. Returns undefined if there is none, or if it is damaged. */
async function readStoredFile(path: string, log: Log): Promise<StoredFile | undefined> {
  try {
    const bytes = await readFile(path)
    const isComplete =
      bytes.toString('latin1', 0, MAGIC.length) === MAGIC &&
      bytes.subarray(CHECKSUM_AT, KEY_AT).equals(await hashInBackground(bytes.subarray(KEY_AT)))
    if (!isComplete) {
      log.warn({ path }, 'the stored catalogue index is damaged, building it')
      return undefined
    }
    const parts = bytes.subarray(PARTS_AT)
    return {
      key: bytes.subarray(KEY_AT, PARTS_AT),
      parts: parts.byteOffset % 8 === 0 ? parts : new Uint8Array(parts),
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.warn(`reading ${path} failed, building the catalogue index: ${errorText(error)}`)
    return undefined
  }
}

/** Only one server uses a data folder, so the name need not be unique. A draft that a killed server leaves is overwritten by the next one. */
function draftPathOf(path: string): string {
  return `${path}.draft`
}

/** Replaces the file as a whole: a process that is killed leaves the old file. */
async function writeFile(path: string, key: Buffer, parts: Uint8Array[]): Promise<void> {
  const draftPath = draftPathOf(path)
  const file = await open(draftPath, 'w', 0o600)
  try {
    const content = Buffer.concat([key, ...parts])
    await file.writeFile([Buffer.from(MAGIC, 'latin1'), await hashInBackground(content), content])
  } finally {
    await file.close()
  }
  await rename(draftPath, path)
}

/** Returns the SHA-256 hash of bytes. Computes it in another thread, while this one waits for the database. */
async function hashInBackground(bytes: Buffer<ArrayBuffer>): Promise<Buffer> {
  return Buffer.from(await subtle.digest('SHA-256', bytes))
}

/** Returns the hash of the skills, of the code and data of the index, and of the version of Node.js. */
function hashKey(sources: Buffer, entries: readonly SkillEntry[]): Buffer {
  const hash = createHash('sha256').update(sources)
  for (const { number, name, aliases, isPreferred, sub } of entries)
    hash.update(JSON.stringify([number, name, aliases, isPreferred, sub?.number, sub?.name, sub?.master.number]))
  return hash.digest()
}

/**
 * Returns the hash of all files in INDEX_SOURCE_FOLDERS except tests, and of the version of Node.js, which sorts and folds words. Reads the files
 * synchronously: reading a hundred small files in the background takes this thread five times longer.
 */
async function hashSources(): Promise<Buffer> {
  const pieces = [Buffer.from(`${process.version} ${process.arch}`)]
  for (const folder of INDEX_SOURCE_FOLDERS) {
    const names = readdirSync(new URL(folder, ROOT), { recursive: true }) as string[]
    const files = names.filter((name) => /\.(ts|txt|bin)$/.test(name) && !/\.test(-data)?\.ts$/.test(name)).sort()
    for (const file of files) {
      const content = readFileSync(new URL(folder + file, ROOT))
      pieces.push(Buffer.from(`${folder}${file} ${content.length} `), content)
    }
  }
  return hashInBackground(Buffer.concat(pieces))
}
