import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { AttestryClient, AttestryError, type ClientOptions } from './index.ts'

interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/** Returns a client whose calls receive these replies in turn; an Error represents a broken connection. */
function clientWithReplies(...replies: (Reply | Error)[]) {
  return clientWithOptions({}, ...replies)
}

function clientWithOptions(options: ClientOptions, ...replies: (Reply | Error)[]) {
  const calls: { method: string; path: string; key: string | null }[] = []
  const client = new AttestryClient({
    baseUrl: 'https://verify.example.com/',
    keyId: 'VFN_TEST_X',
    secret: 'VFN_SK_X',
    ...options,
    async fetch(url, init) {
      const { pathname, search } = new URL(String(url))
      const headers = new Headers(init!.headers)
      calls.push({ method: init!.method!, path: pathname + search, key: headers.get('idempotency-key') })
      const reply = replies[Math.min(calls.length, replies.length) - 1]!
      if (reply instanceof Error) throw reply
      return new Response(JSON.stringify(reply.body ?? { success: true, data: { done: true } }), {
        status: reply.status,
        headers: reply.headers ?? {},
      })
    },
  })
  return { client, calls }
}

const EMPTY_BODY_HASH = createHash('sha256').digest('hex')
const connectionError = new TypeError('fetch failed')
const success = { status: 200 }
const rateLimitedReply = (wait: number): Reply => ({
  status: 429,
  headers: { 'retry-after': String(wait), 'x-request-id': 'r-1' },
  body: { success: false, error: { code: 'RATE_LIMITED', message: 'Too many calls.', details: [] } },
})

test('an error response is thrown with its status, code, details and request ID', async () => {
  const details = [{ path: 'name', message: 'is required' }]
  const body = { success: false, error: { code: 'VALIDATION_FAILED', message: 'See details.', details } }
  const { client, calls } = clientWithReplies({ status: 400, headers: { 'x-request-id': 'r-1' }, body })
  const error = await client.call('POST', '/workflows', { body: {} }).catch((thrown) => thrown)
  assert.ok(error instanceof AttestryError)
  assert.deepEqual(
    [error.status, error.code, error.message, error.details, error.requestId, error.retryAfter],
    [400, 'VALIDATION_FAILED', 'See details.', details, 'r-1', undefined],
  )
  assert.equal(calls.length, 1)
  const proxyError: any = await clientWithReplies({ status: 404, body: 'not from the API' })
    .client.call('GET', '/x')
    .catch((thrown) => thrown)
  assert.deepEqual([proxyError.code, proxyError.message], [undefined, 'The server returned status 404'])
})

test('a rate-limited call of any method is retried after Retry-After', async () => {
  const { client, calls } = clientWithReplies(rateLimitedReply(0), rateLimitedReply(0), success)
  assert.deepEqual(await client.call('POST', '/workflows', { body: {} }), { done: true })
  assert.equal(calls.length, 3)

  const longWait = clientWithReplies(rateLimitedReply(61))
  const error: any = await longWait.client.call('GET', '/shifts').catch((thrown) => thrown)
  assert.deepEqual([error.code, error.retryAfter, longWait.calls.length], ['RATE_LIMITED', 61, 1])

  for (const options of [{ maxWaitSeconds: 0.5 }, { longestWait: 0.5 }]) {
    const shortMaxWait = clientWithReplies(rateLimitedReply(1), success)
    await assert.rejects(shortMaxWait.client.call('GET', '/shifts', options), { code: 'RATE_LIMITED' })
    assert.equal(shortMaxWait.calls.length, 1)
  }

  const oneRetry = clientWithReplies(rateLimitedReply(0))
  await assert.rejects(oneRetry.client.call('GET', '/shifts', { retries: 1 }), { code: 'RATE_LIMITED' })
  assert.equal(oneRetry.calls.length, 2)
})

test('a retry waits for the time of Retry-After', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { client, calls } = clientWithReplies(rateLimitedReply(5), success)
  const call = client.call('GET', '/shifts')
  while (calls.length === 0) await setImmediate()
  let waitedMs = 0
  for (; calls.length === 1; waitedMs += 500) {
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    t.mock.timers.tick(500)
  }
  assert.ok(waitedMs >= 5000, `${waitedMs} ms`)
  assert.deepEqual(await call, { done: true })
})

test('the limits of retries can be set for all calls of a client, and for one call', async () => {
  for (const [options, reply, expectedCalls] of [
    [{ retries: 0 }, rateLimitedReply(0), 1],
    [{ retries: 2 }, rateLimitedReply(0), 3],
    [{ maxWaitSeconds: 0.5 }, rateLimitedReply(1), 1],
    [{ longestWait: 0.5 }, rateLimitedReply(1), 1],
  ] as const) {
    const { client, calls } = clientWithOptions(options, reply)
    await assert.rejects(client.call('GET', '/shifts'), { code: 'RATE_LIMITED' })
    assert.equal(calls.length, expectedCalls, JSON.stringify(options))
  }
  const { client, calls } = clientWithOptions({ retries: 0 }, rateLimitedReply(0), success)
  assert.deepEqual(await client.call('GET', '/shifts', { retries: 1 }), { done: true })
  assert.equal(calls.length, 2)
})

test('after a transient error, only idempotent calls are retried', async () => {
  for (const failure of [connectionError, { status: 502 }]) {
    const getSetup = clientWithReplies(failure, success)
    assert.deepEqual(await getSetup.client.call('GET', '/shifts'), { done: true })
    const postSetup = clientWithReplies(failure, success)
    await assert.rejects(postSetup.client.call('POST', '/workflows', { body: {} }))
    assert.equal(postSetup.calls.length, 1)
    const idempotentPostSetup = clientWithReplies(failure, success)
    assert.deepEqual(await idempotentPostSetup.client.call('POST', '/workflows', { body: {}, idempotencyKey: 'k' }), {
      done: true,
    })
    assert.deepEqual(
      idempotentPostSetup.calls.map(({ key }) => key),
      ['k', 'k'],
    )
  }
})

test('a rejected request is not retried, whatever its method', async () => {
  for (const status of [400, 401, 403, 404, 409, 422])
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { client, calls } = clientWithReplies({ status }, success)
      await assert.rejects(client.call(method, '/mandates/JM_X', { idempotencyKey: 'k' }), { status })
      assert.equal(calls.length, 1, `${method} with status ${status}`)
    }
})

test('only the error of a rejected signature is explained', async () => {
  for (const status of [400, 401]) {
    const timestamp = String(Math.floor(Date.now() / 1000))
    const lines = ['VFN1', timestamp, 'GET', '/api/v1/partner/shifts', '', '', EMPTY_BODY_HASH].join('\n')
    const details = [{ path: 'headers.x-signature', message: `The server expected\n${lines}` }]
    const { client } = clientWithReplies({
      status,
      headers: { date: new Date().toUTCString() },
      body: { success: false, error: { code: 'REJECTED', message: 'Rejected.', details } },
    })
    const error: AttestryError = await client.call('GET', '/shifts').then(
      () => assert.fail('the call succeeded'),
      (thrown) => thrown,
    )
    assert.equal(error.message.includes('so the secret does not belong to the key'), status === 401, error.message)
  }
})

test('an aborted call stops waiting', async () => {
  const { client, calls } = clientWithReplies(rateLimitedReply(50))
  const controller = new AbortController()
  const call = client.call('GET', '/shifts', { signal: controller.signal })
  while (calls.length === 0) await setImmediate()
  setTimeout(() => controller.abort(new Error('cancelled')), 20)
  await assert.rejects(call, /cancelled/)
})

test('a list fetches pages only as they are needed', async () => {
  const pageReply = (items: number[], next_cursor: string | null) => ({
    status: 200,
    body: { data: { items, next_cursor } },
  })
  const { client, calls } = clientWithReplies(pageReply([1, 2], 'a b'), pageReply([3], null))
  const items: number[] = []
  for await (const item of client.list<number>('/mandates?status=ready')) items.push(item)
  assert.deepEqual(items, [1, 2, 3])
  assert.deepEqual(
    calls.map(({ path }) => path),
    ['/api/v1/partner/mandates?status=ready', '/api/v1/partner/mandates?status=ready&cursor=a%20b'],
  )
  const partlyRead = clientWithReplies(pageReply([1, 2], 'more'))
  for await (const item of partlyRead.client.list<number>('/mandates')) if (item === 1) break
  assert.equal(partlyRead.calls.length, 1)
})
