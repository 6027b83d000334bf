import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { AttestryClient } from '../../sdk/index.ts'
import { setLimits } from '../../server/access/key-limits.ts'
import { startApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { createThingsTable } from '../support/sample-resource.ts'

const ROUNDS = 5
const CALLS = 60

test('after kill -9 at any moment, effect and kept answer both exist or neither, and retries complete the rest', {
  timeout: 240_000,
}, async (t) => {
  const { context, given, db } = await prepare(t)
  const { key } = await given.org()
  await db.transaction(async (tx) => {
    await setLimits(tx, key.keyId, { bucket: 'mandateWrites', rates: { rate: 10_000, burst: 10_000, minute: 100_000 } })
    await setLimits(tx, key.keyId, { bucket: 'key', rates: { rate: 10_000, burst: 10_000, minute: 100_000 } })
  })
  let killedMidway = 0
  for (let round = 0; round < ROUNDS; round++) {
    const names = Array.from({ length: CALLS }, (_, call) => `r${round}-${call}`)
    const acknowledged = new Map<string, unknown>()
    const first = await startServer(t, context.config)
    const calls = names.map((name) =>
      post(first.url, key, name).then((answer) => answer && acknowledged.set(name, answer)),
    )
    const enough = 1 + Math.floor(Math.random() * (CALLS / 2))
    while (acknowledged.size < enough) await pause(1)
    first.child.kill('SIGKILL')
    await Promise.all(calls)
    if (acknowledged.size > 0 && acknowledged.size < CALLS) killedMidway++

    const effects = await countByName()
    const kept = await db.queries.selectFrom('idempotency_records').select('idempotency_key').execute()
    assert.deepEqual(
      kept.map((row) => row.idempotency_key).sort(),
      [...effects.keys()].sort(),
      'record and effect go together',
    )
    for (const name of acknowledged.keys()) assert.equal(effects.get(name), 1, `${name} was acknowledged`)

    const second = await startServer(t, context.config)
    for (const name of names) {
      const answer = await post(second.url, key, name)
      assert.ok(answer, `${name} retried`)
      if (acknowledged.has(name)) assert.deepEqual(answer, acknowledged.get(name))
    }
    second.child.kill('SIGKILL')
    const final = await countByName()
    for (const name of names) assert.equal(final.get(name), 1, `${name} exactly once`)
  }
  t.diagnostic(`killed in the middle of the calls in ${killedMidway} of ${ROUNDS} rounds`)
  assert.ok(killedMidway > 0)

  async function countByName() {
    const { rows } = await sql<{
      name: string
      count: number
    }>`select name, count(*)::int as count from things group by name`.execute(db.queries)
    return new Map(rows.map((row) => [row.name, row.count]))
  }
})

async function prepare(t: TestContext) {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  await createThingsTable(app.context)
  return { ...app, db: app.context.db }
}

async function startServer(
  t: TestContext,
  config: { databaseUrl: string | undefined; masterKey: Buffer | undefined },
): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [new URL('sample-resource-server.ts', import.meta.url).pathname], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      DATABASE_URL: config.databaseUrl,
      MASTER_KEY: config.masterKey!.toString('base64'),
      ADMIN_API_KEY: 'admin-key-of-the-tests',
    },
  })
  t.after(() => child.kill('SIGKILL'))
  const [port] = (await once(child.stdout!, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${String(port).trim()}`, child }
}

/** The answer's body, or undefined where the connection broke. */
async function post(url: string, key: { keyId: string; secret: string }, name: string): Promise<unknown> {
  const client = new AttestryClient({ baseUrl: url, ...key })
  for (let tries = 0; tries < 100; tries++) {
    const answer = await client
      .request('POST', '/things', { body: { name }, idempotencyKey: name })
      .catch(() => undefined)
    if (!answer) return undefined
    if (answer.status === 201) return answer.body
    assert.equal(answer.status, 409, JSON.stringify(answer.body)) // still held by the killed process's connection
    await pause(50)
  }
  assert.fail('the lock of a killed process was never released')
}
