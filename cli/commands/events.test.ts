import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { verifyWebhook } from '../../sdk/index.ts'
import { recordEvents } from '../../server/events/record.ts'
import { systemClock } from '../../server/platform/clock.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import type { TestKey } from '../../test/support/call.ts'
import type { TestClock } from '../../test/support/clock.ts'
import { nodeOptions } from '../../test/support/node-options.ts'
import { until } from '../../test/support/until.ts'

/** Contains the signing secret of `listen`. */
const configFolder = mkdtempSync(join(tmpdir(), 'attestry-config-'))
after(() => rmSync(configFolder, { recursive: true, force: true }))

/** Starts `attestry` in a separate process, with the key in the environment. */
function startCli(t: TestContext, { url }: TestApp, key: TestKey, args: string[]) {
  const child = spawn(process.execPath, [...nodeOptions, 'cli/main.ts', ...args], {
    env: {
      ...process.env,
      XDG_CONFIG_HOME: configFolder,
      ATTESTRY_URL: url,
      ATTESTRY_KEY_ID: key.keyId,
      ATTESTRY_SECRET: key.secret,
    },
  })
  const run = {
    output: '',
    errors: '',
    // Resolves at the end of the output, not of the process, so that the output is complete.
    ended: new Promise<number | null>((resolve) => child.on('close', resolve)),
    child,
  }
  child.stdout.on('data', (text) => {
    run.output += text
  })
  child.stderr.on('data', (text) => {
    run.errors += text
  })
  t.after(() => void child.kill('SIGKILL'))
  return run
}

/** Starts an HTTP server that records deliveries and can be stopped and restarted on the same port. */
async function startReceiver() {
  const received: { body: string; headers: Record<string, string> }[] = []
  let status = 200
  const serve = (port: number) =>
    new Promise<ReturnType<typeof createServer>>((resolve) => {
      const server = createServer((request, response) => {
        let body = ''
        request.on('data', (part) => {
          body += part
        })
        request.on('end', () => {
          received.push({ body, headers: request.headers as Record<string, string> })
          response.writeHead(status).end()
        })
      })
      server.listen(port, '127.0.0.1', () => resolve(server))
    })
  let server = await serve(0)
  const { port } = server.address() as AddressInfo
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    respondWith: (next: number) => {
      status = next
    },
    stop,
    async start() {
      server = await serve(port)
    },
  }
}

// The command signs with the system clock.
const useSystemTime = (clock: TestClock) => clock.set(systemClock.now())

test('listen forwards signed events, acknowledges accepted ones, and retries while the receiver is down', async (t) => {
  const app = await startApp(t)
  useSystemTime(app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createPartnerKey(orgId)
  const receiver = await startReceiver()
  t.after(receiver.stop)
  const recordEvent = (number: number) =>
    app.context.db.transaction((tx) => recordEvents(tx, key, app.clock, 'result.completed', [{ number }]))
  const [firstEventId] = await recordEvent(1)
  const run = startCli(t, app, key, ['listen', '--forward-to', receiver.url, '--ack'])

  await until(() => receiver.received.length === 1)
  const [secret] = await until(() => /whsec_\S+/.exec(run.errors))
  const { body, headers } = receiver.received[0]!
  const event = await verifyWebhook<any>(body, headers, secret)
  assert.equal(event.event_id, firstEventId)
  assert.equal(headers['webhook-id'], firstEventId)
  assert.deepEqual(event.data, { number: 1 })
  assert.equal(event.delivery, undefined)
  await until(async () => (await app.as(key).get('/events')).body.data.items.length === 0)
  await until(() => new RegExp(`result.completed\\s+${firstEventId}\\s+200`).test(run.output))

  receiver.respondWith(500)
  const [rejectedEventId] = await recordEvent(2)
  await until(() => run.output.includes(`${rejectedEventId}  500`))
  receiver.respondWith(200)
  await receiver.stop()
  const [thirdEventId] = await recordEvent(3)
  await until(() => run.output.includes('retrying'))
  await receiver.start()
  await until(() => receiver.received.some(({ headers }) => headers['webhook-id'] === thirdEventId))
  await until(async () => {
    const { items } = (await app.as(key).get('/events')).body.data
    return items.length === 1 && items[0].event_id === rejectedEventId // it stays unacknowledged
  })
  run.child.kill('SIGINT')
  assert.equal(await run.ended, 0)
})

test('events list shows unacknowledged events, or a message if there are none', async (t) => {
  const app = await startApp(t)
  useSystemTime(app.clock)
  const { key } = await app.fixtures.createOrg()
  const emptyList = startCli(t, app, key, ['events', 'list'])
  assert.equal(await emptyList.ended, 0)
  assert.match(emptyList.output, /No unacknowledged events/)

  const [eventId] = await app.context.db.transaction((tx) => recordEvents(tx, key, app.clock, 'mandate.ready', [{}]))
  const eventList = startCli(t, app, key, ['events', 'list', '--json'])
  assert.equal(await eventList.ended, 0)
  assert.equal(JSON.parse(eventList.output)[0].event_id, eventId)
})

test('a wrong key and an unreachable server produce an error message', async (t) => {
  const app = await startApp(t)
  useSystemTime(app.clock)
  const { key } = await app.fixtures.createOrg()
  const wrongKey = startCli(t, app, { ...key, secret: 'VFN_SK_wrong' }, ['events', 'list'])
  assert.equal(await wrongKey.ended, 1)
  assert.match(wrongKey.errors, /^attestry: .*(key|signature)/im)
  const unreachableServer = startCli(t, { ...app, url: 'http://127.0.0.1:9' }, key, ['events', 'list'])
  assert.equal(await unreachableServer.ended, 1)
  assert.match(unreachableServer.errors, /attestry: Connecting to http:\/\/127.0.0.1:9 failed: \w+/)
})
