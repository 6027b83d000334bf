import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { setLimits } from '../../server/access/key-limits.ts'
import type { Mode } from '../../server/access/keys.ts'
import { recordEvents } from '../../server/events/record.ts'
import type { Running } from '../../server/platform/jobs/queue.ts'
import { type DeliveryOptions, startDelivery } from '../../server/webhooks/delivery/engine.ts'
import { type StartOptions, startApp, type TestApp, type TestKey } from './app.ts'

export interface WebhooksApp extends TestApp {
  orgId: string
  /** A key with room for as many calls as a test makes. */
  keyOf(mode: Mode, orgId?: string): Promise<TestKey>
  endpoint(key: TestKey, url: string, more?: object): Promise<{ webhook_id: string; secret: string }>
  /** One event for each record; they have their place when this resolves. */
  record(key: TestKey, ...data: object[]): Promise<string[]>
  deliveries(key: TestKey, webhookId: string, query?: string): Promise<any[]>
  /** A worker that does nothing but deliver; stopped before the database goes. */
  deliver(options?: Partial<DeliveryOptions>): Running
  /** By what the event was acknowledged, if it was. */
  acknowledged(eventId: string): Promise<string | null>
}

/** A server with what tests of webhooks need again and again. */
export async function startWebhooks(t: TestContext, options: StartOptions = {}): Promise<WebhooksApp> {
  const running: Running[] = []
  t.after(() => Promise.all(running.map((each) => each.stop())))
  const app = await startApp(t, options)
  const { context, given, clock } = app
  const { orgId } = await given.org()
  const rates = { rate: 1e4, burst: 1e4, minute: 1e6 }
  return {
    ...app,
    orgId,
    async keyOf(mode, of = orgId) {
      const key = await given.key(of, { mode })
      await context.db.transaction(async (tx) => {
        await setLimits(tx, key.keyId, { bucket: 'reads', rates })
        await setLimits(tx, key.keyId, { bucket: 'key', rates })
      })
      await context.keyring.refresh()
      return key
    },
    async endpoint(key, url, more = {}) {
      const { status, body } = await app.as(key).post('/webhooks', { url, ...more })
      if (status !== 201) throw new Error(JSON.stringify(body))
      return body.data
    },
    async record(key, ...data) {
      const ids = await context.db.transaction((tx) => recordEvents(tx, key, clock, 'mandate.ready', data))
      await context.events.settle(key)
      return ids
    },
    async deliveries(key, webhookId, query = '') {
      const { body } = await app.as(key).get(`/webhooks/${webhookId}/deliveries${query}`)
      return body.data.items
    },
    deliver(more = {}) {
      const delivery = startDelivery({ ...context, grace: 100, ...more })
      running.push(delivery)
      return delivery
    },
    async acknowledged(eventId) {
      const { rows } = await sql<{
        by: string | null
      }>`select acknowledged_by as by from events where event_id = ${eventId}`.execute(context.db.queries)
      return rows[0]!.by
    },
  }
}
