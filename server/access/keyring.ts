import type { Database } from '../platform/database/database.ts'
import type { Listener } from '../platform/database/listener.ts'
import type { Log } from '../platform/log.ts'
import type { Vault } from '../platform/vault.ts'
import { HmacKey } from './hmac.ts'
import { hashSessionKey, type Mode, secretPurpose } from './keys.ts'
import { type KeyLimits, type KeyOverrides, limitsFor } from './limits/table.ts'

/** A partner key as requests need it: secrets ready for signing, limits worked out. */
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

export interface SessionKey {
  keyId: string
  orgId: string
  mode: Mode
  expiresAt: number
  revoked: boolean
}

/**
 * Every key of the deployment, in memory. The database counts a version up with each change and announces it; fetching what
 * lies above the last version seen, at each announcement and, while keys are asked for, a few times a second besides, puts a
 * change in force everywhere well within a second. A flood of unknown keys costs neither queries nor memory.
 */
export interface Keyring {
  /** A promise to wait for before asking, in the rare moment when what is known may be out of date. */
  stale(): Promise<void> | undefined
  partnerKey(keyId: string): PartnerKey | undefined
  sessionKey(key: string): SessionKey | undefined
  /** Whether the operator switched the partner API off, as a whole or for the organisation. */
  serviceOff(orgId: string): boolean
  refresh(): Promise<void>
  close(): void
}

/** Milliseconds between looks while keys are asked for, and how long after the last question that is. */
const POLL = 200
const ASKED = 10_000
/** Older knowledge than this is not acted on: a revocation may have been missed. */
const STALE = 900
const LONG = 3000
export interface KeyringOptions {
  db: Database
  vault: Vault
  listener: Listener
  log: Log
}

export async function openKeyring({ db, vault, listener, log }: KeyringOptions): Promise<Keyring> {
  const partnerKeys = new Map<string, PartnerKey>()
  const sessionKeys = new Map<string, SessionKey>()
  const offOrganisations = new Set<string>()
  let allOff = false
  let version = -1
  let refreshedAt = 0
  let askedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined
  let waiting: Promise<void> | undefined

  await refresh()
  await listener.on('access_changed', refreshQuietly)
  const timer = setInterval(() => {
    if (performance.now() - askedAt < ASKED) refreshQuietly()
  }, POLL)
  timer.unref()

  return {
    stale() {
      askedAt = performance.now()
      return askedAt - refreshedAt > STALE ? refresh() : undefined
    },
    partnerKey: (keyId) => partnerKeys.get(keyId),
    sessionKey: (key) => sessionKeys.get(hashSessionKey(key).toString('base64')),
    serviceOff: (orgId) => allOff || offOrganisations.has(orgId),
    refresh,
    close: () => clearInterval(timer),
  }

  /** Fetches what changed. Who asks while an earlier fetch is under way waits for one that began after the question. */
  async function refresh(): Promise<void> {
    if (waiting) return waiting
    const since = performance.now()
    waiting = (running ?? Promise.resolve())
      .catch((error) => {
        // Where the database was silent for so long, it is not asked once more while callers wait.
        if (performance.now() - since < LONG) return
        waiting = undefined
        throw error
      })
      .then(() => {
        waiting = undefined
        running = fetchChanges().finally(() => {
          running = undefined
        })
        return running
      })
    return waiting
  }

  function refreshQuietly() {
    refresh().catch((error) => log.warn({ err: error }, 'keys could not be refreshed'))
  }

  async function fetchChanges() {
    const asked = performance.now()
    const latest = await db.queries.selectFrom('access_version').select('version').executeTakeFirstOrThrow()
    if (latest.version !== version) {
      await fetchAbove(version)
      version = latest.version
    }
    refreshedAt = asked
  }

  async function fetchAbove(seen: number) {
    // What commits after the version was read has a higher one, and is fetched (again) the next time.
    const [partners, sessions, organisations, service] = await db.queries
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(
        async (tx) =>
          [
            await tx.selectFrom('partner_keys').selectAll().where('version', '>', seen).execute(),
            await tx.selectFrom('session_keys').selectAll().where('version', '>', seen).execute(),
            await tx
              .selectFrom('organisations')
              .select(['org_id', 'service_off'])
              .where('version', '>', seen)
              .execute(),
            await tx.selectFrom('service_switch').select('service_off').executeTakeFirstOrThrow(),
          ] as const,
      )
    for (const row of partners) partnerKeys.set(row.key_id, readPartnerKey(row))
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
      if (row.service_off) offOrganisations.add(row.org_id)
      else offOrganisations.delete(row.org_id)
    }
    allOff = service.service_off
  }

  function readPartnerKey(row: PartnerKeyRow): PartnerKey {
    const overrides = row.limits as KeyOverrides
    const previousUntil = row.previous_secret_until?.getTime() ?? 0
    // Decrypted at the first use: most keys of a large deployment sleep.
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
        current ??= secretKey(row.secret)
        if (row.previous_secret === null || now >= previousUntil) return [current]
        previous ??= secretKey(row.previous_secret)
        return [current, previous]
      },
    }

    function secretKey(sealed: Buffer) {
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
