import { sql } from 'kysely'
import { Type } from 'typebox'
import { perform } from '../../access/idempotency.ts'
import { getLimits } from '../../access/key-limits.ts'
import {
  createPartnerKey,
  createSessionKey,
  GRACE_HOURS,
  type KeySummary,
  listKeys,
  type Mode,
  revokeKey,
  rotateKey,
  statusOf,
} from '../../access/keys.ts'
import { BUCKET_NAMES, LIMIT_CLASSES, type LimitClass } from '../../access/limits/table.ts'
import { scopes } from '../../access/scopes.ts'
import { problem } from '../../api/problem.ts'
import { indianDay } from '../../campaigns/contact/contact-hours.ts'
import type { Context } from '../../context.ts'
import type { Queries } from '../../platform/database/database.ts'
import type { App } from '../../platform/http/server.ts'
import { invalid } from '../../platform/http/validation.ts'
import { cooldownsOf } from '../operator/cooldowns.ts'
import { answer, closed } from '../schema.ts'

const KeyParams = Type.Object({ key_id: Type.String({ pattern: '^V(FN|SK)_(TEST|LIVE)_[A-Za-z0-9_-]{8,40}$' }) })

const KeyBody = Type.Object(
  {
    kind: Type.Enum(['partner', 'session']),
    scopes: Type.Optional(Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true })),
    expires_at: Type.Optional(Type.String({ maxLength: 40 })),
  },
  closed,
)

/** Keys of an organisation and mode. Whoever makes one sees its secret this once. */
export function keyRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const owner = { role: 'owner', idempotent: 'optional' } as const

  app.get('/orgs/:org/:mode/keys', { config: { role: 'owner' } }, async ({ caller }) => {
    const keys = (await listKeys(db.queries, caller.orgId)).filter(({ mode }) => mode === caller.mode)
    return answer('Keys', { items: keys.map(record).reverse(), next_cursor: null, grace_hours: GRACE_HOURS })
  })

  app.post(
    '/orgs/:org/:mode/keys',
    { config: owner, schema: { body: KeyBody } },
    async (request, reply): Promise<void> => {
      const { kind, scopes: asked, expires_at } = request.body
      if (kind === 'session' && asked) throw invalid([{ path: 'scopes', message: 'a session key has none' }])
      const expiresAt = readExpiry(expires_at)
      await perform(context, request, reply, async (tx, caller) => {
        const key = { orgId: caller.orgId, mode: caller.mode, expiresAt }
        const made =
          kind === 'session'
            ? await createSessionKey(tx, clock, key)
            : await createPartnerKey(tx, vault, clock, { ...key, scopes: asked ?? [...scopes] })
        const shown = 'secret' in made ? { secret: made.secret } : { key: made.key }
        const data = { ...record(await getKey(tx, caller.orgId, caller.mode, made.keyId)), ...shown }
        return { status: 201, body: answer('Key made', data), secret: true }
      })
    },
  )

  app.post(
    '/orgs/:org/:mode/keys/:key_id/rotate',
    {
      config: owner,
      schema: {
        params: KeyParams,
        body: Type.Object(
          { grace_hours: Type.Optional(Type.Integer({ minimum: 0, maximum: GRACE_HOURS.most })) },
          { ...closed, default: {} },
        ),
      },
    },
    async (request, reply): Promise<void> => {
      const { key_id } = request.params
      const { grace_hours } = request.body
      await perform(context, request, reply, async (tx, caller) => {
        const key = await getKey(tx, caller.orgId, caller.mode, key_id)
        if (key.kind === 'session')
          throw problem('CONFLICT', 'A session key has no secret to exchange; make a new key.')
        const { secret } = await rotateKey(tx, vault, clock, key_id, grace_hours)
        const data = { ...record(await getKey(tx, caller.orgId, caller.mode, key_id)), secret }
        return { status: 200, body: answer('Secret exchanged', data), secret: true }
      })
    },
  )

  app.post(
    '/orgs/:org/:mode/keys/:key_id/revoke',
    { config: owner, schema: { params: KeyParams } },
    async (request, reply): Promise<void> => {
      const { key_id } = request.params
      await perform(context, request, reply, async (tx, caller) => {
        await getKey(tx, caller.orgId, caller.mode, key_id)
        await revokeKey(tx, clock, key_id)
        const revoked = await getKey(tx, caller.orgId, caller.mode, key_id)
        return { status: 200, body: answer('Key revoked', record(revoked)) }
      })
    },
  )

  app.get(
    '/orgs/:org/:mode/keys/:key_id/limits',
    { config: { role: 'owner' }, schema: { params: KeyParams } },
    async ({ caller, params: { key_id } }) => {
      const key = await getKey(db.queries, caller.orgId, caller.mode, key_id)
      if (key.kind === 'session') throw problem('NOT_FOUND', 'A session key has no limits of its own.')
      return answer('Limits', await limitsInUse(key_id))
    },
  )

  function readExpiry(text: string | undefined): Date | undefined {
    if (text === undefined) return undefined
    const time = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN
    if (!(time > clock.now())) throw invalid([{ path: 'expires_at', message: 'must be a time to come, in ISO 8601' }])
    return new Date(time)
  }

  function record(key: KeySummary) {
    const { key_id, kind, mode, scopes, expires_at, revoked_at, previous_secret_until, created_at } = key
    const bothValid = previous_secret_until !== null && previous_secret_until.getTime() > clock.now()
    return {
      key_id,
      kind,
      mode,
      scopes,
      status: statusOf(key, clock.now()),
      expires_at: expires_at?.toISOString() ?? null,
      revoked_at: revoked_at?.toISOString() ?? null,
      previous_secret_until: bothValid ? previous_secret_until.toISOString() : null,
      created_at: created_at.toISOString(),
    }
  }

  async function limitsInUse(keyId: string) {
    const { limits } = await db.transaction((tx) => getLimits(tx, keyId))
    const now = clock.now()
    const buckets = await Promise.all(
      BUCKET_NAMES.map(async (name) => {
        const { rate, burst, minute, day } = limits.buckets[name]
        const isClass = (LIMIT_CLASSES as readonly string[]).includes(name)
        const used = isClass ? await context.limits.limiter.minute(keyId, limits, name as LimitClass, now) : undefined
        return {
          name,
          per_second: rate,
          burst,
          per_minute: minute,
          per_day: Number.isFinite(day) ? day : null,
          minute_used: used ? used.limit - used.remaining : null,
          minute_resets_in: used?.reset ?? null,
        }
      }),
    )
    const { rows } = await sql<{ people: number }>`
      select people from people_days where key_id = ${keyId} and day = ${indianDay(now)}`.execute(db.queries)
    const [cooldown] = await cooldownsOf(context, [keyId])
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

/** Another organisation's key, or one of the other mode, is not there. */
async function getKey(queries: Queries, orgId: string, mode: Mode, keyId: string): Promise<KeySummary> {
  const found = (await listKeys(queries, orgId)).find((key) => key.key_id === keyId && key.mode === mode)
  if (!found) throw problem('NOT_FOUND', `There is no key ${keyId}.`)
  return found
}
