import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AttestryClient } from '../../sdk/index.ts'
import type { Config } from '../../server/config.ts'
import type { Database } from '../../server/platform/database/database.ts'
import { ADMIN_KEY, aMandate, startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { partner } from '../support/partner.ts'

// CRASH_CALLS=2000 CRASH_ROUNDS=8 for the long run; a few hundred calls show the same faults in most runs.
const CALLS = Number(process.env.CRASH_CALLS ?? 300)
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3)
const CONCURRENT = 40

test('after kill -9 amid creates and replaces, what was acknowledged is there, each version is prepared once, events match', {
  timeout: 280_000,
}, async (t) => {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  const { context, given } = app
  const { key, scope } = await partner(app)
  const { workflow_id } = await given.workflow(scope, { languages: ['en', 'hi'] })
  const body = (title: string) => ({ ...aMandate(workflow_id), title })

  /** The last change of each mandate that was acknowledged; of one whose answer was lost, what may have happened. */
  const acknowledged = new Map<string, { version: number; title: string }>()
  let killedMidway = 0
  let server = await startServer(t, context.config)
  for (let round = 0; round < ROUNDS; round++) {
    const client = new AttestryClient({ baseUrl: server.url, keyId: key.keyId, secret: key.secret })
    const replaced = [...acknowledged.keys()].sort(() => Math.random() - 0.5)
    const killAt = Math.floor(CALLS * (0.2 + Math.random() * 0.6))
    let answered = 0
    let sent = 0
    let killed = false
    const caller = async () => {
      while (sent < CALLS && !killed) {
        const call = sent++
        const title = `Round ${round}, call ${call}`
        const id = call % 3 === 2 ? replaced.pop() : undefined
        const answer = await client
          .request(id ? 'PUT' : 'POST', id ? `/mandates/${id}` : '/mandates', { body: body(title) })
          .catch(() => undefined)
        if (!answer) {
          if (id) acknowledged.delete(id) // it may have been changed or not
          continue
        }
        assert.equal(answer.status, 202, JSON.stringify(answer.body))
        const { mandate_id, flow_version: version } = (answer.body as any).data
        acknowledged.set(mandate_id, { version, title })
        if (++answered === killAt) {
          killed = true
          server.child.kill('SIGKILL')
        }
      }
    }
    await Promise.all(Array.from({ length: CONCURRENT }, caller))
    if (killed) killedMidway++
    else server.child.kill('SIGKILL')

    server = await startServer(t, context.config)
    await nothingLeftPreparing(context.db)
    await checkAll(context.db, acknowledged)
  }
  t.diagnostic(
    `${acknowledged.size} acknowledged mandates, killed amid the calls in ${killedMidway} of ${ROUNDS} rounds`,
  )
  assert.ok(killedMidway > 0)
})

async function nothingLeftPreparing(db: Database) {
  for (let tries = 0; tries < 600; tries++) {
    const left = await db.queries
      .selectFrom('mandates')
      .select('mandate_id')
      .where('status', '=', 'preparing')
      .execute()
    if (left.length === 0) return
    await pause(100)
  }
  assert.fail('a mandate stayed in preparing')
}

async function checkAll(db: Database, acknowledged: Map<string, { version: number; title: string }>) {
  const mandates = await db.queries.selectFrom('mandates').selectAll().execute()
  const flows = await db.queries.selectFrom('mandate_flows').select(['mandate_id', 'flow_version', 'flow']).execute()
  const told = [
    ...(await db.queries.selectFrom('events').select(['type', 'data']).execute()),
    ...(await db.queries.selectFrom('event_outbox').select(['type', 'data']).execute()),
  ].filter(({ type }) => type.startsWith('mandate.'))
  const versions = (mandate: { mandate_id: string; flow_version: number }) =>
    Array.from({ length: mandate.flow_version }, (_, before) => `${mandate.mandate_id} ${before + 1}`)
  const expected = mandates.flatMap(versions).sort()
  assert.deepEqual(flows.map(({ mandate_id, flow_version }) => `${mandate_id} ${flow_version}`).sort(), expected)
  assert.deepEqual(
    told
      .map(({ type, data }) => {
        assert.equal(type, 'mandate.ready')
        const { mandate_id, flow_version, status } = JSON.parse(data)
        assert.equal(status, 'ready')
        return `${mandate_id} ${flow_version}`
      })
      .sort(),
    expected,
    'exactly one event for each version',
  )
  const byId = new Map(mandates.map((mandate) => [mandate.mandate_id, mandate]))
  for (const [id, { version, title }] of acknowledged) {
    const mandate = byId.get(id)
    assert.ok(mandate, `${id} was acknowledged`)
    assert.deepEqual([mandate.flow_version, JSON.parse(mandate.body).title, mandate.status], [version, title, 'ready'])
  }
  for (const { flow } of flows) assert.equal(JSON.parse(flow).skills.length, 3)
}

/** A whole server, as an operator starts it, on the test's database. */
async function startServer(t: TestContext, config: Config): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [new URL('../../server/main.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      PORT: '0',
      LOG_LEVEL: 'error',
      DATABASE_URL: config.databaseUrl,
      MASTER_KEY: config.masterKey!.toString('base64'),
      ADMIN_API_KEY: ADMIN_KEY,
    },
  })
  t.after(() => child.kill('SIGKILL'))
  let shown = ''
  for (;;) {
    const [chunk] = (await once(child.stdout!, 'data')) as [Buffer]
    shown += chunk
    const url = /Attestry is running at (\S+)/.exec(shown)?.[1]
    if (url) return { url, child }
  }
}
