import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../server/backup/archive.ts'
import { type Config, readMasterKeyFile } from '../server/config.ts'
import { loadLocalSecrets } from '../server/platform/local-secrets.ts'
import { masterKeyId } from '../server/platform/vault.ts'

/** Returns the secrets that an operator asked to include in a backup. */
export async function readAllowedSecrets(config: Config): Promise<NonNullable<Manifest['secrets']>> {
  const local = config.databaseUrl ? undefined : await loadLocalSecrets(config.dataDir)
  const masterKey = configuredMasterKey(config) ?? local?.masterKey
  return { masterKey: masterKey!.toString('base64'), adminKey: (config.adminKey ?? local?.adminKey)! }
}

/** Returns a master key that opens the secrets of a backup: the configured one, that of DATA_DIR, or the one in the backup. */
export async function findMasterKey(config: Config, manifest: Manifest): Promise<Buffer | undefined> {
  const hasLocalKey = existsSync(join(config.dataDir, 'master-key'))
  const candidates = [
    configuredMasterKey(config),
    hasLocalKey ? (await loadLocalSecrets(config.dataDir)).masterKey : undefined,
    manifest.secrets && Buffer.from(manifest.secrets.masterKey, 'base64'),
  ]
  return candidates.find((key) => key && manifest.masterKeyIds.includes(masterKeyId(key)))
}

function configuredMasterKey({ masterKey, masterKeyFile }: Config): Buffer | undefined {
  return masterKeyFile ? readMasterKeyFile(masterKeyFile) : masterKey
}
