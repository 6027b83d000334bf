import { PassThrough, Readable } from 'node:stream'
import { Type } from 'typebox'
import { invalid } from '../../api/invalid.ts'
import type { Context } from '../../context.ts'
import { changeRetentionBound, getRetentionBounds } from '../../notices/retention-periods.ts'
import { breachListCsv, breachTables, listAffectedPeople } from '../../offboarding/breach-list.ts'
import { getErasureProgress, requestErasure } from '../../offboarding/erase-organisation.ts'
import { exportOrganisation } from '../../offboarding/export-organisation.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { successResponse } from '../schema.ts'
import { BoundBody, BoundsRecord, ErasureProgressRecord, OffboardingBody } from './schema.ts'

const OrgParams = Type.Object({ org_id: Type.String({ pattern: '^ORG_[A-Z0-9]{10,40}$' }) })
const BreachQuery = Type.Object({
  org: Type.Optional(Type.String({ maxLength: 60 })),
  tables: Type.Optional(Type.String({ maxLength: 200, description: 'Comma-separated; all tables if absent.' })),
  ids: Type.Optional(Type.String({ maxLength: 20_000, description: 'Comma-separated IDs of records.' })),
  from: Type.Optional(Type.String({ format: 'date-time' })),
  to: Type.Optional(Type.String({ format: 'date-time' })),
})

/** Routes with which operators erase an organisation, list the people affected by a breach, and set the bounds of retention periods. */
export function offboardingRoutes(app: App, context: Context): void {
  const { db, clock } = context
  const readConfig = { role: 'operator' } as const
  const changeConfig = { role: 'operator', recentSignIn: true } as const

  app.get(
    '/operator/retention-bounds',
    { config: readConfig, schema: { response: { 200: success(BoundsRecord) } } },
    async () => successResponse('Bounds', await getRetentionBounds(db.queries)),
  )

  app.put(
    '/operator/retention-bounds',
    { config: changeConfig, schema: { body: BoundBody, response: { 200: success(BoundsRecord) } } },
    async (request) => {
      const { class: name, bound } = request.body
      const bounds = await db.transaction(async (tx) => {
        const changed = await changeRetentionBound(tx, clock, name, bound)
        await recordRequestAudit(tx, context, request, 'retention.bounds', name, bound ?? {})
        return changed
      })
      return successResponse('Bounds changed', bounds)
    },
  )

  app.get(
    '/operator/orgs/:org_id/export.ndjson',
    { config: { ...changeConfig, recordsRead: true }, schema: { params: OrgParams } },
    async (request, reply) => {
      const { org_id: orgId } = request.params
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'org.export', orgId, {}, { orgId }))
      const stream = new PassThrough()
      exportOrganisation(db, context, orgId, async (entry) => {
        if (stream.destroyed) throw new Error('the client has disconnected')
        if (!stream.write(`${JSON.stringify(entry)}\n`))
          await new Promise((resolve) => stream.once('drain', resolve).once('close', resolve))
      }).then(
        () => stream.end(),
        (error) => stream.destroy(error as Error),
      )
      reply
        .type('application/x-ndjson; charset=utf-8')
        .header('content-disposition', `attachment; filename="${orgId}.ndjson"`)
      return reply.send(stream as never)
    },
  )

  app.post(
    '/operator/orgs/:org_id/erase',
    {
      config: changeConfig,
      schema: { params: OrgParams, body: OffboardingBody, response: { 202: success(ErasureProgressRecord) } },
    },
    async (request, reply) => {
      const { org_id: orgId } = request.params
      const { confirm_name: confirmName, basis } = request.body
      const progress = await db.transaction(async (tx) => {
        await requestErasure(tx, context, orgId, { confirmName, basis, requestedBy: 'operator' })
        await recordRequestAudit(tx, context, request, 'org.erase_requested', orgId, { basis }, { orgId })
        return getErasureProgress(tx, orgId)
      })
      return reply.status(202).send(successResponse('Erasure started', progress))
    },
  )

  app.get(
    '/operator/orgs/:org_id/erasure',
    { config: readConfig, schema: { params: OrgParams, response: { 200: success(ErasureProgressRecord) } } },
    async ({ params }) => successResponse('Erasure', await getErasureProgress(db.queries, params.org_id)),
  )

  app.get(
    '/operator/breach-list.csv',
    { config: { ...changeConfig, recordsRead: true }, schema: { querystring: BreachQuery } },
    async (request, reply) => {
      const { org, tables, ids, from, to } = request.query
      const names = tables ? tables.split(',') : breachTables
      const chosenTables = breachTables.filter((name) => names.includes(name))
      if (chosenTables.length < names.length)
        throw invalid([{ path: 'query.tables', message: `must be names from this list: ${breachTables.join(', ')}` }])
      const filter = {
        orgId: org || undefined,
        tables: chosenTables,
        ids: ids ? ids.split(/[\s,]+/).filter(Boolean) : [],
        from: from ? new Date(from) : undefined,
        to: to ? new Date(to) : undefined,
      }
      await db.transaction((tx) =>
        recordRequestAudit(tx, context, request, 'breach.list', org, { ...filter, ids: filter.ids.length }),
      )
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="affected-people.csv"')
      return reply.send(Readable.from(breachListCsv(listAffectedPeople(db.queries, clock, filter))) as never)
    },
  )
}
