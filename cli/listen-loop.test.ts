import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setLimits } from '../server/access/key-limits.ts'
import { systemClock } from '../server/platform/clock.ts'
import { startApp, type TestKey } from '../test/support/app.ts'
import type { TestClock } from '../test/support/clock.ts'
import { LONGEST_WAIT, untilItPasses } from './listen-loop.ts'

/** A server that refuses with these waits, one after the other, and then lets pass; and a clock that only counts. */
function refusing(waits: (string | undefined)[], longest = LONGEST_WAIT) {
  const paused: number[] = []
  const told: string[] = []
  let calls = 0
  const attempt = async () => {
    const wait = waits[calls++]
    const headers = new Headers(wait === undefined ? {} : { 'retry-after': wait })
    return { status: calls <= waits.length ? 429 : 200, headers }
  }
  const pause = async (seconds: number) => void paused.push(seconds)
  const passing = untilItPasses(attempt, { longest, pause, tell: (line) => told.push(line) })
  return passing.then(({ status }) => ({ status, calls, paused, told }))
}

test('a call over a limit is made again when it could pass, and never waited for longer than a command waits', async () => {
  assert.deepEqual(await refusing([]), { status: 200, calls: 1, paused: [], told: [] })
  const twice = await refusing(['1', '2'])
  assert.deepEqual([twice.status, twice.calls, twice.paused], [200, 3, [1, 2]])
  assert.deepEqual(twice.told, ['Over a limit: calling again in 1 s.', 'Over a limit: calling again in 2 s.'])

  const whole = await refusing(['10', '20'])
  assert.deepEqual([whole.status, whole.paused], [200, [10, 20]], 'thirty seconds in all')
  const tooLong = await refusing(['10', '21'])
  assert.deepEqual([tooLong.status, tooLong.calls, tooLong.paused], [429, 2, [10]])
  assert.equal(
    tooLong.told.at(-1),
    'Over a limit: 10 s were waited for; the call could pass in 21 s. A command waits 30 s at most.',
  )
  const tomorrow = await refusing(['40000'])
  assert.deepEqual([tomorrow.status, tomorrow.paused], [429, []])
  const forever = await refusing(Array(100).fill('0'))
  assert.deepEqual([forever.status, forever.calls], [429, 31], 'a server that says "at once" is not hammered')

  assert.deepEqual(await refusing(['1'], 0), { status: 429, calls: 1, paused: [], told: [] })
  assert.deepEqual(await refusing([undefined]), { status: 429, calls: 1, paused: [], told: [] })
})

/** The command line tool as a partner's engineer runs it. */
function attestry(url: string, { keyId, secret }: Pick<TestKey, 'keyId' | 'secret'>, ...args: string[]) {
  const env = { ...process.env, ATTESTRY_URL: url, ATTESTRY_KEY_ID: keyId, ATTESTRY_SECRET: secret }
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) =>
    execFile(process.execPath, ['cli/main.ts', ...args], { env }, (error, stdout, stderr) =>
      done({ code: Number(error?.code ?? 0), stdout, stderr }),
    ),
  )
}

test('a command that is refused once waits, passes, and says why it takes its time', async (t) => {
  const refused = new Set<string>()
  const server = createServer(({ headers, url }, response) => {
    // Each signature is new: what is sent again is signed again.
    const again = refused.has(url!)
    refused.add(url!)
    response.writeHead(again ? 200 : 429, {
      'content-type': 'application/json',
      ...(again ? {} : { 'retry-after': '1' }),
    })
    response.end(JSON.stringify({ success: again, data: { items: [], signature: headers['x-signature'] } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const key = { keyId: 'VFN_TEST_1', secret: 'VFN_SK_1' }
  const [asked, listed] = await Promise.all([
    attestry(url, key, 'request', 'GET', '/shifts', '--pick', 'signature'),
    attestry(url, key, 'events', 'list'),
  ])
  assert.equal(asked.code, 0, asked.stderr)
  assert.match(asked.stdout, /^v1=[0-9a-f]{64}\n$/, 'standard output holds the answer alone')
  assert.equal(asked.stderr, 'Over a limit: calling again in 1 s.\n')
  assert.deepEqual([listed.code, listed.stderr], [0, asked.stderr])
})

test('what takes longer than people wait is told at once, and with --no-wait everything is', async (t) => {
  const app = await startApp(t, { clock: systemClock as unknown as TestClock })
  const { orgId } = await app.given.org()
  const key = await app.given.key(orgId, { mode: 'test' })
  const rates = { rate: 0.001, burst: 1, minute: 1000, day: 1000 }
  await app.context.db.transaction((tx) => setLimits(tx, key.keyId, { bucket: 'reads', rates }))
  await app.context.keyring.refresh()
  assert.equal((await app.as(key).get('/shifts')).status, 200)
  const [given, atOnce, events, eventsAtOnce] = await Promise.all([
    attestry(app.url, key, 'request', 'GET', '/shifts'),
    attestry(app.url, key, 'request', 'GET', '/shifts', '--no-wait'),
    attestry(app.url, key, 'events', 'list'),
    attestry(app.url, key, 'events', 'list', '--no-wait'),
  ])
  assert.deepEqual([given.code, JSON.parse(given.stdout).error.code], [1, 'RATE_LIMITED'])
  assert.match(given.stderr, /^Over a limit: the call could pass in \d+ s\. A command waits 30 s at most\.\n$/)
  assert.deepEqual([atOnce.code, atOnce.stderr], [1, ''])
  assert.deepEqual([events.code, eventsAtOnce.code], [1, 1])
  assert.match(events.stderr, /Over a limit: .* 30 s at most/)
  assert.doesNotMatch(eventsAtOnce.stderr, /Over a limit/)
})
