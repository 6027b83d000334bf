import { sql } from 'kysely'
import { Type } from 'typebox'
import { perform } from '../../server/access/idempotency.ts'
import type { LimitClass } from '../../server/access/limits/table.ts'
import { guardPartnerRoutes } from '../../server/access/partner-guards.ts'
import type { Scope } from '../../server/access/scopes.ts'
import { PARTNER_BASE } from '../../server/api/envelope.ts'
import { problem } from '../../server/api/problem.ts'
import type { Context } from '../../server/context.ts'
import type { App } from '../../server/platform/http/server.ts'

export interface ThingsOptions {
  scope?: Scope | null
  limit?: LimitClass
  /** Awaited inside the transaction, after the row was written. */
  pause?: () => Promise<void>
}

/**
 * A partner resource that only tests have, behind the same front door as the real ones: what the door does is the same for
 * every route, so it is tested on the smallest one.
 */
export function addThings(app: App, context: Context, options: ThingsOptions = {}): void {
  app.register(
    async (scope) => {
      const things = scope as App
      guardPartnerRoutes(things, context)
      const config = { scope: options.scope ?? null, limit: options.limit ?? 'mandateWrites' } as const
      const body = Type.Object({ name: Type.String({ minLength: 1, maxLength: 40 }) }, { additionalProperties: false })

      for (const [path, idempotent] of [
        ['/things', 'optional'],
        ['/paid-things', 'required'],
      ] as const) {
        things.post(path, { config: { ...config, idempotent }, schema: { body } }, (request, reply) =>
          perform(context, request, reply, async (tx, caller) => {
            const { name } = request.body
            await sql`insert into things (org_id, name) values (${caller.orgId}, ${name})`.execute(tx)
            await options.pause?.()
            if (name === 'conflict') throw problem('CONFLICT', 'There is one already.')
            if (name === 'later') throw problem('CONFLICT', 'Not now.', { retryAfter: 7 })
            if (name === 'poor') throw problem('INSUFFICIENT_CREDITS', 'Not enough credits.')
            if (name === 'broken') throw new Error('the database password is hunter2')
            const secret = name === 'secret'
            return {
              status: 201,
              body: { success: true, message: 'Made', data: { name, ...(secret ? { secret: 'whsec_very' } : {}) } },
              secret,
            }
          }),
        )
      }
      things.get(
        '/things',
        {
          config: { ...config, limit: 'reads' },
          schema: { querystring: Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }) }) },
        },
        async ({ query }) => ({ success: true, message: 'Things', data: query }),
      )
      things.get(
        '/things/:id',
        {
          config: { ...config, limit: 'reads' },
          schema: { params: Type.Object({ id: Type.String({ pattern: '^TH_[0-9]{1,9}$' }) }) },
        },
        async ({ params }) => ({ success: true, message: 'Thing', data: params }),
      )
      things.put(
        '/things/:id',
        {
          config,
          schema: {
            params: Type.Object({ id: Type.String({ pattern: '^TH_[0-9]{1,9}$' }) }),
            querystring: Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }) }),
            body,
          },
        },
        async ({ params, query, body }) => ({
          success: true,
          message: 'Thing',
          data: { ...params, ...query, ...body },
        }),
      )
      things.get('/broken', { config: { ...config, limit: 'reads' } }, async () => {
        throw new Error('the database password is hunter2')
      })
    },
    { prefix: PARTNER_BASE },
  )
}

export async function createThingsTable({ db }: Pick<Context, 'db'>): Promise<void> {
  await sql`create table if not exists things (id bigint generated always as identity, org_id text not null, name text not null)`.execute(
    db.queries,
  )
}

export async function countThings({ db }: Pick<Context, 'db'>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from things`.execute(db.queries)
  return rows[0]!.count
}
