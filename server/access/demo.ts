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
  /** Whether the keys were created by this start, not by an earlier one. */
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
    const partnerKey = await createPartnerKey(tx, vault, clock, { orgId: org_id, mode: 'test', scopes: [...allScopes] })
    const sessionKey = await createSessionKey(tx, clock, { orgId: org_id, mode: 'test' })
    // Written before the commit: after a crash in between, the next start overwrites the file. The other order could lose the secrets.
    await writeDemoKeys(path, {
      org_id,
      key_id: partnerKey.keyId,
      secret: partnerKey.secret,
      session_key: sessionKey.key,
    })
    return true
  })
  const keys = await readDemoKeys(config.dataDir)
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

export async function readDemoKeys(dataDir: string): Promise<DemoKeys | undefined> {
  try {
    return JSON.parse(await readFile(demoKeysPath(dataDir), 'utf8'))
  } catch {
    return undefined
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
