import type { Context } from '../../context.ts'
import { DAY } from '../../platform/clock.ts'
import type { App } from '../../platform/http/server.ts'
import { openCredentials } from '../connections.ts'
import { guardAtsRoutes, type RenderError } from '../guards.ts'
import { requireReportUrl } from '../hosts.ts'
import { listTests } from '../offered-mandates.ts'
import { getOrderOfConnection, placeOrder } from '../orders.ts'
import { personName } from '../person-name.ts'
import { reportUrl } from '../reports/links.ts'
import { workable } from './adapter.ts'
import { AssessmentParams, CreateAssessment } from './schema.ts'

/** How long a shared link is valid. */
const SHARED_LINK_DAYS = 7

/** Workable documents 400, 401, 409 and 422, each with its status in the body. */
const renderError: RenderError = (status, message) => ({ status, body: { status, message } })

/** The endpoints that Workable calls. */
export function workableRoutes(app: App, context: Context): void {
  const { db, config, vault, clock } = context
  guardAtsRoutes(app, context, workable, renderError)

  app.get('/tests', async ({ atsKey }) => {
    const tests = await listTests(db.queries, atsKey, atsKey.connectionId)
    return { tests: tests.map(({ id, name }) => ({ id, name })) }
  })

  app.post('/assessments', { schema: { body: CreateAssessment } }, async ({ atsKey, body }) => {
    const { test_id, callback_url, candidate } = body
    requireReportUrl('callback_url', callback_url, workable, atsKey.mode, config)
    const order = await db.transaction((tx) =>
      placeOrder(tx, context, atsKey, {
        identity: callback_url,
        testId: test_id,
        candidate: {
          name: personName(candidate.first_name, candidate.last_name),
          email: candidate.email ?? undefined,
          phone: candidate.phone ?? undefined,
        },
        callbackUrl: callback_url,
      }),
    )
    return { assessment_id: order.order_id }
  })

  app.get(
    '/assessments/:assessment_id/shared-link',
    { schema: { params: AssessmentParams } },
    async ({ atsKey, params }) => {
      const order = await getOrderOfConnection(db.queries, atsKey, params.assessment_id)
      const { linkKey } = await openCredentials(db.queries, vault, order.connection_id)
      const url = reportUrl(context, {
        orderId: order.order_id,
        linkKey,
        expiresAt: clock.now() + SHARED_LINK_DAYS * DAY,
      })
      return { url, ttl: SHARED_LINK_DAYS, ttl_units: 'days' }
    },
  )
}
