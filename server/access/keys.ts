import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import { type Clock, DAY, HOUR } from '../platform/clock.ts'
import type { SealedColumn } from '../platform/data-key-rotation.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { randomCode, randomToken } from '../platform/ids.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { hashToken } from '../platform/token-hash.ts'
import type { Vault } from '../platform/vault.ts'
import type { LimitPreset } from './limits/table.ts'
import { getOrganisation, lockOrganisationLimits } from './organisations.ts'
import type { Scope } from './scopes.ts'

export type Mode = 'test' | 'live'
export type KeyKind = 'partner' | 'session'

export interface NewKey {
  /** Maximum lifetime in days that the operator requires of LIVE keys (KEY_MAX_DAYS), if any. */
  maxDays: number | undefined
  orgId: string
  mode: Mode
  name?: string | undefined
  expiresAt?: Date | undefined
  /** CIDR ranges that the key may be used from; any address if omitted. */
  allowedAddresses?: string[] | undefined
}

export interface KeySummary {
  key_id: string
  kind: KeyKind
  org_id: string
  mode: Mode
  /** The name that a member or an operator gave to the key. */
  name: string | null
  scopes: string[]
  expires_at: Date | null
  revoked_at: Date | null
  /** End of the grace period of the previous secret; may be in the past. */
  previous_secret_until: Date | null
  created_at: Date
  /** Null if the key has never been used. At most a minute late. */
  last_used_at: Date | null
  /** CIDR ranges that the key may be used from; null for any address. */
  allowed_addresses: string[] | null
}

/** Hours that the previous secret stays valid after a rotation, so that callers can switch without downtime. */
export const DEFAULT_GRACE_HOURS = 24
export const MAX_GRACE_HOURS = 720

export const MAX_KEY_NAME_LENGTH = 80

export function keyStatus({ revoked_at, expires_at }: Pick<KeySummary, 'revoked_at' | 'expires_at'>, now: number) {
  if (revoked_at) return 'revoked' as const
  return expires_at && expires_at.getTime() <= now ? ('expired' as const) : ('active' as const)
}

/** Returns the name of a key as it is stored: on one line, without invisible characters. Throws an error if it is empty or too long. */
export function parseKeyName(text: string): string {
  const name = toSingleLine(text)
  const length = [...name].length
  if (length > 0 && length <= MAX_KEY_NAME_LENGTH) return name
  throw invalid([{ path: 'name', message: `must have 1 to ${MAX_KEY_NAME_LENGTH} visible characters; has ${length}` }])
}

export function secretPurpose(keyId: string) {
  return `secret of ${keyId}`
}

export const sealedKeySecrets: SealedColumn[] = ['secret', 'previous_secret'].map((column) => ({
  table: 'partner_keys',
  column,
  id: ['key_id'],
  purpose: secretPurpose,
}))

/** Creates a partner key. The secret cannot be retrieved again: the database stores it encrypted. */
export async function createPartnerKey(
  tx: Tx,
  vault: Vault,
  clock: Clock,
  key: NewKey & { scopes: Scope[]; preset?: LimitPreset | undefined },
): Promise<{ keyId: string; secret: string }> {
  if (key.preset) requireTestKey(key.mode)
  requireAllowedExpiry(clock, key)
  await requireRoomForKey(tx, clock, key, 'partner')
  const keyId = `VFN_${key.mode.toUpperCase()}_${randomCode(24)}`
  const secret = newSecret()
  await tx
    .insertInto('partner_keys')
    .values({
      key_id: keyId,
      org_id: key.orgId,
      mode: key.mode,
      scopes: key.scopes,
      secret: vault.seal(secret, secretPurpose(keyId)),
      name: key.name ?? null,
      limits: JSON.stringify(key.preset ? { preset: key.preset } : {}),
      allowed_addresses: key.allowedAddresses ?? null,
      expires_at: key.expiresAt ?? null,
      created_at: new Date(clock.now()),
    })
    .execute()
  return { keyId, secret }
}

/** Rejects a LIVE key that does not expire, or expires later than the operator allows. */
function requireAllowedExpiry(clock: Clock, { mode, expiresAt, maxDays }: NewKey): void {
  if (mode !== 'live' || maxDays === undefined) return
  if (expiresAt && expiresAt.getTime() <= clock.now() + maxDays * DAY) return
  const latest = new Date(clock.now() + maxDays * DAY).toISOString()
  const message = `must be set, and be at most ${maxDays} days ahead (${latest}): the operator limits the lifetime of LIVE keys`
  throw problem('VALIDATION_FAILED', `expires_at ${message}.`, { details: [{ path: 'expires_at', message }] })
}

/** Rejects the preset `ci` for a LIVE key, which has these limits already. */
export function requireTestKey(mode: Mode): void {
  if (mode === 'live')
    throw problem('VALIDATION_FAILED', 'The preset ci is for TEST keys; a LIVE key has these limits by default.')
}

/** Rejects a key beyond the organisation's cap. Keys that exist already are never affected. */
async function requireRoomForKey(tx: Tx, clock: Clock, { orgId, mode }: NewKey, kind: KeyKind): Promise<void> {
  const { maxKeys } = await lockOrganisationLimits(tx, orgId)
  const { count } = await tx
    .selectFrom(kind === 'partner' ? 'partner_keys' : 'session_keys')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('org_id', '=', orgId)
    .where('mode', '=', mode)
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', new Date(clock.now()))]))
    .executeTakeFirstOrThrow()
  if (count < maxKeys) return
  throw problem(
    'LIMIT_EXCEEDED',
    `This organisation has ${count} active ${mode.toUpperCase()} ${kind} keys; the limit is ${maxKeys}. Revoke a key that is not used, or ask the operator to raise the limit with \`attestry org limits ${orgId} --max-keys ${Math.max(count + 1, 2 * maxKeys)}\`.`,
  )
}

function newSecret() {
  return `VFN_SK_${randomToken(32)}`
}

/** Creates a session key. The key cannot be retrieved again: the database stores only its hash. */
export async function createSessionKey(tx: Tx, clock: Clock, key: NewKey): Promise<{ keyId: string; key: string }> {
  requireAllowedExpiry(clock, key)
  await requireRoomForKey(tx, clock, key, 'session')
  const sessionKey = `VSK_${key.mode.toUpperCase()}_${randomToken(32)}`
  const keyId = sessionKey.slice(0, 'VSK_TEST_'.length + 10)
  await tx
    .insertInto('session_keys')
    .values({
      key_id: keyId,
      hash: hashToken(sessionKey),
      org_id: key.orgId,
      mode: key.mode,
      name: key.name ?? null,
      allowed_addresses: key.allowedAddresses ?? null,
      expires_at: key.expiresAt ?? null,
      created_at: new Date(clock.now()),
    })
    .execute()
  return { keyId, key: sessionKey }
}

export async function listKeys(tx: Queries, orgId: string): Promise<KeySummary[]> {
  await getOrganisation(tx, orgId)
  const sharedColumns = [
    'k.key_id',
    'org_id',
    'mode',
    'name',
    'expires_at',
    'revoked_at',
    'created_at',
    'allowed_addresses',
    'last_used_at',
  ] as const
  const partnerRows = await tx
    .selectFrom('partner_keys as k')
    .leftJoin('key_uses as u', 'u.key_id', 'k.key_id')
    .select([...sharedColumns, 'scopes', 'previous_secret_until'])
    .where('org_id', '=', orgId)
    .execute()
  const sessionRows = await tx
    .selectFrom('session_keys as k')
    .leftJoin('key_uses as u', 'u.key_id', 'k.key_id')
    .select(sharedColumns)
    .where('org_id', '=', orgId)
    .execute()
  return [
    ...partnerRows.map((row) => ({ ...row, mode: row.mode as Mode, kind: 'partner' as const })),
    ...sessionRows.map((row) => ({
      ...row,
      mode: row.mode as Mode,
      kind: 'session' as const,
      scopes: [],
      previous_secret_until: null,
    })),
  ].sort((a, b) => a.created_at.getTime() - b.created_at.getTime())
}

/** Revokes a key, given its ID or the session key itself. Revoking a revoked key changes nothing. */
export async function revokeKey(tx: Tx, clock: Clock, key: string): Promise<{ keyId: string; kind: KeyKind }> {
  const change = { revoked_at: new Date(clock.now()) }
  const kind = key.startsWith('VSK_') ? 'session' : 'partner'
  const row =
    kind === 'session'
      ? await tx
          .selectFrom('session_keys')
          .select(['key_id', 'revoked_at'])
          .where((where) => where.or([where('key_id', '=', key), where('hash', '=', hashToken(key))]))
          .forUpdate()
          .executeTakeFirst()
      : await tx
          .selectFrom('partner_keys')
          .select(['key_id', 'revoked_at'])
          .where('key_id', '=', key)
          .forUpdate()
          .executeTakeFirst()
  if (!row) throw keyNotFoundProblem(kind === 'session' ? 'Session key' : `Key ${key}`)
  if (!row.revoked_at) {
    if (kind === 'session') await tx.updateTable('session_keys').set(change).where('key_id', '=', row.key_id).execute()
    else await tx.updateTable('partner_keys').set(change).where('key_id', '=', row.key_id).execute()
  }
  return { keyId: row.key_id, kind }
}

/** Rotates a partner key's secret. The previous secret stays valid for the grace period; older ones expire immediately. */
export async function rotateKey(
  tx: Tx,
  vault: Vault,
  clock: Clock,
  keyId: string,
  graceHours: number = DEFAULT_GRACE_HOURS,
): Promise<{ secret: string; previousUntil: Date }> {
  const row = await tx
    .selectFrom('partner_keys')
    .select(['secret', 'revoked_at'])
    .where('key_id', '=', keyId)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw keyNotFoundProblem(`Partner key ${keyId}`)
  if (row.revoked_at) throw problem('CONFLICT', `${keyId} is revoked; create a new key instead.`)
  const secret = newSecret()
  const previousUntil = new Date(clock.now() + graceHours * HOUR)
  await tx
    .updateTable('partner_keys')
    .set({
      secret: vault.seal(secret, secretPurpose(keyId)),
      previous_secret: row.secret,
      previous_secret_until: previousUntil,
    })
    .where('key_id', '=', keyId)
    .execute()
  return { secret, previousUntil }
}

/** Sets the name of a key, or removes it. */
export async function renameKey(tx: Tx, keyId: string, name: string | null): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable(tableOf(keyId))
    .set({ name })
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw keyNotFoundProblem(`Key ${keyId}`)
}

/** Sets the CIDR ranges that a key may be used from, or null for any address. Takes effect within a second. */
export async function setAllowedAddresses(tx: Tx, keyId: string, ranges: string[] | null): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable(tableOf(keyId))
    .set({ allowed_addresses: ranges })
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw keyNotFoundProblem(`Key ${keyId}`)
}

/** Returns the organisation and mode of a partner or session key. */
export async function findKeyScope(tx: Queries, keyId: string): Promise<{ orgId: string; mode: Mode } | undefined> {
  const row = await tx
    .selectFrom(tableOf(keyId))
    .select(['org_id', 'mode'])
    .where('key_id', '=', keyId)
    .executeTakeFirst()
  return row && { orgId: row.org_id, mode: row.mode as Mode }
}

/** Returns the names of those keys that have one, by the ID of the key. */
export async function findKeyNames(queries: Queries, orgId: string, keyIds: string[]): Promise<Map<string, string>> {
  const rows = await queries
    .selectFrom('partner_keys')
    .select(['key_id', 'name'])
    .where('org_id', '=', orgId)
    .where('key_id', 'in', keyIds)
    .unionAll(
      queries
        .selectFrom('session_keys')
        .select(['key_id', 'name'])
        .where('org_id', '=', orgId)
        .where('key_id', 'in', keyIds),
    )
    .execute()
  return new Map(rows.flatMap(({ key_id, name }) => (name === null ? [] : [[key_id, name] as const])))
}

function tableOf(keyId: string) {
  return keyId.startsWith('VSK_') ? 'session_keys' : 'partner_keys'
}

function keyNotFoundProblem(subject: string) {
  return problem('NOT_FOUND', `${subject} not found.`)
}
