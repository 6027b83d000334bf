import type { Context } from '../../context.ts'
import type { App } from '../../platform/http/server.ts'
import { openCredentials } from '../connections.ts'
import { guardAtsRoutes, type RenderError } from '../guards.ts'
import { placeOrReject } from '../orders.ts'
import { personName } from '../person-name.ts'
import { kombo } from './adapter.ts'
import { OrderParams, Webhook } from './schema.ts'

/** Kombo shows the response to a webhook in its logs only. */
const renderError: RenderError = (status, message) => ({ status, body: { message } })

/** The webhook that Kombo calls. */
export function komboRoutes(app: App, context: Context): void {
  guardAtsRoutes(app, context, kombo, renderError)

  app.post('/orders/:connection_id', { schema: { params: OrderParams, body: Webhook } }, async ({ atsKey, body }) => {
    if (body.type !== 'assessment:order-received' || !('data' in body)) return {}
    const { id, package_id, integration_id, candidate } = body.data
    // A webhook receives the orders of all integrations of the Kombo account.
    const { account_id } = await openCredentials(context.db.queries, context.vault, atsKey.connectionId)
    if (integration_id !== account_id) return {}
    const order = await placeOrReject(context, atsKey, {
      identity: id,
      testId: package_id,
      candidate: {
        // The IDs of the system behind an integration; two integrations can have the same.
        id: candidate.remote_id ? `${integration_id}:${candidate.remote_id}` : undefined,
        name: personName(candidate.first_name ?? '', candidate.last_name ?? ''),
        email: candidate.email ?? undefined,
        phone: candidate.phone ?? undefined,
      },
      callbackUrl: null,
    })
    return { order_id: order.order_id }
  })
}
