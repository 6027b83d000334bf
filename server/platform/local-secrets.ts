import { randomBytes } from 'node:crypto'
import { chmod, link, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createDataDir } from './data-dir.ts'

/** Secrets that the first start creates in DATA_DIR if the environment does not set them. */
export interface LocalSecrets {
  adminKey: string
  masterKey: Buffer
}

export async function loadLocalSecrets(dataDir: string): Promise<LocalSecrets> {
  await createDataDir(dataDir)
  await chmod(dataDir, 0o700)
  const [adminKey, masterKey] = await Promise.all([
    readOrCreate(join(dataDir, 'admin-api-key'), () => `adm_${randomBytes(32).toString('base64url')}`),
    readOrCreate(join(dataDir, 'master-key'), () => randomBytes(32).toString('base64')),
  ])
  return { adminKey, masterKey: Buffer.from(masterKey, 'base64') }
}

/** Replaces the stored master key atomically: after a crash, the file contains the old key or the new one. */
export async function replaceMasterKey(dataDir: string, masterKey: Buffer): Promise<void> {
  const draftPath = await writeDraftFile(join(dataDir, 'master-key'), masterKey.toString('base64'))
  await rename(draftPath, join(dataDir, 'master-key'))
}

async function readOrCreate(path: string, create: () => string): Promise<string> {
  const existingSecret = await readIfExists(path)
  if (existingSecret !== undefined) return existingSecret
  await createPrivateFile(path, create())
  return (await readIfExists(path))!
}

/** Creates a file that only its owner can read, completely or not at all. Returns false if the file exists, which is not changed. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const draftPath = await writeDraftFile(path, text)
  try {
    // Linking fails if the file exists, so of two processes that start together, both use the file of the first one.
    await link(draftPath, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    await rm(draftPath)
  }
}

async function readIfExists(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function writeDraftFile(path: string, text: string): Promise<string> {
  const draftPath = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = await open(draftPath, 'wx', 0o600)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return draftPath
}
