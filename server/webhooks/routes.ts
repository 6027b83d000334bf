import { perform } from '../access/idempotency.ts'
import type { Mode } from '../access/keys.ts'
import { isForThisMachine } from '../config.ts'
import type { Context } from '../context.ts'
import type { EventType } from '../events/types.ts'
import { NoBody } from '../platform/http/body.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { invalid } from '../platform/http/validation.ts'
import { type Delivery, deliveryId, listDeliveries } from './deliveries.ts'
import { replayEvents } from './replays.ts'
import {
  DeliveriesQuery,
  DeliveryRecord,
  EnableBody,
  ReplayBody,
  ReplayData,
  TestData,
  WebhookBody,
  WebhookParams,
  WebhookRecord,
  WebhooksQuery,
  WebhookWithSecret,
} from './schema.ts'
import { refuseUrl } from './target-rules.ts'
import {
  archiveWebhook,
  createWebhook,
  disableWebhook,
  enableWebhook,
  getWebhook,
  listWebhooks,
  replaceWebhook,
  rotateSecret,
  testWebhook,
  webhookRecord,
} from './webhooks.ts'

/** Endpoints that events are sent to, and what became of each. */
export function webhookRoutes(app: App, context: Context): void {
  const { db, vault, clock, events } = context
  const tags = ['Webhooks']
  const reading = { scope: 'webhooks:read', limit: 'reads' } as const
  const writing = { scope: 'webhooks:write', limit: 'reads', idempotent: 'optional' } as const

  app.post(
    '/webhooks',
    {
      config: writing,
      schema: {
        operationId: 'createWebhook',
        tags,
        summary: 'Make an endpoint',
        description:
          'At most 5 that are not archived. The answer holds the `secret` that signs what is sent; it is shown here and on rotation alone.',
        body: WebhookBody,
        response: { 201: success(WebhookWithSecret) },
      },
    },
    async (request, reply): Promise<void> => {
      const refused = await refusal(context, request.body.url, request.caller.mode)
      await perform(context, request, reply, async (tx, caller) => {
        if (refused) throw refused
        const { webhook, secret } = await createWebhook(tx, caller, context, request.body, caller.via)
        const data = { ...webhookRecord(webhook), secret }
        return { status: 201, body: { success: true, message: 'Endpoint made', data }, secret: true }
      })
    },
  )

  app.get(
    '/webhooks',
    {
      config: reading,
      schema: {
        operationId: 'listWebhooks',
        tags,
        summary: 'Endpoints, newest first',
        description: 'Archived ones too.',
        querystring: WebhooksQuery,
        response: { 200: success(listOf(WebhookRecord)) },
      },
    },
    async ({ caller, query }) => {
      const { status, limit, cursor } = query
      const list = `webhooks ${caller.orgId} ${caller.mode} ${status ?? ''}`
      const after = readCursor<string>(vault, list, cursor)
      const found = await listWebhooks(db.queries, caller, { status, after, limit: limit + 1 })
      const items = found.slice(0, limit).map(webhookRecord)
      const next_cursor = found.length > limit ? writeCursor(vault, list, items.at(-1)!.webhook_id) : null
      return { success: true as const, message: 'Endpoints', data: { items, next_cursor } }
    },
  )

  app.get(
    '/webhooks/:webhook_id',
    {
      config: reading,
      schema: {
        operationId: 'getWebhook',
        tags,
        summary: 'One endpoint',
        params: WebhookParams,
        response: { 200: success(WebhookRecord) },
      },
    },
    async ({ caller, params }) => ({
      success: true as const,
      message: 'Endpoint',
      data: webhookRecord(await getWebhook(db.queries, caller, params.webhook_id)),
    }),
  )

  app.put(
    '/webhooks/:webhook_id',
    {
      config: writing,
      schema: {
        operationId: 'replaceWebhook',
        tags,
        summary: 'Replace an endpoint',
        description:
          'The fields of creation, all of them anew. Secret and status stay, except that another `url` starts without the failures of the old one.',
        params: WebhookParams,
        body: WebhookBody,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      const refused = await refusal(context, request.body.url, request.caller.mode)
      await perform(context, request, reply, async (tx, caller) => {
        const webhook = await replaceWebhook(tx, caller, context, request.params.webhook_id, request.body)
        if (refused) throw refused // after what says that this endpoint cannot be changed at all
        return { status: 200, body: { success: true, message: 'Endpoint replaced', data: webhookRecord(webhook) } }
      })
    },
  )

  app.delete(
    '/webhooks/:webhook_id',
    {
      config: writing,
      schema: {
        operationId: 'archiveWebhook',
        tags,
        summary: 'Archive an endpoint',
        description:
          'Nothing is sent to it any more: what still waits ends as `failed`, and its events no longer count as addressed to it. Archived already: unchanged.',
        params: WebhookParams,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const webhook = await archiveWebhook(tx, caller, context, request.params.webhook_id)
        return { status: 200, body: { success: true, message: 'Endpoint archived', data: webhookRecord(webhook) } }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/rotate-secret',
    {
      config: writing,
      schema: {
        operationId: 'rotateWebhookSecret',
        tags,
        summary: 'Exchange the secret',
        description: 'For 24 hours, what is sent is signed with both the new secret and the one before.',
        params: WebhookParams,
        body: NoBody,
        response: { 200: success(WebhookWithSecret) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const { webhook, secret } = await rotateSecret(tx, caller, context, request.params.webhook_id)
        const data = { ...webhookRecord(webhook), secret }
        return { status: 200, body: { success: true, message: 'Secret exchanged', data }, secret: true }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/test',
    {
      config: writing,
      schema: {
        operationId: 'testWebhook',
        tags,
        summary: 'Send a test event',
        description:
          'A `webhook.test` event for this endpoint alone, whatever types it asked for. Sent like every other; see its deliveries for what became of it.',
        params: WebhookParams,
        body: NoBody,
        response: { 202: success(TestData) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const event_id = await testWebhook(tx, caller, context, request.params.webhook_id)
        return { status: 202, body: { success: true, message: 'Test event on its way', data: { event_id } } }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/disable',
    {
      config: writing,
      schema: {
        operationId: 'disableWebhook',
        tags,
        summary: 'Disable an endpoint',
        description: 'Nothing is sent until it is enabled; what is addressed to it meanwhile is held.',
        params: WebhookParams,
        body: NoBody,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const webhook = await disableWebhook(tx, caller, context, request.params.webhook_id)
        return { status: 200, body: { success: true, message: 'Endpoint disabled', data: webhookRecord(webhook) } }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/enable',
    {
      config: writing,
      schema: {
        operationId: 'enableWebhook',
        tags,
        summary: 'Enable an endpoint',
        description:
          'With `recover`, everything that was addressed to it while it was disabled is sent. Without, that ends as `failed`, and its events no longer count as addressed to it.',
        params: WebhookParams,
        body: EnableBody,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await perform(context, request, reply, async (tx, caller) => {
        const { recover = false } = request.body
        const webhook = await enableWebhook(tx, caller, context, request.params.webhook_id, recover)
        return { status: 200, body: { success: true, message: 'Endpoint enabled', data: webhookRecord(webhook) } }
      })
    },
  )

  app.get(
    '/webhooks/:webhook_id/deliveries',
    {
      config: reading,
      schema: {
        operationId: 'listDeliveries',
        tags,
        summary: 'What was sent to an endpoint, newest event first',
        description: 'One item an event, with every attempt; kept as long as the event, 30 days.',
        params: WebhookParams,
        querystring: DeliveriesQuery,
        response: { 200: success(listOf(DeliveryRecord)) },
      },
    },
    async ({ caller, params, query }) => {
      const { status, limit, cursor } = query
      const { webhook_id } = params
      const webhook = await getWebhook(db.queries, caller, webhook_id)
      const list = `deliveries ${webhook_id} ${status ?? ''}`
      const after = readCursor<number>(vault, list, cursor)
      const found = await listDeliveries(db.queries, webhook, clock.now(), { status, after, limit: limit + 1 })
      const page = found.slice(0, limit)
      const items = page.map((delivery) => deliveryRecord(webhook_id, delivery))
      const next_cursor = found.length > limit ? writeCursor(vault, list, page.at(-1)!.sequence) : null
      return { success: true as const, message: 'Deliveries', data: { items, next_cursor } }
    },
  )

  app.post(
    '/webhooks/:webhook_id/replay',
    {
      config: writing,
      schema: {
        operationId: 'replayEvents',
        tags,
        summary: 'Send events again',
        description:
          'At once, also those that were delivered before. Either `event_ids`, which may name any event of the last 30 days; or a time, `from` and `to`, for all events of the types that the endpoint wants, also from before it existed; or `only_failed`, for those that it was sent and did not take, within the time if one is given.',
        params: WebhookParams,
        body: ReplayBody,
        response: { 202: success(ReplayData) },
      },
    },
    async (request, reply): Promise<void> => {
      await events.settle(request.caller)
      await perform(context, request, reply, async (tx, caller) => {
        const webhook = await getWebhook(tx, caller, request.params.webhook_id)
        const replayed = await replayEvents(tx, caller, clock, webhook, request.body)
        return { status: 202, body: { success: true, message: 'Events on their way', data: { replayed } } }
      })
    },
  )
}

async function refusal({ config }: Context, url: string, mode: Mode) {
  const rules = { allow: config.webhookAllow, onLoopback: isForThisMachine(config) }
  const message = await refuseUrl(url, mode, rules)
  return message === undefined ? undefined : invalid([{ path: 'url', message }])
}

function deliveryRecord(webhookId: string, delivery: Delivery) {
  const { event_id, event_type, status, log, next_attempt_at, created_at } = delivery
  return {
    delivery_id: deliveryId(event_id, webhookId),
    event_id,
    event_type: event_type as EventType,
    status,
    attempts: log,
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }
}
