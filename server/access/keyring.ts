import { coalesce } from '../platform/coalesce.ts'
import type { Database } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import type { Log } from '../platform/log.ts'
import { hashToken } from '../platform/token-hash.ts'
import type { Vault } from '../platform/vault.ts'
import { HmacKey } from './hmac.ts'
import { type Mode, secretPurpose } from './keys.ts'
import { type KeyLimits, type KeyOverrides, limitsFor } from './limits/table.ts'

/** A partner key with the parts that every request needs: HMAC keys and effective limits. */
export interface PartnerKey {
  keyId: string
  orgId: string
  mode: Mode
  scopes: ReadonlySet<string>
  secrets(now: number): HmacKey[]
  limits: KeyLimits
  overrides: KeyOverrides
  expiresAt: number
  revoked: boolean
}

interface SessionKey {
  keyId: string
  orgId: string
  mode: Mode
  expiresAt: number
  revoked: boolean
}

/**
 * In-memory copy of all keys of the deployment. Every change increments a version in the database and sends a notification. Rows above
 * the last known version are fetched on each notification, and by polling while keys are in use, so that changes take effect
 * everywhere within a second. Requests with unknown keys cost neither queries nor memory.
 */
export interface Keyring {
  /** Starts a refresh if the copy may be out of date. Wait for the promise before reading a key. */
  refreshIfStale(): Promise<void> | undefined
  partnerKey(keyId: string): PartnerKey | undefined
  sessionKey(key: string): SessionKey | undefined
  /** Whether the operator disabled the partner API, for all organisations or for this one. */
  isServiceDisabled(orgId: string): boolean
  refresh(): Promise<void>
  close(): void
}

const POLL_INTERVAL_MS = 200
/** Polling stops this long after the last use of a key. */
const KEEP_POLLING_MS = 10_000
/** An older copy is refreshed before use, because a revocation may have been missed. */
const STALE_AFTER_MS = 900
const REFRESH_TIMEOUT_MS = 3000

export interface KeyringOptions {
  db: Database
  vault: Vault
  listener: Listener
  log: Log
}

export async function openKeyring({ db, vault, listener, log }: KeyringOptions): Promise<Keyring> {
  const partnerKeys = new Map<string, PartnerKey>()
  const sessionKeys = new Map<string, SessionKey>()
  const disabledOrganisations = new Set<string>()
  let allDisabled = false
  let version = -1
  let refreshedAt = 0
  let lastUsedAt = Number.NEGATIVE_INFINITY
  // Callers that waited this long for a refresh that fails get its error, instead of waiting for another query.
  const refresh = coalesce(fetchChanges, { failTogetherAfterMs: REFRESH_TIMEOUT_MS })

  await refresh()
  await listener.on('access_changed', refreshQuietly)
  const pollTimer = setInterval(() => {
    if (performance.now() - lastUsedAt < KEEP_POLLING_MS) refreshQuietly()
  }, POLL_INTERVAL_MS)
  pollTimer.unref()

  return {
    refreshIfStale() {
      lastUsedAt = performance.now()
      return lastUsedAt - refreshedAt > STALE_AFTER_MS ? refresh() : undefined
    },
    partnerKey: (keyId) => partnerKeys.get(keyId),
    sessionKey: (key) => sessionKeys.get(hashToken(key).toString('base64')),
    isServiceDisabled: (orgId) => allDisabled || disabledOrganisations.has(orgId),
    refresh,
    close: () => clearInterval(pollTimer),
  }

  function refreshQuietly() {
    refresh().catch((error) => log.warn({ err: error }, 'refreshing keys failed, retrying on the next poll'))
  }

  async function fetchChanges() {
    const startedAt = performance.now()
    const latestRow = await db.queries.selectFrom('access_version').select('version').executeTakeFirstOrThrow()
    if (latestRow.version !== version) {
      await fetchRowsAbove(version)
      version = latestRow.version
    }
    refreshedAt = startedAt
  }

  async function fetchRowsAbove(lastVersion: number) {
    // Rows that commit after the version was read have a higher version and are fetched (again) by the next refresh.
    const [partners, sessions, organisations, service] = await db.queries
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(
        async (tx) =>
          [
            await tx.selectFrom('partner_keys').selectAll().where('version', '>', lastVersion).execute(),
            await tx.selectFrom('session_keys').selectAll().where('version', '>', lastVersion).execute(),
            await tx
              .selectFrom('organisations')
              .select(['org_id', 'service_off'])
              .where('version', '>', lastVersion)
              .execute(),
            await tx.selectFrom('service_switch').select('service_off').executeTakeFirstOrThrow(),
          ] as const,
      )
    for (const row of partners) partnerKeys.set(row.key_id, partnerKeyFromRow(row))
    for (const row of sessions) {
      sessionKeys.set(row.hash.toString('base64'), {
        keyId: row.key_id,
        orgId: row.org_id,
        mode: row.mode as Mode,
        expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
        revoked: row.revoked_at !== null,
      })
    }
    for (const row of organisations) {
      if (row.service_off) disabledOrganisations.add(row.org_id)
      else disabledOrganisations.delete(row.org_id)
    }
    allDisabled = service.service_off
  }

  function partnerKeyFromRow(row: PartnerKeyRow): PartnerKey {
    const overrides = row.limits as KeyOverrides
    const previousSecretUntil = row.previous_secret_until?.getTime() ?? 0
    // Decrypted at first use: in a large deployment, most keys are idle.
    let current: HmacKey | undefined
    let previous: HmacKey | undefined
    return {
      keyId: row.key_id,
      orgId: row.org_id,
      mode: row.mode as Mode,
      scopes: new Set(row.scopes),
      limits: limitsFor(row.mode as Mode, overrides),
      overrides,
      expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
      revoked: row.revoked_at !== null,
      secrets(now) {
        current ??= openHmacKey(row.secret)
        if (row.previous_secret === null || now >= previousSecretUntil) return [current]
        previous ??= openHmacKey(row.previous_secret)
        return [current, previous]
      },
    }

    function openHmacKey(sealed: Buffer) {
      return new HmacKey(Buffer.from(vault.open(sealed, secretPurpose(row.key_id))))
    }
  }
}

interface PartnerKeyRow {
  key_id: string
  org_id: string
  mode: string
  scopes: string[]
  secret: Buffer
  previous_secret: Buffer | null
  previous_secret_until: Date | null
  limits: unknown
  expires_at: Date | null
  revoked_at: Date | null
}
