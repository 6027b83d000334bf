import type { Context } from '../context.ts'
import { type DemoKeys, demoKeysPath, readDemoKeys, writeDemoKeys } from './demo-files.ts'
import { createPartnerKey, createSessionKey } from './keys.ts'
import { createOrganisation, listOrganisations } from './organisations.ts'
import { allScopes } from './scopes.ts'

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
