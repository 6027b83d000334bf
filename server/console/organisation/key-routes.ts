import { sql } from 'kysely'
import { Type } from 'typebox'
import { MAX_ALLOWED_RANGES, parseAllowedRange } from '../../access/allowed-addresses.ts'
import { runIdempotent } from '../../access/idempotency.ts'
import { getKeyLimits } from '../../access/key-limits.ts'
import {
  createPartnerKey,
  createSessionKey,
  DEFAULT_GRACE_HOURS,
  type KeySummary,
  keyStatus,
  listKeys,
  MAX_GRACE_HOURS,
  MAX_KEY_NAME_LENGTH,
  type Mode,
  parseKeyName,
  renameKey,
  revokeKey,
  rotateKey,
  setAllowedAddresses,
} from '../../access/keys.ts'
import { BUCKET_NAMES, LIMIT_CLASSES, type LimitClass } from '../../access/limits/table.ts'
import { allScopes } from '../../access/scopes.ts'
import { invalid } from '../../api/invalid.ts'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { indianDate } from '../../platform/india-time.ts'
import { findActiveCooldowns } from '../operator/cooldowns.ts'
import { closed, successResponse } from '../schema.ts'
import { CreatedKey, KeyLimits, KeyList, KeyRecord } from './schema.ts'

const KeyParams = Type.Object({ key_id: Type.String({ pattern: '^V(FN|SK)_(TEST|LIVE)_[A-Za-z0-9_-]{8,40}$' }) })

const AllowedAddresses = Type.Union(
  [Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: MAX_ALLOWED_RANGES }), Type.Null()],
  { description: 'IP addresses or CIDR ranges that the key may be used from. Null: any address.' },
)

/** Accepts longer names than those that are stored, because spaces at both ends are removed. */
const KeyName = Type.String({
  maxLength: 2 * MAX_KEY_NAME_LENGTH,
  description: 'The name of the key in lists, emails and logs.',
})

const KeyBody = Type.Object(
  {
    kind: Type.Enum(['partner', 'session']),
    name: Type.Optional(KeyName),
    scopes: Type.Optional(
      Type.Array(Type.Enum([...allScopes]), { minItems: 1, maxItems: allScopes.length, uniqueItems: true }),
    ),
    expires_at: Type.Optional(Type.String({ maxLength: 40 })),
    allowed_addresses: Type.Optional(AllowedAddresses),
  },
  closed,
)

/** Routes for the keys of an organisation and mode. A secret is returned only when it is created or rotated. */
export function keyRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const ownerConfig = { role: 'owner', idempotent: 'optional', recentSignIn: true } as const

  app.get(
    '/orgs/:org/:mode/keys',
    { config: { role: 'owner' }, schema: { response: { 200: success(KeyList) } } },
    async ({ caller }) => {
      const keys = (await listKeys(db.queries, caller.orgId)).filter(({ mode }) => mode === caller.mode)
      const max_days = caller.mode === 'live' ? (context.config.keyMaxDays ?? null) : null
      const grace_hours = { usual: DEFAULT_GRACE_HOURS, most: MAX_GRACE_HOURS }
      return successResponse('Keys', { items: keys.map(keyRecord).reverse(), next_cursor: null, grace_hours, max_days })
    },
  )

  app.post(
    '/orgs/:org/:mode/keys',
    { config: ownerConfig, schema: { body: KeyBody, response: { 201: success(CreatedKey) } } },
    async (request, reply): Promise<void> => {
      const { kind, name, scopes: requestedScopes, expires_at, allowed_addresses } = request.body
      if (kind === 'session' && requestedScopes)
        throw invalid([{ path: 'scopes', message: 'is not allowed for a session key' }])
      const expiresAt = parseExpiry(expires_at)
      const allowedAddresses = parseAllowedAddresses(allowed_addresses ?? null) ?? undefined
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const key = {
          orgId: caller.orgId,
          mode: caller.mode,
          name: name?.trim() ? parseKeyName(name) : undefined,
          expiresAt,
          allowedAddresses,
          maxDays: context.config.keyMaxDays,
        }
        const createdKey =
          kind === 'session'
            ? await createSessionKey(tx, clock, key)
            : await createPartnerKey(tx, vault, clock, { ...key, scopes: requestedScopes ?? [...allScopes] })
        const credential = 'secret' in createdKey ? { secret: createdKey.secret } : { key: createdKey.key }
        const data = { ...keyRecord(await getKey(tx, caller.orgId, caller.mode, createdKey.keyId)), ...credential }
        return { status: 201, body: successResponse('Key created', data), secret: true }
      })
    },
  )

  app.post(
    '/orgs/:org/:mode/keys/:key_id/rotate',
    {
      config: ownerConfig,
      schema: {
        params: KeyParams,
        body: Type.Object(
          { grace_hours: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_GRACE_HOURS })) },
          { ...closed, default: {} },
        ),
        response: { 200: success(CreatedKey) },
      },
    },
    async (request, reply): Promise<void> => {
      const { key_id } = request.params
      const { grace_hours } = request.body
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const key = await getKey(tx, caller.orgId, caller.mode, key_id)
        if (key.kind === 'session')
          throw problem('CONFLICT', 'A session key cannot be rotated; create a new key and revoke this one.')
        const { secret } = await rotateKey(tx, vault, clock, key_id, grace_hours)
        const data = { ...keyRecord(await getKey(tx, caller.orgId, caller.mode, key_id)), secret }
        return { status: 200, body: successResponse('Secret rotated', data), secret: true }
      })
    },
  )

  app.post(
    '/orgs/:org/:mode/keys/:key_id/revoke',
    { config: ownerConfig, schema: { params: KeyParams, response: { 200: success(KeyRecord) } } },
    async (request, reply): Promise<void> => {
      const { key_id } = request.params
      await runIdempotent(context, request, reply, async (tx, caller) => {
        await getKey(tx, caller.orgId, caller.mode, key_id)
        await revokeKey(tx, clock, key_id)
        const revokedKey = await getKey(tx, caller.orgId, caller.mode, key_id)
        return { status: 200, body: successResponse('Key revoked', keyRecord(revokedKey)) }
      })
    },
  )

  app.put(
    '/orgs/:org/:mode/keys/:key_id/name',
    {
      config: ownerConfig,
      schema: {
        params: KeyParams,
        body: Type.Object({ name: Type.Union([KeyName, Type.Null()]) }, closed),
        response: { 200: success(KeyRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      const { key_id } = request.params
      const name = request.body.name === null ? null : parseKeyName(request.body.name)
      await runIdempotent(context, request, reply, async (tx, caller) => {
        await getKey(tx, caller.orgId, caller.mode, key_id)
        await renameKey(tx, key_id, name)
        const renamedKey = await getKey(tx, caller.orgId, caller.mode, key_id)
        return { status: 200, body: successResponse('Key renamed', keyRecord(renamedKey)) }
      })
    },
  )

  app.put(
    '/orgs/:org/:mode/keys/:key_id/allowed-addresses',
    {
      config: ownerConfig,
      schema: {
        params: KeyParams,
        body: Type.Object({ allowed_addresses: AllowedAddresses }, closed),
        response: { 200: success(KeyRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      const { key_id } = request.params
      const ranges = parseAllowedAddresses(request.body.allowed_addresses)
      await runIdempotent(context, request, reply, async (tx, caller) => {
        await getKey(tx, caller.orgId, caller.mode, key_id)
        await setAllowedAddresses(tx, key_id, ranges)
        const changedKey = await getKey(tx, caller.orgId, caller.mode, key_id)
        return { status: 200, body: successResponse('Allowed addresses changed', keyRecord(changedKey)) }
      })
    },
  )

  app.get(
    '/orgs/:org/:mode/keys/:key_id/limits',
    { config: { role: 'owner' }, schema: { params: KeyParams, response: { 200: success(KeyLimits) } } },
    async ({ caller, params: { key_id } }) => {
      const key = await getKey(db.queries, caller.orgId, caller.mode, key_id)
      if (key.kind === 'session') throw problem('NOT_FOUND', 'Session keys have no limits of their own.')
      return successResponse('Limits', await limitUsage(key_id))
    },
  )

  function parseExpiry(text: string | undefined): Date | undefined {
    if (text === undefined) return undefined
    const time = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN
    if (!(time > clock.now()))
      throw invalid([
        { path: 'expires_at', message: 'must be a future time in ISO 8601 format, such as 2030-01-31T18:30:00Z' },
      ])
    return new Date(time)
  }

  function keyRecord(key: KeySummary) {
    const { key_id, kind, mode, name, scopes, expires_at, revoked_at, previous_secret_until, created_at } = key
    const { last_used_at, allowed_addresses } = key
    const bothSecretsValid = previous_secret_until !== null && previous_secret_until.getTime() > clock.now()
    return {
      key_id,
      kind,
      mode,
      name,
      scopes,
      status: keyStatus(key, clock.now()),
      expires_at: expires_at?.toISOString() ?? null,
      revoked_at: revoked_at?.toISOString() ?? null,
      previous_secret_until: bothSecretsValid ? previous_secret_until.toISOString() : null,
      created_at: created_at.toISOString(),
      last_used_at: last_used_at?.toISOString() ?? null,
      allowed_addresses,
    }
  }

  async function limitUsage(keyId: string) {
    const { limits } = await db.transaction((tx) => getKeyLimits(tx, keyId))
    const now = clock.now()
    const buckets = await Promise.all(
      BUCKET_NAMES.map(async (name) => {
        const { rate, burst, minute, day } = limits.buckets[name]
        const isLimitClass = (LIMIT_CLASSES as readonly string[]).includes(name)
        const minuteWindow = isLimitClass
          ? await context.limits.limiter.minuteWindow(keyId, limits, name as LimitClass, now)
          : undefined
        return {
          name,
          per_second: rate,
          burst,
          per_minute: minute,
          per_day: Number.isFinite(day) ? day : null,
          minute_used: minuteWindow ? minuteWindow.limit - minuteWindow.remaining : null,
          minute_resets_in: minuteWindow?.reset ?? null,
        }
      }),
    )
    const { rows } = await sql<{ people: number }>`
      select people from people_days where key_id = ${keyId} and day = ${indianDate(now)}`.execute(db.queries)
    const [cooldown] = await findActiveCooldowns(context, [keyId])
    return {
      key_id: keyId,
      cooldown_until: cooldown ? new Date(cooldown.until).toISOString() : null,
      buckets,
      people_per_day: limits.peoplePerDay,
      people_today: rows[0]?.people ?? 0,
      skills_per_day: limits.skillsPerDay,
      browse_pages_per_hour: limits.browsePagesPerHour,
    }
  }
}

/** Returns the ranges in canonical form, each once. Throws an error for each range that is not valid. */
function parseAllowedAddresses(texts: string[] | null): string[] | null {
  if (texts === null) return null
  const parsed = texts.map(parseAllowedRange)
  const details = parsed.flatMap((result, index) =>
    'error' in result ? [{ path: `allowed_addresses[${index}]`, message: result.error }] : [],
  )
  if (details.length > 0) throw invalid(details)
  return [...new Set(parsed.flatMap((result) => ('range' in result ? [result.range] : [])))]
}

/** Throws NOT_FOUND for keys of another organisation or mode. */
async function getKey(queries: Queries, orgId: string, mode: Mode, keyId: string): Promise<KeySummary> {
  const ownKey = (await listKeys(queries, orgId)).find((key) => key.key_id === keyId && key.mode === mode)
  if (!ownKey) throw problem('NOT_FOUND', `Key ${keyId} not found.`)
  return ownKey
}
