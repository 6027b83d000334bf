import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** The secrets that the first start makes and keeps in DATA_DIR when the environment names none. */
export interface HomeSecrets {
  adminKey: string
  masterKey: Buffer
}

export async function openHome(dataDir: string): Promise<HomeSecrets> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await chmod(dataDir, 0o700)
  const [adminKey, masterKey] = await Promise.all([
    keep(join(dataDir, 'admin-api-key'), () => `adm_${randomBytes(32).toString('base64url')}`),
    keep(join(dataDir, 'master-key'), () => randomBytes(32).toString('base64')),
  ])
  return { adminKey, masterKey: Buffer.from(masterKey, 'base64') }
}

/** Replaces the kept master key; a crash leaves the old one or the new one, never half of either. */
export async function replaceMasterKey(dataDir: string, masterKey: Buffer): Promise<void> {
  const draft = await write(join(dataDir, 'master-key'), masterKey.toString('base64'))
  await rename(draft, join(dataDir, 'master-key'))
}

async function keep(path: string, make: () => string): Promise<string> {
  const kept = await readIfThere(path)
  if (kept !== undefined) return kept
  const draft = await write(path, make())
  // A link fails where the name exists: of two processes that start together, both use the first one's secret.
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await rm(draft)
  return (await readIfThere(path))!
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

async function write(path: string, text: string): Promise<string> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return draft
}
