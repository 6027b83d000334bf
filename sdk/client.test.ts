import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttestryClient, AttestryError } from './index.ts'

interface Reply {
  status: number
  headers?: Record<string, string>
  body?: unknown
}

/** A client whose calls get these replies in turn; an Error stands for a connection that breaks. */
function client(...replies: (Reply | Error)[]) {
  const asked: { method: string; path: string; key: string | null }[] = []
  const made = new AttestryClient({
    baseUrl: 'https://verify.example.com/',
    keyId: 'VFN_TEST_X',
    secret: 'VFN_SK_X',
    async fetch(url, init) {
      const { pathname, search } = new URL(String(url))
      const headers = new Headers(init!.headers)
      asked.push({ method: init!.method!, path: pathname + search, key: headers.get('idempotency-key') })
      const reply = replies[Math.min(asked.length, replies.length) - 1]!
      if (reply instanceof Error) throw reply
      return new Response(JSON.stringify(reply.body ?? { success: true, data: { done: true } }), {
        status: reply.status,
        headers: reply.headers ?? {},
      })
    },
  })
  return { client: made, asked }
}

const broken = new TypeError('fetch failed')
const fine = { status: 200 }
const busy = (wait: number): Reply => ({
  status: 429,
  headers: { 'retry-after': String(wait), 'x-request-id': 'r-1' },
  body: { success: false, error: { code: 'RATE_LIMITED', message: 'Too many calls.', details: [] } },
})

test('a refusal is thrown with all that it says', async () => {
  const details = [{ path: 'name', message: 'is required' }]
  const body = { success: false, error: { code: 'VALIDATION_FAILED', message: 'See details.', details } }
  const { client: one, asked } = client({ status: 400, headers: { 'x-request-id': 'r-1' }, body })
  const error = await one.call('POST', '/workflows', { body: {} }).catch((thrown) => thrown)
  assert.ok(error instanceof AttestryError)
  assert.deepEqual(
    [error.status, error.code, error.message, error.details, error.requestId, error.retryAfter],
    [400, 'VALIDATION_FAILED', 'See details.', details, 'r-1', undefined],
  )
  assert.equal(asked.length, 1)
  const page: any = await client({ status: 404, body: 'no JSON of ours' })
    .client.call('GET', '/x')
    .catch((thrown) => thrown)
  assert.deepEqual([page.code, page.message], [undefined, 'the server answered 404'])
})

test('what is over a limit waits as long as it is told, and is made again whatever it is', async () => {
  const { client: one, asked } = client(busy(0), busy(0), fine)
  assert.deepEqual(await one.call('POST', '/workflows', { body: {} }), { done: true })
  assert.equal(asked.length, 3)

  const patient = client(busy(61))
  const error: any = await patient.client.call('GET', '/shifts').catch((thrown) => thrown)
  assert.deepEqual([error.code, error.retryAfter, patient.asked.length], ['RATE_LIMITED', 61, 1])

  const stubborn = client(busy(0))
  await assert.rejects(stubborn.client.call('GET', '/shifts', { retries: 1 }), { code: 'RATE_LIMITED' })
  assert.equal(stubborn.asked.length, 2)
})

test('after a fault, only what cannot harm is made again', async () => {
  for (const fault of [broken, { status: 502 }]) {
    const read = client(fault, fine)
    assert.deepEqual(await read.client.call('GET', '/shifts'), { done: true })
    const write = client(fault, fine)
    await assert.rejects(write.client.call('POST', '/workflows', { body: {} }))
    assert.equal(write.asked.length, 1)
    const keyed = client(fault, fine)
    assert.deepEqual(await keyed.client.call('POST', '/workflows', { body: {}, idempotencyKey: 'k' }), { done: true })
    assert.deepEqual(
      keyed.asked.map(({ key }) => key),
      ['k', 'k'],
    )
  }
})

test('who gives up does not wait', async () => {
  const { client: one } = client(busy(50))
  const giveUp = new AbortController()
  const call = one.call('GET', '/shifts', { signal: giveUp.signal })
  setTimeout(() => giveUp.abort(new Error('enough')), 20)
  await assert.rejects(call, /enough/)
})

test('a list is read page by page, as far as it is wanted', async () => {
  const page = (items: number[], next_cursor: string | null) => ({
    status: 200,
    body: { data: { items, next_cursor } },
  })
  const { client: one, asked } = client(page([1, 2], 'a b'), page([3], null))
  const found: number[] = []
  for await (const item of one.list<number>('/mandates?status=ready')) found.push(item)
  assert.deepEqual(found, [1, 2, 3])
  assert.deepEqual(
    asked.map(({ path }) => path),
    ['/api/v1/partner/mandates?status=ready', '/api/v1/partner/mandates?status=ready&cursor=a%20b'],
  )
  const some = client(page([1, 2], 'more'))
  for await (const item of some.client.list<number>('/mandates')) if (item === 1) break
  assert.equal(some.asked.length, 1)
})
