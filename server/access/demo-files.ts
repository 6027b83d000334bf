import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// Files in DATA_DIR that tell commands in the same folder where the server is and which demo keys it created.

/** TEST credentials created at the first start, for trying the product without setting up keys. */
export interface DemoKeys {
  org_id: string
  key_id: string
  secret: string
  session_key: string
}

/** Stores the address that the server listens on, for CLI commands in the same folder. */
export async function writeServerAddress(dataDir: string, url: string): Promise<void> {
  await writeFile(join(dataDir, 'address'), `${url}\n`, { mode: 0o600 })
}

export async function readServerAddress(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, 'address'), 'utf8').catch(() => undefined)
  return text?.trim()
}

export function demoKeysPath(dataDir: string) {
  return join(dataDir, 'demo-keys.json')
}

/** Returns undefined if there are no demo keys. Throws if the file exists and cannot be read. */
export async function readDemoKeys(dataDir: string): Promise<DemoKeys | undefined> {
  const path = demoKeysPath(dataDir)
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`the demo keys in ${path} cannot be read: ${(error as Error).message}`)
  }
}

export async function writeDemoKeys(path: string, keys: DemoKeys): Promise<void> {
  const temporaryPath = `${path}.${process.pid}`
  const file = await open(temporaryPath, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(keys, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporaryPath, path)
}
