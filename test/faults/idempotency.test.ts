import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { AttestryClient } from '../../sdk/index.ts'
import type { Config } from '../../server/config.ts'
import { startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { raiseLimits } from '../support/partners.ts'
import { createSampleTable } from '../support/sample-resource.ts'
import { databaseEnv } from './server-process.ts'

const ROUNDS = 5
const CALLS = 60

test('after the server is killed, each call has stored both its effect and its response or neither, and retries complete it', {
  timeout: 240_000,
}, async (t) => {
  const { context, given, db } = await prepare(t)
  const { key } = await given.org()
  await raiseLimits(context, key.keyId)
  let killedDuringCalls = 0
  for (let round = 0; round < ROUNDS; round++) {
    const names = Array.from({ length: CALLS }, (_, call) => `r${round}-${call}`)
    const acknowledged = new Map<string, unknown>()
    const first = await startServer(t, context.config)
    const calls = names.map((name) => post(first.url, key, name).then((body) => body && acknowledged.set(name, body)))
    const killAfter = 1 + Math.floor(Math.random() * (CALLS / 2))
    while (acknowledged.size < killAfter) await pause(1)
    first.child.kill('SIGKILL')
    await Promise.all(calls)
    if (acknowledged.size > 0 && acknowledged.size < CALLS) killedDuringCalls++

    const effects = await countByName()
    const records = await db.queries.selectFrom('idempotency_records').select('idempotency_key').execute()
    assert.deepEqual(
      records.map((row) => row.idempotency_key).sort(),
      [...effects.keys()].sort(),
      'each effect has a record',
    )
    for (const name of acknowledged.keys()) assert.equal(effects.get(name), 1, `${name} was acknowledged`)

    const second = await startServer(t, context.config)
    for (const name of names) {
      const body = await post(second.url, key, name)
      assert.ok(body, `${name} was retried`)
      if (acknowledged.has(name)) assert.deepEqual(body, acknowledged.get(name))
    }
    second.child.kill('SIGKILL')
    const final = await countByName()
    for (const name of names) assert.equal(final.get(name), 1, `${name} exactly once`)
  }
  t.diagnostic(`killed during the calls in ${killedDuringCalls} of ${ROUNDS} rounds`)
  assert.ok(killedDuringCalls > 0)

  async function countByName() {
    const { rows } = await sql<{
      name: string
      count: number
    }>`select name, count(*)::int as count from samples group by name`.execute(db.queries)
    return new Map(rows.map((row) => [row.name, row.count]))
  }
})

async function prepare(t: TestContext) {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  await createSampleTable(app.context)
  return { ...app, db: app.context.db }
}

async function startServer(t: TestContext, config: Config): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [new URL('sample-resource-server.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...databaseEnv(config) },
  })
  t.after(() => child.kill('SIGKILL'))
  const [port] = (await once(child.stdout!, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${String(port).trim()}`, child }
}

/** Returns the body of the response, or undefined if the connection was lost. */
async function post(url: string, key: { keyId: string; secret: string }, name: string): Promise<unknown> {
  const client = new AttestryClient({ baseUrl: url, ...key })
  for (let tries = 0; tries < 100; tries++) {
    const response = await client
      .request('POST', '/samples', { body: { name }, idempotencyKey: name })
      .catch(() => undefined)
    if (!response) return undefined
    if (response.status === 201) return response.body
    assert.equal(response.status, 409, JSON.stringify(response.body)) // the connection of the killed process still holds the lock
    await pause(50)
  }
  assert.fail('the lock of a killed process was never released')
}
