import { sql } from 'kysely'

import type { Mode } from '../../server/access/keys.ts'
import { recordEvents } from '../../server/events/record.ts'
import type { BackgroundActivity } from '../../server/platform/jobs/queue.ts'
import { type DeliveryOptions, startDelivery } from '../../server/webhooks/delivery/engine.ts'
import { type StartAppOptions, startApp, type TestApp } from './app.ts'
import type { TestKey } from './call.ts'
import type { Cleanup } from './cleanup.ts'
import { raiseLimits } from './partners.ts'

export interface WebhookTestApp extends TestApp {
  orgId: string
  /** Creates a partner key with rate limits that no test reaches. */
  createKey(mode: Mode, orgId?: string): Promise<TestKey>
  createEndpoint(key: TestKey, url: string, overrides?: object): Promise<{ webhook_id: string; secret: string }>
  /** Records one event per data object, assigns sequence numbers, and returns the event IDs. */
  recordEvents(key: TestKey, ...data: object[]): Promise<string[]>
  listDeliveries(key: TestKey, webhookId: string, query?: string): Promise<any[]>
  /** Starts delivering webhooks. The delivery is stopped before the database is removed. */
  startDelivery(options?: Partial<DeliveryOptions>): BackgroundActivity
  /** Returns what acknowledged the event, or null if it is not acknowledged. */
  acknowledgedBy(eventId: string): Promise<string | null>
}

/** Starts a server with helpers for webhooks. */
export async function startWebhookApp(t: Cleanup, options: StartAppOptions = {}): Promise<WebhookTestApp> {
  const runningDeliveries: BackgroundActivity[] = []
  t.after(() => Promise.all(runningDeliveries.map((each) => each.stop())))
  const app = await startApp(t, options)
  const { context, fixtures, clock } = app
  const { orgId } = await fixtures.createOrg()

  return {
    ...app,
    orgId,
    async createKey(mode, keyOrgId = orgId) {
      const key = await fixtures.createPartnerKey(keyOrgId, { mode })
      await raiseLimits(context, key.keyId)
      return key
    },
    async createEndpoint(key, url, overrides = {}) {
      const { status, body } = await app.as(key).post('/webhooks', { url, ...overrides })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.data
    },
    async recordEvents(key, ...data) {
      const eventIds = await context.db.transaction((tx) => recordEvents(tx, key, clock, 'mandate.ready', data))
      await context.events.flush(key)
      return eventIds
    },
    async listDeliveries(key, webhookId, query = '') {
      const { body } = await app.as(key).get(`/webhooks/${webhookId}/deliveries${query}`)
      return body.data.items
    },
    startDelivery(overrides = {}) {
      const delivery = startDelivery({ ...context, graceMs: 100, ...overrides })
      runningDeliveries.push(delivery)
      return delivery
    },
    async acknowledgedBy(eventId) {
      const { rows } = await sql<{
        by: string | null
      }>`select acknowledged_by as by from events where event_id = ${eventId}`.execute(context.db.queries)
      return rows[0]!.by
    },
  }
}
