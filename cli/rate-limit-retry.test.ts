import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setKeyLimits } from '../server/access/key-limits.ts'
import { systemClock } from '../server/platform/clock.ts'
import { startApp } from '../test/support/app.ts'
import type { TestKey } from '../test/support/call.ts'
import type { TestClock } from '../test/support/clock.ts'
import { nodeOptions } from '../test/support/node-options.ts'
import { MAX_WAIT_SECONDS, retryWhileLimited } from './rate-limit-retry.ts'

/** Runs a call that is rejected with these Retry-After values in turn and then succeeds; pauses are recorded, not waited for. */
function callLimited(retryAfterValues: (string | undefined)[], maxWaitSeconds = MAX_WAIT_SECONDS) {
  const pausedSeconds: number[] = []
  const lines: string[] = []
  let calls = 0
  const attempt = async () => {
    const retryAfter = retryAfterValues[calls++]
    const headers = new Headers(retryAfter === undefined ? {} : { 'retry-after': retryAfter })
    return { status: calls <= retryAfterValues.length ? 429 : 200, headers }
  }
  const pause = async (seconds: number) => void pausedSeconds.push(seconds)
  const call = retryWhileLimited(attempt, { maxWaitSeconds, pause, log: (line) => lines.push(line) })
  return call.then(({ status }) => ({ status, calls, paused: pausedSeconds, lines }))
}

test('a rate-limited call is retried after Retry-After, within the maximum wait of a command', async () => {
  assert.deepEqual(await callLimited([]), { status: 200, calls: 1, paused: [], lines: [] })
  const limitedTwice = await callLimited(['1', '2'])
  assert.deepEqual([limitedTwice.status, limitedTwice.calls, limitedTwice.paused], [200, 3, [1, 2]])
  assert.deepEqual(limitedTwice.lines, [
    'Rate limit exceeded; retrying in 1 s.',
    'Rate limit exceeded; retrying in 2 s.',
  ])

  const maxTotalWait = await callLimited(['10', '20'])
  assert.deepEqual([maxTotalWait.status, maxTotalWait.paused], [200, [10, 20]], 'thirty seconds in total')
  const tooLongWait = await callLimited(['10', '21'])
  assert.deepEqual([tooLongWait.status, tooLongWait.calls, tooLongWait.paused], [429, 2, [10]])
  assert.equal(
    tooLongWait.lines.at(-1),
    'Rate limit exceeded; not retrying in 21 s, because a command waits at most 30 s (waited 10 s so far).',
  )
  const veryLongWait = await callLimited(['40000'])
  assert.deepEqual([veryLongWait.status, veryLongWait.paused], [429, []])
  const zeroWaits = await callLimited(Array(100).fill('0'))
  assert.deepEqual([zeroWaits.status, zeroWaits.calls], [429, 31], 'with Retry-After: 0, one call per second')

  assert.deepEqual(await callLimited(['1'], 0), { status: 429, calls: 1, paused: [], lines: [] })
  assert.deepEqual(await callLimited([undefined]), { status: 429, calls: 1, paused: [], lines: [] })
})

/** Runs `attestry` in a separate process, with the key in the environment. */
function runCli(url: string, { keyId, secret }: Pick<TestKey, 'keyId' | 'secret'>, ...args: string[]) {
  const env = { ...process.env, ATTESTRY_URL: url, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: secret }
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) =>
    execFile(process.execPath, [...nodeOptions, 'cli/main.ts', ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    ),
  )
}

test('a command that exceeds a rate limit waits, retries, and prints a message', async (t) => {
  const limitedUrls = new Set<string>()
  const server = createServer(({ headers, url }, response) => {
    // Returns the received signature, so that the test can see that the retry was signed.
    const isRetry = limitedUrls.has(url!)
    limitedUrls.add(url!)
    response.writeHead(isRetry ? 200 : 429, {
      'content-type': 'application/json',
      ...(isRetry ? {} : { 'retry-after': '1' }),
    })
    response.end(JSON.stringify({ success: isRetry, data: { items: [], signature: headers['x-signature'] } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const key = { keyId: 'VFN_TEST_1', secret: 'VFN_SK_1' }
  const [requested, listed] = await Promise.all([
    runCli(url, key, 'request', 'GET', '/shifts', '--pick', 'signature'),
    runCli(url, key, 'events', 'list'),
  ])
  assert.equal(requested.code, 0, requested.stderr)
  assert.match(requested.stdout, /^v1=[0-9a-f]{64}\n$/, 'standard output contains only the response')
  const profileLine = `Using the TEST key VFN_TEST_1 of the environment, server ${url}.\n`
  assert.equal(requested.stderr, `${profileLine}Rate limit exceeded; retrying in 1 s.\n`)
  assert.deepEqual([listed.code, listed.stderr], [0, requested.stderr])
})

test('a command fails immediately if the wait is too long, or with --no-wait', async (t) => {
  const app = await startApp(t, { clock: systemClock as unknown as TestClock })
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  const rates = { rate: 0.001, burst: 1, minute: 1000, day: 1000 }
  await app.context.db.transaction((tx) => setKeyLimits(tx, key.keyId, { bucket: 'reads', rates }))
  await app.context.keyring.refresh()
  assert.equal((await app.as(key).get('/shifts')).status, 200)
  const [request, requestNoWait, events, eventsNoWait] = await Promise.all([
    runCli(app.url, key, 'request', 'GET', '/shifts'),
    runCli(app.url, key, 'request', 'GET', '/shifts', '--no-wait'),
    runCli(app.url, key, 'events', 'list'),
    runCli(app.url, key, 'events', 'list', '--no-wait'),
  ])
  assert.deepEqual([request.code, JSON.parse(request.stdout).error.code], [1, 'RATE_LIMITED'])
  assert.match(
    request.stderr,
    /^Using the TEST key .*\nRate limit exceeded; not retrying in \d+ s, because a command waits at most 30 s\.\n$/,
  )
  assert.equal(requestNoWait.code, 1)
  assert.match(requestNoWait.stderr, /^Using the TEST key .*\n$/)
  assert.deepEqual([events.code, eventsNoWait.code], [1, 1])
  assert.match(events.stderr, /Rate limit exceeded; .* at most 30 s/)
  assert.doesNotMatch(eventsNoWait.stderr, /retrying/)
})
