import { Type } from 'typebox'
import type { Context } from '../../context.ts'
import { named } from '../../platform/http/named-schemas.ts'
import { success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { closed, successResponse } from '../schema.ts'
import { deleteView, listViews, type SavedView, saveView, viewPages } from './views.ts'

const ViewPageSchema = named('ViewPage', Type.Enum([...viewPages]))
const ViewName = Type.String({ minLength: 1, maxLength: 60, pattern: '\\S' })

const SavedViewRecord = named(
  'SavedView',
  Type.Object({
    view_id: Type.String(),
    page: ViewPageSchema,
    name: Type.String(),
    query: Type.String({ description: 'The query string of the page.' }),
    created_by: Type.String(),
    created_at: Type.String(),
  }),
)
const SavedViewList = named('SavedViewList', Type.Object({ items: Type.Array(SavedViewRecord) }))

/** Views: filters of a list that members save for their team. */
export function viewRoutes(app: App, context: Context): void {
  const { db, clock } = context

  app.get(
    '/orgs/:org/views',
    {
      config: { role: 'viewer' },
      schema: { querystring: Type.Object({ page: ViewPageSchema }), response: { 200: success(SavedViewList) } },
    },
    async ({ orgAccess, query }) => {
      const views = await listViews(db.queries, orgAccess.orgId, query.page)
      return successResponse('Views', { items: views.map(viewRecord) })
    },
  )

  app.post(
    '/orgs/:org/views',
    {
      config: { role: 'recruiter' },
      schema: {
        body: Type.Object(
          { page: ViewPageSchema, name: ViewName, query: Type.String({ maxLength: 1000, pattern: '^[^#]*$' }) },
          closed,
        ),
        response: { 201: success(SavedViewRecord) },
      },
    },
    async (request, reply) => {
      const { orgAccess, session, body } = request
      const view = await db.transaction(async (tx) => {
        const saved = await saveView(tx, clock, orgAccess.orgId, session.email, { ...body, name: body.name.trim() })
        await recordRequestAudit(tx, context, request, 'view.save', saved.view_id, { name: saved.name })
        return saved
      })
      reply.status(201)
      return successResponse('View saved', viewRecord(view))
    },
  )

  app.delete(
    '/orgs/:org/views/:view_id',
    {
      config: { role: 'recruiter' },
      schema: {
        params: Type.Object({ view_id: Type.String({ pattern: '^VW_[A-Z0-9]{10,40}$' }) }),
        response: { 200: success(SavedViewRecord) },
      },
    },
    async (request) => {
      const { orgAccess, params } = request
      const view = await db.transaction(async (tx) => {
        const deleted = await deleteView(tx, orgAccess.orgId, params.view_id)
        await recordRequestAudit(tx, context, request, 'view.delete', deleted.view_id, { name: deleted.name })
        return deleted
      })
      return successResponse('View deleted', viewRecord(view))
    },
  )
}

function viewRecord({ created_at, ...view }: SavedView) {
  return { ...view, created_at: created_at.toISOString() }
}
