import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { AttestryClient } from '../../sdk/index.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { aMandate, startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { createPartner } from '../support/partners.ts'
import { until } from '../support/until.ts'
import { startServerProcess } from './server-process.ts'

// For a longer run, set CRASH_CALLS=2000 CRASH_ROUNDS=8. A few hundred calls find the same errors in most runs.
const CALLS_PER_ROUND = Number(process.env.CRASH_CALLS ?? 300)
const ROUND_COUNT = Number(process.env.CRASH_ROUNDS ?? 3)
const CONCURRENCY = 40

test('after the server is killed during writes, all acknowledged mandates exist, and each version is prepared once and has one event', {
  timeout: 280_000,
}, async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { context, fixtures } = app
  const { key, scope } = await createPartner(app)
  const { workflow_id } = await fixtures.createWorkflow(scope, { languages: ['en', 'hi'] })
  const createBody = (title: string) => ({ ...aMandate(workflow_id), title })

  /** The last acknowledged change of each mandate, except mandates with a later change whose response was lost. */
  const acknowledgedChanges = new Map<string, { version: number; title: string }>()
  let killedDuringCalls = 0
  let server = await startServerProcess(t, context.config)
  for (let round = 0; round < ROUND_COUNT; round++) {
    const client = new AttestryClient({ baseUrl: server.url, keyId: key.keyId, secret: key.secret })
    const mandateIdsToReplace = [...acknowledgedChanges.keys()].sort(() => Math.random() - 0.5)
    const killAtCall = Math.floor(CALLS_PER_ROUND * (0.2 + Math.random() * 0.6))
    let responses = 0
    let sent = 0
    let killed = false
    const sendCalls = async () => {
      while (sent < CALLS_PER_ROUND && !killed) {
        const callNumber = sent++
        const title = `Round ${round}, call ${callNumber}`
        const id = callNumber % 3 === 2 ? mandateIdsToReplace.pop() : undefined
        const response = await client
          .request(id ? 'PUT' : 'POST', id ? `/mandates/${id}` : '/mandates', { body: createBody(title) })
          .catch(() => undefined)
        if (!response) {
          if (id) acknowledgedChanges.delete(id) // the change may have been stored
          continue
        }
        assert.equal(response.status, 202, JSON.stringify(response.body))
        const { mandate_id, flow_version: version } = (response.body as any).data
        acknowledgedChanges.set(mandate_id, { version, title })
        if (++responses === killAtCall) {
          killed = true
          server.child.kill('SIGKILL')
        }
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, sendCalls))
    if (killed) killedDuringCalls++
    else server.child.kill('SIGKILL')

    server = await startServerProcess(t, context.config)
    await waitForPreparation(context.db)
    await checkAll(context.db, acknowledgedChanges)
  }
  t.diagnostic(
    `${acknowledgedChanges.size} acknowledged mandates, killed during the calls in ${killedDuringCalls} of ${ROUND_COUNT} rounds`,
  )
  assert.ok(killedDuringCalls > 0)
})

async function waitForPreparation(db: Database) {
  await until(async () => {
    const preparingMandate = await db.queries
      .selectFrom('mandates')
      .select('mandate_id')
      .where('status', '=', 'preparing')
      .execute()
    return preparingMandate.length === 0
  }, 60_000)
}

async function checkAll(db: Database, acknowledgedChanges: Map<string, { version: number; title: string }>) {
  const mandates = await db.queries.selectFrom('mandates').selectAll().execute()
  const flows = await db.queries.selectFrom('mandate_flows').select(['mandate_id', 'flow_version', 'flow']).execute()
  // One statement sees one state of both tables: the running server moves events from the outbox to the ledger.
  const { rows: events } = await sql<{ type: string; data: string }>`
    select type, data from events where type like 'mandate.%'
    union all
    select type, data from event_outbox where type like 'mandate.%'`.execute(db.queries)
  const listVersions = (mandate: { mandate_id: string; flow_version: number }) =>
    Array.from({ length: mandate.flow_version }, (_, index) => `${mandate.mandate_id} ${index + 1}`)
  const expectedVersions = mandates.flatMap(listVersions).sort()
  assert.deepEqual(
    flows.map(({ mandate_id, flow_version }) => `${mandate_id} ${flow_version}`).sort(),
    expectedVersions,
  )
  assert.deepEqual(
    events
      .map(({ type, data }) => {
        assert.equal(type, 'mandate.ready')
        const { mandate_id, flow_version, status } = JSON.parse(data)
        assert.equal(status, 'ready')
        return `${mandate_id} ${flow_version}`
      })
      .sort(),
    expectedVersions,
    'exactly one event for each version',
  )
  const mandatesById = new Map(mandates.map((mandate) => [mandate.mandate_id, mandate]))
  for (const [id, { version, title }] of acknowledgedChanges) {
    const mandate = mandatesById.get(id)
    assert.ok(mandate, `${id} was acknowledged`)
    assert.deepEqual([mandate.flow_version, JSON.parse(mandate.body).title, mandate.status], [version, title, 'ready'])
  }
  for (const { flow } of flows) assert.equal(JSON.parse(flow).skills.length, 3)
}
