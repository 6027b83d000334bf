import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sign } from '../../sdk/index.ts'
import { redisSkipReason, startRedis } from '../../test/limits/private-redis.ts'
import { cloneDatabase, startApp } from '../../test/support/app.ts'
import type { TestKey } from '../../test/support/call.ts'
import { TestClock } from '../../test/support/clock.ts'
import { addSampleResource, countSamples, createSampleTable } from '../../test/support/sample-resource.ts'
import { PARTNER_BASE } from '../api/envelope.ts'

/** Signs a request that creates a sample or another resource, and returns a function that sends it with this signature to a server. */
async function signRequest(
  key: TestKey,
  name: string,
  timestamp: number,
  idempotencyKey?: string,
  target = `${PARTNER_BASE}/samples`,
) {
  const body = JSON.stringify({ name })
  const signature = await sign({ secret: key.secret, timestamp, method: 'POST', target, idempotencyKey, body })
  const headers = {
    'x-api-key': key.keyId,
    'x-timestamp': String(timestamp),
    'x-signature': signature,
    'content-type': 'application/json',
    ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
  }
  return async (url: string) => {
    const response = await fetch(url + target, { method: 'POST', headers, body })
    return [response.status, ((await response.json()) as { error?: { code: string } }).error?.code]
  }
}

test('a POST request that is sent again with the same signature is rejected, unless it failed or has an Idempotency-Key', async (t) => {
  const { url, context, clock, fixtures } = await startApp(t, {
    config: { rejectReplays: true },
    extend: addSampleResource,
  })
  await createSampleTable(context)
  const { key } = await fixtures.createOrg()
  const now = Math.floor(clock.now() / 1000)
  const sendRecorded = await signRequest(key, 'one', now + 300) // valid for ten minutes
  assert.deepEqual(await sendRecorded(url), [201, undefined])
  for (const seconds of [0, 299, 301]) {
    clock.set(new Date((now + seconds) * 1000).toISOString())
    assert.deepEqual(await sendRecorded(url), [409, 'CONFLICT'], `${seconds} seconds later`)
  }
  assert.equal(await countSamples(context), 1)
  clock.set(new Date((now + 601) * 1000).toISOString())
  assert.deepEqual(await sendRecorded(url), [401, 'UNAUTHORIZED'], 'no longer valid')

  const later = now + 601
  const sendConcurrently = await signRequest(key, 'two', later)
  const responses = await Promise.all(Array.from({ length: 5 }, () => sendConcurrently(url)))
  assert.deepEqual(responses.map(([status]) => status).sort(), [201, 409, 409, 409, 409])
  assert.deepEqual(
    await (await signRequest(key, 'two', later + 1))(url),
    [201, undefined],
    'a new timestamp is a new request',
  )

  const sendFailing = await signRequest(key, 'retry-later', later)
  for (let attempt = 0; attempt < 2; attempt++) assert.deepEqual(await sendFailing(url), [409, 'CONFLICT'])
  const sendWhileBusy = await signRequest(key, 'busy', later)
  for (let attempt = 0; attempt < 2; attempt++)
    assert.deepEqual(
      await sendWhileBusy(url),
      [503, 'SERVICE_UNAVAILABLE'],
      'a response with Retry-After had no effect',
    )
  const sendBroken = await signRequest(key, 'broken', later)
  assert.deepEqual(await sendBroken(url), [500, 'SERVER_ERROR'])
  assert.deepEqual(await sendBroken(url), [409, 'CONFLICT'], 'it may have had an effect')

  const sendIdempotent = await signRequest(key, 'three', later, 'k-1')
  for (let attempt = 0; attempt < 2; attempt++) assert.deepEqual(await sendIdempotent(url), [201, undefined])
})

test('processes that share Redis reject requests that another one has received', {
  skip: redisSkipReason(),
}, async (t) => {
  await using redis = await startRedis()
  const { url: databaseUrl, drop } = await cloneDatabase()
  t.after(drop)
  const clock = new TestClock()
  const options = {
    clock,
    config: { rejectReplays: true, databaseUrl, redisUrl: redis.url, masterKey: Buffer.alloc(32, 7) },
  }
  const [firstApp, secondApp] = [await startApp(t, options), await startApp(t, options)]
  const { key } = await firstApp.fixtures.createOrg()
  await secondApp.context.keyring.refresh()
  const now = Math.floor(clock.now() / 1000)
  const target = `${PARTNER_BASE}/workflows`
  const send = await signRequest(key, 'one', now, undefined, target)
  assert.deepEqual(await send(firstApp.url), [201, undefined])
  assert.deepEqual(await send(secondApp.url), [409, 'CONFLICT'])
  assert.deepEqual(await (await signRequest(key, 'two', now, undefined, target))(secondApp.url), [201, undefined])
})
