import { Type } from 'typebox'
import { ModeSchema } from '../../access/schema.ts'
import type { Context } from '../../context.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { getRing, listRings, noteRing, ringStatuses } from '../../verification/endorsements/rings.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { paginate } from '../paginate.ts'
import { closed, successResponse } from '../schema.ts'
import { EndorsementRing, EndorsementRingDetails } from './schema.ts'

const RingParams = Type.Object({ ring_id: Type.String({ pattern: '^RG_[A-Z0-9]{10,40}$' }) })
const RingsQuery = Type.Object({
  ...PageQuery.properties,
  status: Type.Optional(Type.Enum([...ringStatuses])),
  mode: Type.Optional(ModeSchema),
})
const RingNoteBody = Type.Object(
  {
    note: Type.Optional(Type.String({ maxLength: 2000 })),
    status: Type.Optional(Type.Enum(['open', 'dismissed'])),
  },
  closed,
)

/** Routes for rings of endorsements. They show data of several organisations, so every view is in the audit log. */
export function ringRoutes(app: App, context: Context): void {
  const { db, vault, clock } = context
  const config = { role: 'operator' } as const

  app.get(
    '/operator/rings',
    { config, schema: { querystring: RingsQuery, response: { 200: success(listOf(EndorsementRing)) } } },
    async (request) => {
      const { status, mode, ...page } = request.query
      const resultPage = await paginate(
        vault,
        `rings ${status ?? ''} ${mode ?? ''}`,
        page,
        (beforeId: string | undefined, limit) => listRings(db.queries, { status, mode, beforeId, limit }),
        ({ ring_id }) => ring_id,
        (ring) => ring,
      )
      const details = { rings: resultPage.items.map(({ ring_id }) => ring_id) }
      await db.transaction((tx) => recordRequestAudit(tx, context, request, 'rings.list', undefined, details))
      return successResponse('Rings', resultPage)
    },
  )

  app.get(
    '/operator/rings/:ring_id',
    { config, schema: { params: RingParams, response: { 200: success(EndorsementRingDetails) } } },
    async (request) => {
      const { ring_id } = request.params
      const ring = await db.transaction(async (tx) => {
        const found = await getRing(tx, ring_id)
        await recordRequestAudit(tx, context, request, 'rings.view', ring_id)
        return found
      })
      return successResponse('Ring', ring)
    },
  )

  app.put(
    '/operator/rings/:ring_id',
    { config, schema: { params: RingParams, body: RingNoteBody, response: { 200: success(EndorsementRingDetails) } } },
    async (request) => {
      const { ring_id } = request.params
      const { note, status } = request.body
      const ring = await db.transaction(async (tx) => {
        const noted = await noteRing(tx, clock, ring_id, { note, status, by: request.session.email })
        await recordRequestAudit(tx, context, request, 'rings.note', ring_id, { status: noted.status })
        return noted
      })
      return successResponse('Note stored', ring)
    },
  )
}
