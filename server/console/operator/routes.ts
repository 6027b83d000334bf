import { Type } from 'typebox'
import { createOrganisation, getOrganisation, switchService } from '../../access/organisations.ts'
import { grantCredits } from '../../campaigns/credits.ts'
import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { NOT_BLANK } from '../../platform/http/validation.ts'
import { listChanges, recordChange } from '../audit.ts'
import { noteChange } from '../auth/guards.ts'
import { pageOf } from '../paginate.ts'
import { answer, closed, PageQuery } from '../schema.ts'
import { figuresOf, newestOrganisations } from './organisations.ts'

const OrgParams = Type.Object({ org_id: Type.String({ pattern: '^ORG_[A-Z0-9]{10,40}$' }) })
const SwitchBody = Type.Object({ on: Type.Boolean() }, closed)

/** Organisations, their credits, the service switch, and who changed what. */
export function operatorRoutes(app: App, context: Context): void {
  const { db, vault, clock, keyring } = context
  const config = { role: 'operator' } as const

  app.get(
    '/operator/orgs',
    {
      config,
      schema: {
        querystring: Type.Object({
          ...PageQuery.properties,
          q: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
        }),
      },
    },
    async ({ query: { q, ...page } }) => {
      const found = await pageOf(
        vault,
        `organisations ${q ?? ''}`,
        page,
        (before: string | undefined, limit) => newestOrganisations(db.queries, { q, before, limit }),
        ({ org_id }) => org_id,
        ({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }),
      )
      const figures = await figuresOf(
        db.queries,
        found.items.map(({ org_id }) => org_id),
      )
      const items = found.items.map((row) => ({ ...row, ...figures.get(row.org_id)! }))
      return answer('Organisations', { ...found, items })
    },
  )

  app.post(
    '/operator/orgs',
    {
      config,
      schema: {
        body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK }) }, closed),
      },
    },
    async (request, reply) => {
      const made = await db.transaction(async (tx) => {
        const organisation = await createOrganisation(tx, request.body.name, clock)
        await note(tx, request, 'org.create', organisation.org_id, { name: organisation.name })
        return organisation
      })
      reply.status(201)
      return answer('Organisation made', { ...made, created_at: made.created_at.toISOString() })
    },
  )

  app.put(
    '/operator/orgs/:org_id/service',
    { config, schema: { params: OrgParams, body: SwitchBody } },
    async (request) => {
      const { on } = request.body
      const { org_id } = request.params
      const changed = await db.transaction(async (tx) => {
        await switchService(tx, !on, org_id)
        await note(tx, request, on ? 'service.on' : 'service.off', org_id)
        return getOrganisation(tx, org_id)
      })
      await keyring.refresh()
      return answer(on ? 'Service on' : 'Service off', { ...changed, created_at: changed.created_at.toISOString() })
    },
  )

  app.get('/operator/service', { config }, async () => {
    const { service_off } = await db.queries
      .selectFrom('service_switch')
      .select('service_off')
      .executeTakeFirstOrThrow()
    return answer('Service', { on: !service_off })
  })

  app.put('/operator/service', { config, schema: { body: SwitchBody } }, async (request) => {
    const { on } = request.body
    await db.transaction(async (tx) => {
      await switchService(tx, !on)
      await noteChange(tx, context, request, on ? 'service.on' : 'service.off')
    })
    await keyring.refresh()
    return answer(on ? 'Service on' : 'Service off', { on })
  })

  app.post(
    '/operator/orgs/:org_id/credits',
    {
      config,
      schema: {
        params: OrgParams,
        body: Type.Object(
          { mode: Type.Enum(['test', 'live']), amount: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }) },
          closed,
        ),
      },
    },
    async (request) => {
      const { mode, amount } = request.body
      const { org_id } = request.params
      const balance = await db.transaction(async (tx) => {
        const left = await grantCredits(tx, { orgId: org_id, mode }, clock, amount)
        await note(tx, request, 'credits.grant', org_id, { mode, amount })
        return left
      })
      return answer('Credits granted', { mode, balance })
    },
  )

  app.get(
    '/operator/audit',
    {
      config,
      schema: {
        querystring: Type.Object({ ...PageQuery.properties, org_id: Type.Optional(Type.String({ maxLength: 50 })) }),
      },
    },
    async ({ query: { org_id, ...page } }) => {
      const found = await pageOf(
        vault,
        `changes ${org_id ?? ''}`,
        page,
        (before: string | undefined, limit) => listChanges(db.queries, { orgId: org_id, before, limit }),
        ({ audit_id }) => audit_id,
        (entry) => entry,
      )
      return answer('Changes', found)
    },
  )

  /** A change to an organisation is in that organisation's own list too. */
  function note(
    tx: Parameters<typeof recordChange>[0],
    { id }: { id: string },
    action: string,
    orgId: string,
    details?: object,
  ) {
    return recordChange(tx, clock, { who: 'operator', orgId, action, subject: orgId, details, requestId: id })
  }
}
