import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { AttestryClient, AttestryError } from './index.ts'

interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/** Returns a client whose calls receive these replies in turn; an Error represents a broken connection. */
function client(...replies: (Reply | Error)[]) {
  const calls: { method: string; path: string; key: string | null }[] = []
  const created = new AttestryClient({
    baseUrl: 'https://verify.example.com/',
    keyId: 'VFN_TEST_X',
    secret: 'VFN_SK_X',
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
  return { client: created, calls }
}

const broken = new TypeError('fetch failed')
const success = { status: 200 }
const limited = (wait: number): Reply => ({
  status: 429,
  headers: { 'retry-after': String(wait), 'x-request-id': 'r-1' },
  body: { success: false, error: { code: 'RATE_LIMITED', message: 'Too many calls.', details: [] } },
})

test('an error response is thrown with its status, code, details and request ID', async () => {
  const details = [{ path: 'name', message: 'is required' }]
  const body = { success: false, error: { code: 'VALIDATION_FAILED', message: 'See details.', details } }
  const { client: one, calls } = client({ status: 400, headers: { 'x-request-id': 'r-1' }, body })
  const error = await one.call('POST', '/workflows', { body: {} }).catch((thrown) => thrown)
  assert.ok(error instanceof AttestryError)
  assert.deepEqual(
    [error.status, error.code, error.message, error.details, error.requestId, error.retryAfter],
    [400, 'VALIDATION_FAILED', 'See details.', details, 'r-1', undefined],
  )
  assert.equal(calls.length, 1)
  const page: any = await client({ status: 404, body: 'not from the API' })
    .client.call('GET', '/x')
    .catch((thrown) => thrown)
  assert.deepEqual([page.code, page.message], [undefined, 'The server returned status 404'])
})

test('a rate-limited call of any method is retried after Retry-After', async () => {
  const { client: one, calls } = client(limited(0), limited(0), success)
  assert.deepEqual(await one.call('POST', '/workflows', { body: {} }), { done: true })
  assert.equal(calls.length, 3)

  const longWait = client(limited(61))
  const error: any = await longWait.client.call('GET', '/shifts').catch((thrown) => thrown)
  assert.deepEqual([error.code, error.retryAfter, longWait.calls.length], ['RATE_LIMITED', 61, 1])

  for (const options of [{ maxWaitSeconds: 0.5 }, { longestWait: 0.5 }]) {
    const impatient = client(limited(1), success)
    await assert.rejects(impatient.client.call('GET', '/shifts', options), { code: 'RATE_LIMITED' })
    assert.equal(impatient.calls.length, 1)
  }

  const persistent = client(limited(0))
  await assert.rejects(persistent.client.call('GET', '/shifts', { retries: 1 }), { code: 'RATE_LIMITED' })
  assert.equal(persistent.calls.length, 2)
})

test('after a transient error, only idempotent calls are retried', async () => {
  for (const failure of [broken, { status: 502 }]) {
    const read = client(failure, success)
    assert.deepEqual(await read.client.call('GET', '/shifts'), { done: true })
    const write = client(failure, success)
    await assert.rejects(write.client.call('POST', '/workflows', { body: {} }))
    assert.equal(write.calls.length, 1)
    const keyed = client(failure, success)
    assert.deepEqual(await keyed.client.call('POST', '/workflows', { body: {}, idempotencyKey: 'k' }), { done: true })
    assert.deepEqual(
      keyed.calls.map(({ key }) => key),
      ['k', 'k'],
    )
  }
})

test('an aborted call stops waiting', async () => {
  const { client: one, calls } = client(limited(50))
  const controller = new AbortController()
  const call = one.call('GET', '/shifts', { signal: controller.signal })
  while (calls.length === 0) await setImmediate()
  setTimeout(() => controller.abort(new Error('cancelled')), 20)
  await assert.rejects(call, /cancelled/)
})

test('a list fetches pages only as they are needed', async () => {
  const page = (items: number[], next_cursor: string | null) => ({
    status: 200,
    body: { data: { items, next_cursor } },
  })
  const { client: one, calls } = client(page([1, 2], 'a b'), page([3], null))
  const found: number[] = []
  for await (const item of one.list<number>('/mandates?status=ready')) found.push(item)
  assert.deepEqual(found, [1, 2, 3])
  assert.deepEqual(
    calls.map(({ path }) => path),
    ['/api/v1/partner/mandates?status=ready', '/api/v1/partner/mandates?status=ready&cursor=a%20b'],
  )
  const some = client(page([1, 2], 'more'))
  for await (const item of some.client.list<number>('/mandates')) if (item === 1) break
  assert.equal(some.calls.length, 1)
})
