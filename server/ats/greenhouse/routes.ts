import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { openCredentials } from '../connections.ts'
import { guardAtsRoutes, type RenderError } from '../guards.ts'
import { requireReportUrl } from '../hosts.ts'
import { listTests } from '../offered-mandates.ts'
import { getOrderOfConnection, placeOrder, recordAtsErrors } from '../orders.ts'
import { personName } from '../person-name.ts'
import { reportLinkExpiry, reportUrl } from '../reports/links.ts'
import { greenhouse, testStatus } from './adapter.ts'
import { ResponseError, SendTest, TestStatusQuery } from './schema.ts'

/** Greenhouse shows the errors of a response that is not 2xx to the recruiter. */
const renderError: RenderError = (status, message) => ({ status, body: { message, errors: [{ message }] } })

/** The endpoints that Greenhouse calls. */
export function greenhouseRoutes(app: App, context: Context): void {
  const { db, config, vault, clock } = context
  guardAtsRoutes(app, context, greenhouse, renderError)

  app.get('/list_tests', async ({ atsKey }) => {
    const tests = await listTests(db.queries, atsKey, atsKey.connectionId)
    return tests.map(({ id, name }) => ({ partner_test_id: id, partner_test_name: name }))
  })

  app.post('/send_test', { schema: { body: SendTest } }, async ({ atsKey, body }) => {
    const { partner_test_id, candidate, url } = body
    requireReportUrl('url', url, greenhouse, atsKey.mode, config)
    const order = await db.transaction((tx) =>
      placeOrder(tx, context, atsKey, {
        identity: url, // the take-home test of one candidate
        testId: partner_test_id,
        candidate: {
          id: personIdOf(candidate.greenhouse_profile_url ?? ''),
          name: personName(candidate.preferred_name || candidate.first_name, candidate.last_name),
          email: candidate.email ?? undefined,
          phone: candidate.phone_number ?? undefined,
          profileUrl: candidate.greenhouse_profile_url ?? undefined,
        },
        callbackUrl: url,
      }),
    )
    return { partner_interview_id: order.order_id }
  })

  app.get('/test_status', { schema: { querystring: TestStatusQuery } }, async ({ atsKey, query }) => {
    const order = await getOrderOfConnection(db.queries, atsKey, query.partner_interview_id)
    const { linkKey } = await openCredentials(db.queries, vault, order.connection_id)
    const { order_id: orderId } = order
    return testStatus(order, reportUrl(context, { orderId, linkKey, expiresAt: reportLinkExpiry(clock.now()) }))
  })

  app.post('/response_error', { schema: { body: ResponseError } }, async ({ atsKey, body, log }) => {
    const { partner_interview_id, errors = [], api_call } = body
    log.warn({ connection_id: atsKey.connectionId, api_call, errors }, 'Greenhouse rejected a response')
    const texts = partner_interview_id ? errors : [`${api_call ? `${api_call}: ` : ''}${errors.join('; ')}`]
    await db.transaction((tx) => recordAtsErrors(tx, context, atsKey, partner_interview_id ?? undefined, texts))
    return {}
  })
}

/** Returns Greenhouse's ID of the person, which is part of the profile's URL; undefined if the URL has another form. */
function personIdOf(profileUrl: string): string | undefined {
  const id = /\/people\/(\d{1,20})(?:[/?#]|$)/.exec(profileUrl)?.[1]
  return id && `people-${id}`
}
