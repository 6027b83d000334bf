import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createOrganisation } from '../../server/access/organisations.ts'
import { readConfig } from '../../server/config.ts'
import { openContext } from '../../server/context.ts'
import { recordEvents } from '../../server/events/record.ts'
import { createLog } from '../../server/platform/log.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { startDelivery } from '../../server/webhooks/delivery/engine.ts'
import { createWebhook } from '../../server/webhooks/webhooks.ts'
import { startReceiver, until } from '../support/receiver.ts'
import { temporaryFolder } from './postgres-driver.ts'

test('the database is stopped and started again in the middle of deliveries: every event arrives and is acknowledged', {
  timeout: 120_000,
}, async (t) => {
  const dataDir = temporaryFolder(t)
  const start = () => startEmbeddedPostgres({ dataDir, role: 'owner', log: () => {} })
  let postgres = await start()
  const config = readConfig({
    DATABASE_URL: postgres.url,
    ADMIN_API_KEY: 'admin-key-of-the-tests',
    MASTER_KEY: randomBytes(32).toString('base64'),
  })
  const { context, close } = await openContext(config, { log: createLog('silent') })
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
  const ids = await db.transaction((tx) =>
    recordEvents(
      tx,
      scope,
      clock,
      'result.completed',
      Array.from({ length: 1000 }, (_, n) => ({ n })),
    ),
  )
  await receiver.has(100, 20_000)
  await postgres.stop()
  const whenStopped = new Set(receiver.ids()).size
  postgres = await start()
  const acknowledged = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from events where acknowledged_by = 'webhook'`.execute(db.queries)
    return rows[0]!.count
  }
  await until(async () => (await acknowledged().catch(() => 0)) === ids.length, 40_000)
  assert.deepEqual(new Set(receiver.ids()), new Set(ids))
  t.diagnostic(
    `${whenStopped} of ${ids.length} had come when the database stopped; ${receiver.received.length} came in all`,
  )
})
