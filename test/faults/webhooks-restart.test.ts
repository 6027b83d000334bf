import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createOrganisation } from '../../server/access/organisations.ts'
import { readConfig } from '../../server/config.ts'
import { recordEvents } from '../../server/events/record.ts'
import { openContext } from '../../server/open-context.ts'
import { createLog } from '../../server/platform/log.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { startDelivery } from '../../server/webhooks/delivery/engine.ts'
import { createWebhook } from '../../server/webhooks/webhooks.ts'
import { jobs } from '../../server/worker.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'
import { createTemporaryFolder } from './postgres-driver.ts'

test('every event arrives and is acknowledged although the database is restarted during deliveries', {
  timeout: 230_000,
}, async (t) => {
  const dataDir = createTemporaryFolder(t)
  const startPostgres = () => startEmbeddedPostgres({ dataDir, role: 'server', log: () => {} })
  let postgres = await startPostgres()
  const config = readConfig({
    DATABASE_URL: postgres.url,
    ADMIN_API_KEY: 'admin-key-of-the-tests',
    MASTER_KEY: randomBytes(32).toString('base64'),
  })
  const { context, close } = await openContext(config, { jobs, log: createLog('silent') })
  const { db, clock } = context
  const delivery = startDelivery(context)
  t.after(async () => {
    await delivery.stop()
    await close()
    await postgres.stop()
  })
  const receiver = await startReceiver(t)
  const scope = await db.transaction(async (tx) => {
    const { org_id: orgId } = await createOrganisation(tx, 'Acme', clock)
    await createWebhook(tx, { orgId, mode: 'test' }, context, { url: receiver.url })
    return { orgId, mode: 'test' as const }
  })
  const eventIds = await db.transaction((tx) =>
    recordEvents(
      tx,
      scope,
      clock,
      'result.completed',
      Array.from({ length: 1000 }, (_, n) => ({ n })),
    ),
  )
  await receiver.waitFor(100)
  await postgres.stop()
  const receivedBeforeRestart = new Set(receiver.eventIds()).size
  postgres = await startPostgres()
  const countAcknowledged = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from events where acknowledged_by = 'webhook'`.execute(db.queries)
    return rows[0]!.count
  }
  await until(async () => (await countAcknowledged().catch(() => 0)) === eventIds.length, 60_000)
  assert.deepEqual(new Set(receiver.eventIds()), new Set(eventIds))
  t.diagnostic(
    `${receivedBeforeRestart} of ${eventIds.length} events were received when the database stopped; ${receiver.received.length} requests in total`,
  )
})
