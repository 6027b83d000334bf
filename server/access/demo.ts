import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { createPartnerKey, createSessionKey } from './keys.ts'
import { createOrganisation, listOrganisations } from './organisations.ts'
import { scopes } from './scopes.ts'

/** The TEST credentials that a first start makes, so that somebody can try the product before reading about keys. */
export interface DemoKeys {
  org_id: string
  key_id: string
  secret: string
  session_key: string
}

export interface Demo {
  keys: DemoKeys
  /** Made by this very start. */
  fresh: boolean
}

/** Only on the embedded database, and only while it is empty; later starts find them in DATA_DIR. */
export async function demoKeys({ config, db, vault, clock }: Context): Promise<Demo | undefined> {
  if (config.databaseUrl) return undefined
  const path = demoFile(config.dataDir)
  const fresh = await db.transaction(async (tx) => {
    if ((await listOrganisations(tx)).length > 0) return false
    const { org_id } = await createOrganisation(tx, 'Demo organisation', clock)
    const partner = await createPartnerKey(tx, vault, clock, { orgId: org_id, mode: 'test', scopes: [...scopes] })
    const session = await createSessionKey(tx, clock, { orgId: org_id, mode: 'test' })
    // Written before the commit: a crash in between leaves a file that the next start overwrites, never keys that nobody knows.
    await writePrivately(path, { org_id, key_id: partner.keyId, secret: partner.secret, session_key: session.key })
    return true
  })
  const keys = await readDemoKeys(config.dataDir)
  return keys && { keys, fresh }
}

/** Leaves word of where the server listens, for commands in the same folder. */
export async function keepAddress(dataDir: string, url: string): Promise<void> {
  await writeFile(join(dataDir, 'address'), `${url}\n`, { mode: 0o600 })
}

export async function readAddress(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, 'address'), 'utf8').catch(() => undefined)
  return text?.trim()
}

export function demoFile(dataDir: string) {
  return join(dataDir, 'demo-keys.json')
}

export async function readDemoKeys(dataDir: string): Promise<DemoKeys | undefined> {
  try {
    return JSON.parse(await readFile(demoFile(dataDir), 'utf8'))
  } catch {
    return undefined
  }
}

async function writePrivately(path: string, keys: DemoKeys) {
  const draft = `${path}.${process.pid}`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(keys, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
