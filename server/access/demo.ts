import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { createPartnerKey, createSessionKey } from './keys.ts'
import { createOrganisation, listOrganisations } from './organisations.ts'
import { allScopes } from './scopes.ts'

/** TEST credentials created at the first start, for trying the product without setting up keys. */
export interface DemoKeys {
  org_id: string
  key_id: string
  secret: string
  session_key: string
}

export interface DemoSetup {
  keys: DemoKeys
  /** Whether this start created the keys; false if an earlier start did. */
  created: boolean
}

/** Creates the demo keys if the embedded database is empty. Later starts read them from DATA_DIR. */
export async function ensureDemoKeys({
  config,
  db,
  vault,
  clock,
}: Pick<Context, 'config' | 'db' | 'vault' | 'clock'>): Promise<DemoSetup | undefined> {
  if (config.databaseUrl) return undefined
  const path = demoKeysPath(config.dataDir)
  const created = await db.transaction(async (tx) => {
    if ((await listOrganisations(tx)).length > 0) return false
    const { org_id } = await createOrganisation(tx, 'Demo organisation', clock)
    const partnerKey = await createPartnerKey(tx, vault, clock, {
      orgId: org_id,
      mode: 'test',
      scopes: [...allScopes],
      preset: 'ci',
      maxDays: undefined,
    })
    const sessionKey = await createSessionKey(tx, clock, { orgId: org_id, mode: 'test', maxDays: undefined })
    // Written before the commit: after a crash before the commit, the next start overwrites the file. Writing after the commit could lose the secrets.
    await writeDemoKeys(path, {
      org_id,
      key_id: partnerKey.keyId,
      secret: partnerKey.secret,
      session_key: sessionKey.key,
    })
    return true
  })
  const keys = await readDemoKeys(config.dataDir).catch(() => undefined)
  return keys && { keys, created }
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

async function writeDemoKeys(path: string, keys: DemoKeys) {
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
