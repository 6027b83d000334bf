import { runIdempotent } from '../access/idempotency.ts'
import type { Mode } from '../access/keys.ts'
import { invalid } from '../api/invalid.ts'
import { isLocalOnly } from '../config.ts'
import type { Context } from '../context.ts'
import type { EventType } from '../events/types.ts'
import { NoBody } from '../platform/http/body.ts'
import { readCursor, writeCursor } from '../platform/http/cursor.ts'
import { listOf, success } from '../platform/http/response-schemas.ts'
import type { App } from '../platform/http/server.ts'
import { type DeliveryRow, deliveryId, listDeliveries } from './deliveries.ts'
import { replayEvents } from './replays.ts'
import {
  DeliveriesQuery,
  DeliveryRecord,
  EnableWebhookBody,
  ReplayBody,
  ReplayData,
  TestData,
  WebhookBody,
  WebhookParams,
  WebhookRecord,
  WebhooksQuery,
  WebhookWithSecret,
} from './schema.ts'
import { urlError } from './target-rules.ts'
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

/** Registers the routes for webhooks and their deliveries. */
export function webhookRoutes(app: App, context: Context): void {
  const { db, vault, clock, events } = context
  const tags = ['Webhooks']
  const readAccess = { scope: 'webhooks:read', limit: 'reads', readsReplica: true } as const
  const writeAccess = { scope: 'webhooks:write', limit: 'reads', idempotent: 'optional' } as const

  app.post(
    '/webhooks',
    {
      config: { ...writeAccess, errors: ['LIMIT_EXCEEDED'] },
      schema: {
        operationId: 'createWebhook',
        tags,
        summary: 'Create a webhook endpoint',
        description:
          'An organisation can have 5 endpoints per mode, not counting archived ones. The response contains the signing `secret`, which is otherwise returned only when it is rotated.',
        body: WebhookBody,
        response: { 201: success(WebhookWithSecret) },
      },
    },
    async (request, reply): Promise<void> => {
      const urlProblem = await findUrlProblem(context, request.body.url, request.caller.mode)
      await runIdempotent(context, request, reply, async (tx, caller) => {
        if (urlProblem) throw urlProblem
        const { webhook, secret } = await createWebhook(tx, caller, context, request.body, caller.via)
        const data = { ...webhookRecord(webhook), secret }
        return { status: 201, body: { success: true, message: 'Webhook endpoint created', data }, secret: true }
      })
    },
  )

  app.get(
    '/webhooks',
    {
      config: readAccess,
      schema: {
        operationId: 'listWebhooks',
        tags,
        summary: 'List webhook endpoints',
        description: 'Lists the newest endpoints first, including archived ones.',
        querystring: WebhooksQuery,
        response: { 200: success(listOf(WebhookRecord)) },
      },
    },
    async ({ caller, query }) => {
      const { status, limit, cursor } = query
      const cursorScope = `webhooks ${caller.orgId} ${caller.mode} ${status ?? ''}`
      const lastId = readCursor<string>(vault, cursorScope, cursor)
      const webhooks = await listWebhooks(db.queries, caller, { status, after: lastId, limit: limit + 1 })
      const items = webhooks.slice(0, limit).map(webhookRecord)
      const next_cursor = webhooks.length > limit ? writeCursor(vault, cursorScope, items.at(-1)!.webhook_id) : null
      return { success: true as const, message: 'Webhook endpoints', data: { items, next_cursor } }
    },
  )

  app.get(
    '/webhooks/:webhook_id',
    {
      config: readAccess,
      schema: {
        operationId: 'getWebhook',
        tags,
        summary: 'Get a webhook endpoint',
        params: WebhookParams,
        response: { 200: success(WebhookRecord) },
      },
    },
    async ({ caller, params }) => ({
      success: true as const,
      message: 'Webhook endpoint',
      data: webhookRecord(await getWebhook(db.queries, caller, params.webhook_id)),
    }),
  )

  app.put(
    '/webhooks/:webhook_id',
    {
      config: { ...writeAccess, errors: ['CONFLICT'] },
      schema: {
        operationId: 'replaceWebhook',
        tags,
        summary: 'Replace a webhook endpoint',
        description:
          'Replaces all fields; omitted fields get their defaults. The secret does not change. A new `url` changes the status `failing` to `enabled`.',
        params: WebhookParams,
        body: WebhookBody,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      const urlProblem = await findUrlProblem(context, request.body.url, request.caller.mode)
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const webhook = await replaceWebhook(tx, caller, context, request.params.webhook_id, request.body)
        if (urlProblem) throw urlProblem // reported only if the webhook itself can be changed
        return {
          status: 200,
          body: { success: true, message: 'Webhook endpoint replaced', data: webhookRecord(webhook) },
        }
      })
    },
  )

  app.delete(
    '/webhooks/:webhook_id',
    {
      config: writeAccess,
      schema: {
        operationId: 'archiveWebhook',
        tags,
        summary: 'Archive a webhook endpoint',
        description:
          'No more events are sent to the endpoint. Pending deliveries become `failed`. Their events are then acknowledged when all their other endpoints have accepted them; events without another endpoint can be pulled. Archiving an archived endpoint has no effect.',
        params: WebhookParams,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const webhook = await archiveWebhook(tx, caller, context, request.params.webhook_id)
        return {
          status: 200,
          body: { success: true, message: 'Webhook endpoint archived', data: webhookRecord(webhook) },
        }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/rotate-secret',
    {
      config: writeAccess,
      schema: {
        operationId: 'rotateWebhookSecret',
        tags,
        summary: 'Rotate the signing secret',
        description: 'For 24 hours, deliveries are signed with both the new and the old secret.',
        params: WebhookParams,
        body: NoBody,
        response: { 200: success(WebhookWithSecret) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { webhook, secret } = await rotateSecret(tx, caller, context, request.params.webhook_id)
        const data = { ...webhookRecord(webhook), secret }
        return { status: 200, body: { success: true, message: 'Signing secret rotated', data }, secret: true }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/test',
    {
      config: writeAccess,
      schema: {
        operationId: 'testWebhook',
        tags,
        summary: 'Send a test event',
        description:
          'Creates a `webhook.test` event for this endpoint only, regardless of its `event_types`. List the deliveries of the endpoint to see the outcome.',
        params: WebhookParams,
        body: NoBody,
        response: { 202: success(TestData) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const event_id = await testWebhook(tx, caller, context, request.params.webhook_id)
        return { status: 202, body: { success: true, message: 'Test event queued', data: { event_id } } }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/disable',
    {
      config: writeAccess,
      schema: {
        operationId: 'disableWebhook',
        tags,
        summary: 'Disable a webhook endpoint',
        description: 'No events are sent until the endpoint is enabled again. Events for it are held in the meantime.',
        params: WebhookParams,
        body: NoBody,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const webhook = await disableWebhook(tx, caller, context, request.params.webhook_id)
        return {
          status: 200,
          body: { success: true, message: 'Webhook endpoint disabled', data: webhookRecord(webhook) },
        }
      })
    },
  )

  app.post(
    '/webhooks/:webhook_id/enable',
    {
      config: writeAccess,
      schema: {
        operationId: 'enableWebhook',
        tags,
        summary: 'Enable a webhook endpoint',
        description:
          'With `recover`, all events held while the endpoint was disabled are sent. Otherwise, their deliveries become `failed`. These events are then acknowledged when all their other endpoints have accepted them; events without another endpoint can be pulled.',
        params: WebhookParams,
        body: EnableWebhookBody,
        response: { 200: success(WebhookRecord) },
      },
    },
    async (request, reply): Promise<void> => {
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const { recover = false } = request.body
        const webhook = await enableWebhook(tx, caller, context, request.params.webhook_id, recover)
        return {
          status: 200,
          body: { success: true, message: 'Webhook endpoint enabled', data: webhookRecord(webhook) },
        }
      })
    },
  )

  app.get(
    '/webhooks/:webhook_id/deliveries',
    {
      config: readAccess,
      schema: {
        operationId: 'listDeliveries',
        tags,
        summary: 'List the deliveries of a webhook endpoint',
        description:
          'Lists one delivery per event with its attempts, newest event first. Deliveries are stored for 30 days, as long as their events.',
        params: WebhookParams,
        querystring: DeliveriesQuery,
        response: { 200: success(listOf(DeliveryRecord)) },
      },
    },
    async ({ caller, params, query }) => {
      const { status, limit, cursor } = query
      const { webhook_id } = params
      const webhook = await getWebhook(db.queries, caller, webhook_id)
      const cursorScope = `deliveries ${webhook_id} ${status ?? ''}`
      const lastSequence = readCursor<number>(vault, cursorScope, cursor)
      const deliveries = await listDeliveries(db.queries, webhook, clock.now(), {
        status,
        after: lastSequence,
        limit: limit + 1,
      })
      const page = deliveries.slice(0, limit)
      const items = page.map((delivery) => deliveryRecord(webhook_id, delivery))
      const next_cursor = deliveries.length > limit ? writeCursor(vault, cursorScope, page.at(-1)!.sequence) : null
      return { success: true as const, message: 'Deliveries', data: { items, next_cursor } }
    },
  )

  app.post(
    '/webhooks/:webhook_id/replay',
    {
      config: writeAccess,
      schema: {
        operationId: 'replayEvents',
        tags,
        summary: 'Replay events',
        description:
          'Sends events again immediately, including delivered ones. Send one of: `event_ids`, for any events of the last 30 days; `from` and `to`, for all events of the endpoint’s types in that period, including events from before the endpoint existed; or `only_failed`, for events that the endpoint did not accept, optionally limited to a period.',
        params: WebhookParams,
        body: ReplayBody,
        response: { 202: success(ReplayData) },
      },
    },
    async (request, reply): Promise<void> => {
      await events.flush(request.caller)
      await runIdempotent(context, request, reply, async (tx, caller) => {
        const webhook = await getWebhook(tx, caller, request.params.webhook_id)
        const replayedCount = await replayEvents(tx, caller, clock, webhook, request.body)
        return {
          status: 202,
          body: { success: true, message: 'Events queued for redelivery', data: { replayed: replayedCount } },
        }
      })
    },
  )
}

async function findUrlProblem({ config }: Context, url: string, mode: Mode) {
  const rules = { allow: config.webhookAllow, onLoopback: isLocalOnly(config) }
  const message = await urlError(url, mode, rules)
  if (message === undefined) return undefined
  const hint = / (a|an|to a|to an) .*address$/.test(message) ? '; the operator can allow it with WEBHOOK_ALLOW' : ''
  return invalid([{ path: 'url', message: message + hint }])
}

function deliveryRecord(webhookId: string, delivery: DeliveryRow) {
  const { event_id, event_type, status, log, next_attempt_at, created_at } = delivery
  return {
    delivery_id: deliveryId(event_id, webhookId),
    event_id,
    event_type: event_type as EventType,
    status,
    attempts: log.map(({ signature: _, ...attempt }) => attempt),
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }
}
