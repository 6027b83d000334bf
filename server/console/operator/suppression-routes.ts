import { Type } from 'typebox'
import { problem } from '../../api/problem.ts'
import type { Context } from '../../context.ts'
import { listSuppressions, removeSuppression, type Suppression, suppressMailbox } from '../../mail/suppressions.ts'
import { listOf, PageQuery, success } from '../../platform/http/response-schemas.ts'
import type { App } from '../../platform/http/server.ts'
import { recordRequestAudit } from '../auth/guards.ts'
import { paginate } from '../paginate.ts'
import { closed, EmailAddress, successResponse } from '../schema.ts'
import { SuppressionRecord } from './schema.ts'

const SuppressionParams = Type.Object({ suppression_id: Type.String({ pattern: '^SU_[A-Z0-9]{10,40}$' }) })
const SuppressionBody = Type.Object({ email: EmailAddress }, closed)

/** Routes for the mailboxes that emails are not sent to. The list has no addresses. */
export function suppressionRoutes(app: App, context: Context): void {
  const { db, vault } = context
  const config = { role: 'operator' } as const

  app.get(
    '/operator/suppressions',
    { config, schema: { querystring: PageQuery, response: { 200: success(listOf(SuppressionRecord)) } } },
    async ({ query }) => {
      const resultPage = await paginate(
        vault,
        'suppressions',
        query,
        (beforeId: string | undefined, limit) => listSuppressions(db.queries, { beforeId, limit }),
        ({ suppression_id }) => suppression_id,
        suppressionRecord,
      )
      return successResponse('Suppressed mailboxes', resultPage)
    },
  )

  app.post(
    '/operator/suppressions',
    { config, schema: { body: SuppressionBody, response: { 201: success(SuppressionRecord) } } },
    async (request, reply) => {
      const suppression = await db.transaction(async (tx) => {
        const created = await suppressMailbox(tx, context, {
          address: request.body.email,
          audience: 'all',
          reason: 'operator',
        })
        if (created) await recordRequestAudit(tx, context, request, 'mail.suppress', created.suppression_id)
        return created
      })
      if (!suppression) throw problem('CONFLICT', 'This mailbox is already suppressed for all emails.')
      reply.status(201)
      return successResponse('Mailbox suppressed', suppressionRecord(suppression))
    },
  )

  app.delete(
    '/operator/suppressions/:suppression_id',
    { config, schema: { params: SuppressionParams, response: { 200: success(SuppressionRecord) } } },
    async (request) => {
      const { suppression_id } = request.params
      const suppression = await db.transaction(async (tx) => {
        const removed = await removeSuppression(tx, suppression_id)
        const details = removed && { reason: removed.reason, audience: removed.audience }
        if (removed) await recordRequestAudit(tx, context, request, 'mail.unsuppress', suppression_id, details)
        return removed
      })
      if (!suppression) throw problem('NOT_FOUND', `Suppression ${suppression_id} not found.`)
      return successResponse('Suppression removed', suppressionRecord(suppression))
    },
  )
}

function suppressionRecord({ created_at, ...suppression }: Suppression) {
  return { ...suppression, created_at: created_at.toISOString() }
}
