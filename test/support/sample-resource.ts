import { sql } from 'kysely'
import { Type } from 'typebox'
import { runIdempotent } from '../../server/access/idempotency.ts'
import type { LimitClass } from '../../server/access/limits/table.ts'
import { guardPartnerRoutes } from '../../server/access/partner-guards.ts'
import type { Scope } from '../../server/access/scopes.ts'
import { PARTNER_BASE } from '../../server/api/envelope.ts'
import { problem } from '../../server/api/problem.ts'
import type { Context } from '../../server/context.ts'
import { currentRole, grantRowAccess } from '../../server/platform/database/row-access.ts'
import type { App } from '../../server/platform/http/server.ts'

export interface SampleResourceOptions {
  scope?: Scope | null
  limit?: LimitClass
  /** Awaited inside the transaction, after the row of the sample was inserted. */
  pause?: () => Promise<void>
}

/**
 * Adds a partner resource that exists only in tests. The partner guards work the same way on every route, so they are tested on
 * this small resource.
 */
export function addSampleResource(app: App, context: Context, options: SampleResourceOptions = {}): void {
  app.register(
    async (scope) => {
      const resource = scope as App
      guardPartnerRoutes(resource, context)
      const config = { scope: options.scope ?? null, limit: options.limit ?? 'mandateWrites' } as const
      const body = Type.Object({ name: Type.String({ minLength: 1, maxLength: 40 }) }, { additionalProperties: false })

      for (const [methods, path, idempotent] of [
        [['POST'], '/samples', 'optional'],
        [['POST', 'PUT'], '/paid-samples', 'required'],
      ] as const) {
        resource.route({
          method: [...methods],
          url: path,
          config: { ...config, idempotent },
          schema: { body },
          handler: (request, reply) =>
            runIdempotent(context, request, reply, async (tx, caller) => {
              const { name } = request.body
              await sql`insert into samples (org_id, name) values (${caller.orgId}, ${name})`.execute(tx)
              await options.pause?.()
              if (name === 'conflict') throw problem('CONFLICT', 'A sample with this name exists already.')
              if (name === 'retry-later') throw problem('CONFLICT', 'Not now.', { retryAfter: 7 })
              if (name === 'busy') throw problem('SERVICE_UNAVAILABLE', 'Too many requests at once.', { retryAfter: 3 })
              if (name === 'poor') throw problem('INSUFFICIENT_CREDITS', 'Not enough credits.')
              if (name === 'broken') throw new Error('the database password is hunter2')
              const returnsSecret = name === 'secret'
              return {
                status: 201,
                body: {
                  success: true,
                  message: 'Created',
                  data: { name, ...(returnsSecret ? { secret: 'whsec_very' } : {}) },
                },
                secret: returnsSecret,
              }
            }),
        })
      }
      resource.get(
        '/samples',
        {
          config: { ...config, limit: 'reads' },
          schema: { querystring: Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }) }) },
        },
        async ({ query }) => ({ success: true, message: 'Samples', data: query }),
      )
      resource.get(
        '/samples/:id',
        {
          config: { ...config, limit: 'reads' },
          schema: { params: Type.Object({ id: Type.String({ pattern: '^SM_[0-9]{1,9}$' }) }) },
        },
        async ({ params }) => ({ success: true, message: 'Sample', data: params }),
      )
      resource.put(
        '/samples/:id',
        {
          config,
          schema: {
            params: Type.Object({ id: Type.String({ pattern: '^SM_[0-9]{1,9}$' }) }),
            querystring: Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 100, default: 25 }) }),
            body,
          },
        },
        async ({ params, query, body }) => ({
          success: true,
          message: 'Sample',
          data: { ...params, ...query, ...body },
        }),
      )
      resource.get('/broken', { config: { ...config, limit: 'reads' } }, async () => {
        throw new Error('the database password is hunter2')
      })
    },
    { prefix: PARTNER_BASE },
  )
}

export async function createSampleTable({ db }: Pick<Context, 'db'>): Promise<void> {
  const role = await currentRole(db)
  await db.asOwner(async (owner) => {
    await sql`create table if not exists samples (id bigint generated always as identity, org_id text not null, name text not null)`.execute(
      owner.queries,
    )
    await grantRowAccess(owner, role)
  })
}

export async function countSamples({ db }: Pick<Context, 'db'>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from samples`.execute(db.queries)
  return rows[0]!.count
}
