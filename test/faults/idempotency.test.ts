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
import { nodeOptions } from '../support/node-options.ts'
import { raiseLimits } from '../support/partners.ts'
import { createSampleTable } from '../support/sample-resource.ts'
import { databaseEnv } from './server-process.ts'

const ROUND_COUNT = 5
const CALLS_PER_ROUND = 60

test('after the server is killed, each call has stored both its effect and its response or neither, and retries complete it', {
  timeout: 240_000,
}, async (t) => {
  const { context, fixtures, db } = await startAppWithSamples(t)
  const { key } = await fixtures.createOrg()
  await raiseLimits(context, key.keyId)
  let killedDuringCalls = 0
  for (let round = 0; round < ROUND_COUNT; round++) {
    const sampleNames = Array.from({ length: CALLS_PER_ROUND }, (_, call) => `r${round}-${call}`)
    const acknowledgedBodies = new Map<string, unknown>()
    const firstServer = await startServer(t, context.config)
    const calls = sampleNames.map((name) =>
      postSample(firstServer.url, key, name).then((body) => body && acknowledgedBodies.set(name, body)),
    )
    const killAfter = 1 + Math.floor(Math.random() * (CALLS_PER_ROUND / 2))
    while (acknowledgedBodies.size < killAfter) await pause(1)
    firstServer.child.kill('SIGKILL')
    await Promise.all(calls)
    if (acknowledgedBodies.size > 0 && acknowledgedBodies.size < CALLS_PER_ROUND) killedDuringCalls++

    const { countsByName: countsAfterKill, idempotencyKeys } = await readSamples()
    assert.deepEqual(idempotencyKeys.sort(), [...countsAfterKill.keys()].sort(), 'each effect has a record')
    for (const name of acknowledgedBodies.keys()) assert.equal(countsAfterKill.get(name), 1, `${name} was acknowledged`)

    const secondServer = await startServer(t, context.config)
    for (const name of sampleNames) {
      const body = await postSample(secondServer.url, key, name)
      assert.ok(body, `${name} was retried`)
      if (acknowledgedBodies.has(name)) assert.deepEqual(body, acknowledgedBodies.get(name))
    }
    secondServer.child.kill('SIGKILL')
    const { countsByName: finalCounts } = await readSamples()
    for (const name of sampleNames) assert.equal(finalCounts.get(name), 1, `${name} exactly once`)
  }
  t.diagnostic(`killed during the calls in ${killedDuringCalls} of ${ROUND_COUNT} rounds`)
  assert.ok(killedDuringCalls > 0)

  /** Reads both tables in one statement, because a connection of the killed server may still commit a transaction. */
  async function readSamples() {
    const { rows } = await sql<{ names: string[]; keys: string[] }>`
      select array(select name from samples) as names, array(select idempotency_key from idempotency_records) as keys`.execute(
      db.queries,
    )
    const { names, keys: idempotencyKeys } = rows[0]!
    const countsByName = new Map<string, number>()
    for (const name of names) countsByName.set(name, (countsByName.get(name) ?? 0) + 1)
    return { countsByName, idempotencyKeys }
  }
})

async function startAppWithSamples(t: TestContext) {
  const app = await startApp(t, { clock: new TestClock(Date.now()) })
  await createSampleTable(app.context)
  return { ...app, db: app.context.db }
}

async function startServer(t: TestContext, config: Config): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(
    process.execPath,
    [...nodeOptions, new URL('sample-resource-server.ts', import.meta.url).pathname],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...databaseEnv(config) },
    },
  )
  t.after(() => child.kill('SIGKILL'))
  const [port] = (await once(child.stdout!, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${String(port).trim()}`, child }
}

/** Returns the body of the response, or undefined if the connection was lost. */
async function postSample(url: string, key: { keyId: string; secret: string }, name: string): Promise<unknown> {
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
