import { coalesce } from '../platform/coalesce.ts'
import type { Database } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import { HmacKey } from '../platform/hmac.ts'
import type { Log } from '../platform/log.ts'
import { hashToken } from '../platform/token-hash.ts'
import type { Vault } from '../platform/vault.ts'
import { type AddressRange, toAddressRanges } from './allowed-addresses.ts'
import { type Mode, secretPurpose } from './keys.ts'
import { combineLimits, type KeyLimits, type KeyOverrides, limitsFor } from './limits/table.ts'
import { DEFAULT_LIMIT_FACTOR } from './organisations.ts'
import type { PausedOrganisations } from './service-switch.ts'

/** A partner key with the parts that every request needs: HMAC keys and effective limits. */
export interface PartnerKey {
  keyId: string
  orgId: string
  mode: Mode
  scopes: ReadonlySet<string>
  secrets(now: number): HmacKey[]
  /** Includes the limits that all keys of the organisation and mode share. */
  limits: KeyLimits
  overrides: KeyOverrides
  expiresAt: number
  revoked: boolean
  /** Undefined if the key may be used from any address. */
  allowedAddresses: AddressRange[] | undefined
}

interface SessionKey {
  keyId: string
  orgId: string
  mode: Mode
  expiresAt: number
  revoked: boolean
  allowedAddresses: AddressRange[] | undefined
}

/** A key of an applicant tracking system (ATS), which belongs to one connection. */
export interface AtsKey {
  keyId: string
  orgId: string
  mode: Mode
  adapter: string
  connectionId: string
  limits: KeyLimits
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
  /** Same as `refreshIfStale`, but does not start polling. For background work, which runs also while no key is in use. */
  ensureFresh(): Promise<void> | undefined
  partnerKey(keyId: string): PartnerKey | undefined
  sessionKey(key: string): SessionKey | undefined
  atsKey(key: string): AtsKey | undefined
  /** Returns an active key of a connection whose ATS signs its calls, and thus sends no key. */
  atsKeyOfConnection(connectionId: string): AtsKey | undefined
  /** Multiple of the limits of one key that all keys of the organisation and mode have together. */
  limitFactor(orgId: string): number
  /** Whether the operator disabled the partner API, for all organisations or for this one. */
  isServiceDisabled(orgId: string): boolean
  /** Whether the operator stopped all work, for all organisations or for this one. */
  isServicePaused(orgId: string): boolean
  pausedOrganisations(): PausedOrganisations
  /** Calls `listener` after organisations were paused or resumed. */
  onPauseChanged(listener: () => void): void
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
  const atsKeys = new Map<string, AtsKey>()
  const atsKeysByConnection = new Map<string, Map<string, AtsKey>>()
  const disabledOrganisations = new Set<string>()
  /** The keys of each organisation and mode, by `sharedLimitsId`, and the factors that operators set for organisations. */
  const keyGroups = new Map<string, Map<string, PartnerKey>>()
  const limitFactors = new Map<string, number>()
  const pausedOrganisations = new Set<string>()
  const pauseListeners: (() => void)[] = []
  let allDisabled = false
  let allPaused = false
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
    ensureFresh: () => (performance.now() - refreshedAt > STALE_AFTER_MS ? refresh() : undefined),
    partnerKey: (keyId) => partnerKeys.get(keyId),
    sessionKey: (key) => sessionKeys.get(hashToken(key).toString('base64')),
    atsKey: (key) => atsKeys.get(hashToken(key).toString('base64')),
    atsKeyOfConnection: (id) => [...(atsKeysByConnection.get(id)?.values() ?? [])].find(({ revoked }) => !revoked),
    limitFactor: (orgId) => limitFactors.get(orgId) ?? DEFAULT_LIMIT_FACTOR,
    isServiceDisabled: (orgId) => allDisabled || disabledOrganisations.has(orgId),
    isServicePaused: (orgId) => allPaused || pausedOrganisations.has(orgId),
    pausedOrganisations: () => (allPaused ? 'all' : [...pausedOrganisations]),
    onPauseChanged: (listener) => void pauseListeners.push(listener),
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
    const [partners, sessions, ats, organisations, service] = await db.queries
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(
        async (tx) =>
          [
            await tx.selectFrom('partner_keys').selectAll().where('version', '>', lastVersion).execute(),
            await tx.selectFrom('session_keys').selectAll().where('version', '>', lastVersion).execute(),
            await tx.selectFrom('ats_keys').selectAll().where('version', '>', lastVersion).execute(),
            await tx
              .selectFrom('organisations')
              .select(['org_id', 'service_off', 'limit_factor', 'paused_since'])
              .where('version', '>', lastVersion)
              .execute(),
            await tx.selectFrom('service_switch').select(['service_off', 'paused_since']).executeTakeFirstOrThrow(),
          ] as const,
      )
    const changedGroups = new Set<string>()
    for (const row of partners) {
      const key = partnerKeyFromRow(row)
      const groupId = sharedLimitsId(key)
      partnerKeys.set(key.keyId, key)
      if (!keyGroups.has(groupId)) keyGroups.set(groupId, new Map())
      keyGroups.get(groupId)!.set(key.keyId, key)
      changedGroups.add(groupId)
    }
    for (const row of sessions) {
      sessionKeys.set(row.hash.toString('base64'), {
        keyId: row.key_id,
        orgId: row.org_id,
        mode: row.mode as Mode,
        expiresAt: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
        revoked: row.revoked_at !== null,
        allowedAddresses: row.allowed_addresses ? toAddressRanges(row.allowed_addresses) : undefined,
      })
    }
    for (const row of ats) {
      const key: AtsKey = {
        keyId: row.key_id,
        orgId: row.org_id,
        mode: row.mode as Mode,
        adapter: row.adapter,
        connectionId: row.connection_id,
        limits: limitsFor(row.mode as Mode, row.limits as KeyOverrides),
        revoked: row.revoked_at !== null,
      }
      atsKeys.set(row.hash.toString('base64'), key)
      const keysOfConnection = atsKeysByConnection.get(key.connectionId) ?? new Map<string, AtsKey>()
      atsKeysByConnection.set(key.connectionId, keysOfConnection.set(key.keyId, key))
    }
    let isPauseChanged = allPaused !== (service.paused_since !== null)
    for (const row of organisations) {
      const factor = row.limit_factor ?? DEFAULT_LIMIT_FACTOR
      if (factor !== (limitFactors.get(row.org_id) ?? DEFAULT_LIMIT_FACTOR)) {
        limitFactors.set(row.org_id, factor)
        for (const mode of ['test', 'live'] as const) changedGroups.add(sharedLimitsId({ orgId: row.org_id, mode }))
      }
      if (row.service_off) disabledOrganisations.add(row.org_id)
      else disabledOrganisations.delete(row.org_id)
      isPauseChanged ||= pausedOrganisations.has(row.org_id) !== (row.paused_since !== null)
      if (row.paused_since !== null) pausedOrganisations.add(row.org_id)
      else pausedOrganisations.delete(row.org_id)
    }
    for (const groupId of changedGroups) updateSharedLimits(groupId)
    allDisabled = service.service_off
    allPaused = service.paused_since !== null
    if (isPauseChanged) for (const notify of pauseListeners) notify()
  }

  /** Sets the shared limits of the keys of an organisation and mode: a multiple of the highest limits of its keys. */
  function updateSharedLimits(groupId: string) {
    const keys = [...(keyGroups.get(groupId)?.values() ?? [])]
    const usableKeys = keys.filter(({ revoked }) => !revoked)
    if (usableKeys.length === 0) return
    const factor = limitFactors.get(usableKeys[0]!.orgId) ?? DEFAULT_LIMIT_FACTOR
    const limits = combineLimits(
      usableKeys.map((key) => key.limits),
      factor,
    )
    const shared = { id: groupId, limits }
    for (const key of usableKeys) key.limits = { ...key.limits, shared }
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
      allowedAddresses: row.allowed_addresses ? toAddressRanges(row.allowed_addresses) : undefined,
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

/** Identifies the counts that the keys of an organisation and mode share. */
export function sharedLimitsId({ orgId, mode }: { orgId: string; mode: Mode }): string {
  return `${orgId} ${mode}`
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
  allowed_addresses: string[] | null
}
