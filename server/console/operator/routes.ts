import { type Static, Type } from 'typebox'
import { createOrganisation, getOrganisation } from '../../access/organisations.ts'
import { getServiceStatus, type ServiceStatus, switchService } from '../../access/service-switch.ts'
import { grantCredits } from '../../campaigns/credits.ts'
import type { Context } from '../../context.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { NOT_BLANK_PATTERN } from '../../platform/http/validation.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { paginate } from '../paginate.ts'
import { closed, successResponse } from '../schema.ts'
import { organisationTotals, searchOrganisations } from './organisations.ts'
import { GrantedCredits, OrganisationForOperator, OrganisationRecord, ServiceSwitch } from './schema.ts'

const OrgParams = Type.Object({ org_id: Type.String({ pattern: '^ORG_[A-Z0-9]{10,40}$' }) })
const SwitchBody = Type.Object(
  {
    on: Type.Boolean(),
    api_only: Type.Optional(
      Type.Boolean({ description: 'Switch only the partner API off. By default, all work is stopped and held.' }),
    ),
    reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500, pattern: NOT_BLANK_PATTERN })),
  },
  closed,
)

/** Routes for organisations, their credits, the service switch and the audit log. */
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
        response: { 200: success(listOf(OrganisationForOperator)) },
      },
    },
    async ({ query: { q, ...page } }) => {
      const resultPage = await paginate(
        vault,
        `organisations ${q ?? ''}`,
        page,
        (before: string | undefined, limit) => searchOrganisations(db.queries, { q, before, limit }),
        ({ org_id }) => org_id,
        ({ created_at, ...row }) => ({ ...row, created_at: created_at.toISOString() }),
      )
      const totals = await organisationTotals(
        db.queries,
        resultPage.items.map(({ org_id }) => org_id),
      )
      const items = resultPage.items.map((row) => ({ ...row, ...totals.get(row.org_id)! }))
      return successResponse('Organisations', { ...resultPage, items })
    },
  )

  app.post(
    '/operator/orgs',
    {
      config,
      schema: {
        body: Type.Object({ name: Type.String({ minLength: 1, maxLength: 200, pattern: NOT_BLANK_PATTERN }) }, closed),
        response: { 201: success(OrganisationRecord) },
      },
    },
    async (request, reply) => {
      const createdOrganisation = await db.transaction(async (tx) => {
        const organisation = await createOrganisation(tx, request.body.name, clock)
        const { org_id, name } = organisation
        await recordRequestAudit(tx, context, request, 'org.create', org_id, { name }, { orgId: org_id })
        return organisation
      })
      reply.status(201)
      return successResponse('Organisation created', {
        ...createdOrganisation,
        created_at: createdOrganisation.created_at.toISOString(),
      })
    },
  )

  app.put(
    '/operator/orgs/:org_id/service',
    { config, schema: { params: OrgParams, body: SwitchBody, response: { 200: success(OrganisationRecord) } } },
    async (request) => {
      const { on } = request.body
      const { org_id } = request.params
      const changedOrganisation = await db.transaction(async (tx) => {
        await switchService(tx, clock, { ...serviceChange(request.body), orgId: org_id })
        const action = on ? 'service.on' : 'service.off'
        await recordRequestAudit(tx, context, request, action, org_id, switchDetails(request.body), { orgId: org_id })
        return getOrganisation(tx, org_id)
      })
      await keyring.refresh()
      return successResponse(on ? 'Service on' : 'Service off', {
        ...changedOrganisation,
        created_at: changedOrganisation.created_at.toISOString(),
      })
    },
  )

  app.get('/operator/service', { config, schema: { response: { 200: success(ServiceSwitch) } } }, async () => {
    return successResponse('Service', switchRecord(await getServiceStatus(db.queries)))
  })

  app.put(
    '/operator/service',
    { config, schema: { body: SwitchBody, response: { 200: success(ServiceSwitch) } } },
    async (request) => {
      const { on } = request.body
      await db.transaction(async (tx) => {
        await switchService(tx, clock, serviceChange(request.body))
        const action = on ? 'service.on' : 'service.off'
        await recordRequestAudit(tx, context, request, action, undefined, switchDetails(request.body))
      })
      await keyring.refresh()
      return successResponse(on ? 'Service on' : 'Service off', switchRecord(await getServiceStatus(db.queries)))
    },
  )

  app.post(
    '/operator/orgs/:org_id/credits',
    {
      config: { ...config, recentSignIn: true },
      schema: {
        params: OrgParams,
        body: Type.Object(
          { mode: Type.Enum(['test', 'live']), amount: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }) },
          closed,
        ),
        response: { 200: success(GrantedCredits) },
      },
    },
    async (request) => {
      const { mode, amount } = request.body
      const { org_id } = request.params
      const balance = await db.transaction(async (tx) => {
        const newBalance = await grantCredits(tx, { orgId: org_id, mode }, clock, amount)
        await recordRequestAudit(tx, context, request, 'credits.grant', org_id, { mode, amount }, { orgId: org_id })
        return newBalance
      })
      return successResponse('Credits granted', { mode, balance })
    },
  )
}

function serviceChange({ on, api_only, reason }: Static<typeof SwitchBody>) {
  return { state: on ? ('on' as const) : api_only ? ('api_off' as const) : ('off' as const), reason }
}

function switchDetails({ on, api_only, reason }: Static<typeof SwitchBody>) {
  return { ...(!on && api_only ? { api_only } : {}), ...(reason === undefined ? {} : { reason }) }
}

function switchRecord({ state, since, reason }: ServiceStatus) {
  return { on: state === 'on', state, since: since?.toISOString() ?? null, reason }
}
