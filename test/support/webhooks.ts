import { sql } from 'kysely'

import type { Mode } from '../../server/access/keys.ts'
import { recordEvents } from '../../server/events/record.ts'
import type { Running } from '../../server/platform/jobs/queue.ts'
import { type DeliveryOptions, startDelivery } from '../../server/webhooks/delivery/engine.ts'
import { type StartOptions, startApp, type TestApp } from './app.ts'
import type { TestKey } from './call.ts'
import type { Cleanup } from './cleanup.ts'
import { raiseLimits } from './partners.ts'

export interface WebhookTestApp extends TestApp {
  orgId: string
  /** Creates a key without practical rate limits. */
  createKey(mode: Mode, orgId?: string): Promise<TestKey>
  createEndpoint(key: TestKey, url: string, more?: object): Promise<{ webhook_id: string; secret: string }>
  /** Records one event per object and returns their ids once they have a sequence number. */
  recordEvents(key: TestKey, ...data: object[]): Promise<string[]>
  listDeliveries(key: TestKey, webhookId: string, query?: string): Promise<any[]>
  /** Starts delivering webhooks; stopped before the database is removed. */
  startDelivery(options?: Partial<DeliveryOptions>): Running
  /** Returns how the event was acknowledged, or null. */
  acknowledgedBy(eventId: string): Promise<string | null>
}

/** Starts a server with helpers for webhooks. */
export async function startWebhookApp(t: Cleanup, options: StartOptions = {}): Promise<WebhookTestApp> {
  const running: Running[] = []
  t.after(() => Promise.all(running.map((each) => each.stop())))
  const app = await startApp(t, options)
  const { context, given, clock } = app
  const { orgId } = await given.org()

  return {
    ...app,
    orgId,
    async createKey(mode, of = orgId) {
      const key = await given.key(of, { mode })
      await raiseLimits(context, key.keyId)
      return key
    },
    async createEndpoint(key, url, more = {}) {
      const { status, body } = await app.as(key).post('/webhooks', { url, ...more })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.data
    },
    async recordEvents(key, ...data) {
      const ids = await context.db.transaction((tx) => recordEvents(tx, key, clock, 'mandate.ready', data))
      await context.events.flush(key)
      return ids
    },
    async listDeliveries(key, webhookId, query = '') {
      const { body } = await app.as(key).get(`/webhooks/${webhookId}/deliveries${query}`)
      return body.data.items
    },
    startDelivery(more = {}) {
      const delivery = startDelivery({ ...context, graceMs: 100, ...more })
      running.push(delivery)
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
