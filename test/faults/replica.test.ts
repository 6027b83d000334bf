import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { PostgresPair } from '../../bench/support/postgres-pair.ts'
import { guardPartnerRoutes } from '../../server/access/partner-guards.ts'
import { PARTNER_BASE } from '../../server/api/envelope.ts'
import type { Context } from '../../server/context.ts'
import { SECOND } from '../../server/platform/clock.ts'
import type { App } from '../../server/platform/http/server.ts'
import { serverRole } from '../../server/platform/postgres/cluster.ts'
import { startApp, type TestApp } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { runCommand } from '../support/command.ts'
import { until } from '../support/until.ts'

/** All servers of this file use the same database. */
const MASTER_KEY = randomBytes(32)

let pair: PostgresPair

before(async () => {
  pair = await PostgresPair.start()
  await pair.createRole(serverRole)
})
after(() => pair?.stop())

function startAppWithReplica(
  t: Cleanup,
  { databaseReplicaUrl = pair.standbyUrl(serverRole), isPooled = false } = {},
): Promise<TestApp> {
  return startApp(t, {
    config: {
      masterKey: MASTER_KEY,
      databaseUrl: pair.primaryUrl(serverRole),
      databaseOwnerUrl: pair.primaryUrl(),
      databaseReplicaUrl,
      ...(isPooled ? { databaseDirectUrl: pair.primaryUrl(serverRole) } : {}),
    },
    extend: addRoutes,
  })
}

/** Adds routes that return which server they have read from. */
function addRoutes(app: App, context: Context) {
  const { db } = context
  const readServer = async () => {
    const { rows } = await sql<{ server: string }>`
      select case when pg_is_in_recovery() then 'replica' else 'primary' end as server`.execute(db.queries)
    return rows[0]!.server
  }
  app.register(
    async (routes: App) => {
      guardPartnerRoutes(routes, context)
      const config = { scope: null, limit: 'reads', readsReplica: true } as const
      routes.get('/reads/rows', { config }, async () => ({
        server: await readServer(),
        organisations: await db.queries.selectFrom('workflows').select('org_id').distinct().execute(),
      }))
      routes.get('/reads/after-transaction', { config }, async () => {
        const before = await readServer()
        await db.transaction((tx) => tx.updateTable('workflows').set({ name: 'Renamed' }).execute())
        return { before, after: await readServer() }
      })
      routes.get('/reads/write', { config }, async () => {
        const before = await readServer()
        await db.queries.updateTable('workflows').set({ name: 'Changed' }).execute()
        return { before }
      })
      routes.get('/reads/undeclared', { config: { scope: null, limit: 'reads' } }, async () => ({
        server: await readServer(),
      }))
    },
    { prefix: PARTNER_BASE },
  )
}

for (const isPooled of [false, true])
  test(`reads use the replica, see every confirmed write, and only rows of their organisation${isPooled ? ', without sessions of their own' : ''}`, {
    timeout: 120_000,
  }, async (t) => {
    const app = await startAppWithReplica(t, { isPooled })
    const [own, other] = [await app.fixtures.createOrg(), await app.fixtures.createOrg('Other')]
    const calls = app.as(own.key)
    await app.as(other.key).post('/workflows', { name: 'Of another organisation' })
    for (let number = 1; number <= 10; number++) {
      const created = await calls.post('/workflows', { name: `Workflow ${number}` })
      assert.equal(created.status, 201, JSON.stringify(created.body))
      const path = `/workflows/${created.body.data.workflow_id}`
      assert.equal((await calls.get(path)).status, 200, `workflow ${number} is found at once`)
      app.clock.advance(SECOND)
    }
    const read = await until(async () => {
      app.clock.advance(10 * SECOND)
      const { body } = await calls.get('/reads/rows')
      return body.server === 'replica' && body
    })
    assert.deepEqual(read.organisations, [{ org_id: own.orgId }])
    assert.equal((await calls.get('/reads/undeclared')).body.server, 'primary')
  })

test('a request that changes something reads from the primary from then on', { timeout: 120_000 }, async (t) => {
  const app = await startAppWithReplica(t)
  const { key } = await app.fixtures.createOrg()
  const calls = app.as(key)
  await calls.post('/workflows', { name: 'Site hiring' })
  await until(async () => {
    app.clock.advance(SECOND)
    return (await calls.get('/reads/after-transaction')).body.before === 'replica'
  })
  assert.equal((await calls.get('/reads/after-transaction')).body.after, 'primary')
  // A statement that the replica rejects is repeated on the primary, with the rest of the request.
  const { outcomes } = app.context.db.replica!
  const failedBefore = outcomes.failed
  app.clock.advance(10 * SECOND)
  await until(async () => {
    app.clock.advance(10 * SECOND)
    assert.equal((await calls.get('/reads/write')).body.before, 'primary')
    return outcomes.failed > failedBefore
  })
  assert.equal((await calls.get('/workflows')).body.data.items[0].name, 'Changed')
})

test('reads use the primary while the replica is behind or away, and the replica again afterwards', {
  timeout: 180_000,
}, async (t) => {
  const app = await startAppWithReplica(t)
  const { key } = await app.fixtures.createOrg()
  const calls = app.as(key)
  const readServer = async () => (await calls.get('/reads/rows')).body.server
  const readMetric = async (name: string) =>
    new RegExp(`^${name} (.+)$`, 'm').exec(await app.context.metrics.registry.metrics())?.[1]
  const usesReplica = () =>
    until(async () => {
      app.clock.advance(10 * SECOND)
      return (await readServer()) === 'replica'
    }, 60_000)
  await usesReplica()

  await pair.setReplayPaused(true)
  const created = await calls.post('/workflows', { name: 'Not on the replica yet' })
  assert.equal((await calls.get(`/workflows/${created.body.data.workflow_id}`)).status, 200)
  const { outcomes } = app.context.db.replica!
  assert.ok(outcomes.behind > 0)
  assert.ok(Number(await readMetric('attestry_replica_lag_bytes')) > 0)
  assert.equal(await readMetric('attestry_replica_up'), '1')
  await pair.setReplayPaused(false)
  await usesReplica()

  await pair.killStandby()
  assert.equal(await readServer(), 'primary')
  app.clock.advance(10 * SECOND)
  assert.equal(await readServer(), 'primary')
  assert.equal((await app.fetch('/readyz')).status, 200)
  assert.equal(await readMetric('attestry_replica_up'), '0')
  assert.equal(await readMetric('attestry_replica_lag_bytes'), undefined)
  assert.equal(app.logLines.filter((line) => line.includes('the replica cannot be used')).length, 1)
  assert.equal(await readMetric('attestry_alarms_total{alarm="replica_unavailable"}'), '1')
  await pair.addStandby()
  await usesReplica()
  assert.match(app.logLines.join('\n'), /requests read from the replica again/)
})

test('a server that is no standby of the database is not read from, and doctor shows the state of the replica', {
  timeout: 120_000,
}, async (t) => {
  const app = await startAppWithReplica(t, { databaseReplicaUrl: pair.primaryUrl(serverRole) })
  const { key } = await app.fixtures.createOrg()
  assert.equal((await app.as(key).get('/reads/rows')).body.server, 'primary')
  assert.match(app.logLines.join('\n'), /the server at DATABASE_REPLICA_URL is not a standby/)
  const doctor = async (replicaUrl: string) => {
    const env = {
      DATABASE_URL: pair.primaryUrl(serverRole),
      DATABASE_OWNER_URL: pair.primaryUrl(),
      DATABASE_REPLICA_URL: replicaUrl,
      ADMIN_API_KEY: app.context.adminKey,
      MASTER_KEY: MASTER_KEY.toString('base64'),
    }
    return (await runCommand(['doctor'], { cwd: tmpdir(), env })).stdout
  }
  assert.match(await doctor(pair.standbyUrl(serverRole)), /✓ replica +a standby of the database, /)
  assert.match(
    await doctor(pair.standbyUrl()),
    /✗ replica .*the role differs: attestry_server .*operator at the replica/,
  )
})
