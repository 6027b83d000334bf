import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AttestryClient } from '../../sdk/index.ts'
import { deploy, isAlive } from '../support/server.ts'

test('the first start makes demo keys that work, keeps them private, and prints a call that works', async (t) => {
  const { serve, cli, dataDir } = await deploy(t, { embedded: true })
  const server = await serve()
  const shown = server.output()
  const keyId = /VFN_TEST_[A-Z0-9]+/.exec(shown)![0]
  const secret = /VFN_SK_[\w-]+/.exec(shown)![0]
  assert.match(shown, /VSK_TEST_[\w-]{43}/)
  assert.match(shown, /npx attestry request GET \/shifts/)
  const { status } = await new AttestryClient({ baseUrl: server.url, keyId, secret }).request('GET', '/shifts')
  assert.equal(status, 200)

  assert.equal((await stat(dataDir)).mode & 0o777, 0o700)
  for (const name of await readdir(dataDir)) {
    const path = join(dataDir, name)
    if ((await stat(path)).isFile()) assert.equal((await stat(path)).mode & 0o077, 0, name)
  }
  const { code, stdout, stderr } = await cli('request', 'GET', '/shifts')
  assert.equal(code, 0, stderr)
  assert.equal(JSON.parse(stdout).data.items[0].value, 'day')

  await server.stop()
  const again = await serve()
  assert.ok(again.output().includes(keyId) && !again.output().includes(secret), 'a log does not collect secrets')
  assert.equal(await again.stop(), 0)
})

test('a bad environment ends the start with a line for each bad variable', async (t) => {
  const { serve } = await deploy(t, { embedded: true })
  await assert.rejects(serve({ env: { PORT: 'eighty', ROLES: 'cook' } }), (error: Error) => {
    assert.match(error.message, /ended with 1/)
    assert.match(error.message, /attestry: PORT="eighty" is not valid/)
    assert.match(error.message, /attestry: ROLES="cook" is not valid/)
    assert.ok(!/at .*\.ts:\d+/.test(error.message), 'no stack')
    return true
  })
})

test('a port that is taken is told in one line, and nothing is left running', async (t) => {
  const { serve } = await deploy(t, { embedded: true })
  const first = await serve()
  const other = await deploy(t, { embedded: true })
  await assert.rejects(
    other.serve({ env: { PORT: new URL(first.url).port } }),
    /something else listens on 127\.0\.0\.1:\d+ already/,
  )
  await assert.rejects(readFile(join(other.dataDir, 'postgres/data/postmaster.pid')))
})

test('a second server on the same DATA_DIR is refused, while commands work beside the first', async (t) => {
  const { serve, json } = await deploy(t, { embedded: true })
  const first = await serve()
  await assert.rejects(serve(), new RegExp(String(first.child.pid)))
  assert.equal((await json('org', 'list')).length, 1)
  assert.equal((await fetch(`${first.url}/readyz`)).status, 200)
})

test('SIGTERM drains: the request in flight is answered, new connections are refused, no process is left', async (t) => {
  const { serve, external } = await deploy(t)
  const server = await serve()
  const postmaster = external ? undefined : await server.postmaster()
  const slow = slowRequest(server.url)
  await pause(200)
  const stopped = server.stop('SIGTERM')
  await pause(300)
  await assert.rejects(connects(server.url))
  const status = await slow.finish()
  assert.equal(status, 404)
  assert.equal(await stopped, 0)
  if (postmaster) assert.equal(isAlive(postmaster), false)
})

/** A request whose body arrives in two parts. */
function slowRequest(url: string) {
  const sent = request(`${url}/api/v1/partner/things`, {
    method: 'POST',
    headers: { 'content-length': 4, 'content-type': 'application/json' },
  })
  sent.write('{}')
  const answered = once(sent, 'response') as Promise<[{ statusCode: number; resume(): void }]>
  return {
    async finish() {
      sent.end('  ')
      const [response] = await answered
      response.resume()
      return response.statusCode
    },
  }
}

function connects(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.destroy()
      resolve()
    })
    socket.on('error', reject)
  })
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`npm start ended by ${signal} leaves no process behind`, async (t) => {
    const { serve } = await deploy(t, { embedded: true })
    const server = await serve({ command: ['npm', 'start'], group: true })
    const postmaster = await server.postmaster()
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    const gone = once(server.child, 'exit')
    // Ctrl-C in a terminal reaches the whole group; a supervisor tells npm alone.
    if (signal === 'SIGINT') process.kill(-server.child.pid!, signal)
    else server.child.kill(signal)
    await gone
    for (let tries = 0; tries < 100 && isAlive(postmaster); tries++) await pause(100)
    assert.equal(isAlive(postmaster), false)
    await assert.rejects(fetch(`${server.url}/healthz`))
  })
}

test('a launcher that is killed takes the server and the database with it', async (t) => {
  const { serve } = await deploy(t, { embedded: true })
  const server = await serve({ command: ['node', 'scripts/launch.mjs', 'start'] })
  const postmaster = await server.postmaster()
  server.child.kill('SIGKILL')
  for (let tries = 0; tries < 150 && isAlive(postmaster); tries++) await pause(100)
  assert.equal(isAlive(postmaster), false)
})

test('the server survives the database going away under load, says so, and recovers by itself', async (t) => {
  const { serve } = await deploy(t, { embedded: true })
  const server = await serve()
  const seen = new Set<number>()
  for (let round = 0; round < 3; round++) {
    let asking = true
    const askers = Array.from({ length: 25 }, async () => {
      while (asking) seen.add((await fetch(`${server.url}/readyz`)).status)
    })
    await pause(200)
    process.kill(await server.postmaster(), 'SIGKILL')
    await pause(500)
    for (let tries = 0; (await fetch(`${server.url}/readyz`)).status !== 200; tries++) {
      assert.ok(tries < 600, 'it did not recover')
      await pause(50)
    }
    asking = false
    await Promise.all(askers)
    assert.equal(server.child.exitCode, null, server.output())
  }
  assert.ok(seen.has(503), 'the outage was told')
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
})

test('api and worker can run apart on one external database, and two apis without Redis are warned about', async (t) => {
  const { serve, external, json } = await deploy(t)
  if (!external) return t.skip('needs an external database')
  const [api, worker, second] = [
    await serve({ env: { ROLES: 'api' } }),
    await serve({ env: { ROLES: 'worker' } }),
    await serve({ env: { ROLES: 'api' } }),
  ]
  for (const { url } of [api, worker, second]) assert.equal((await fetch(`${url}/readyz`)).status, 200)
  assert.match(second.output(), /several api processes run without REDIS_URL/)
  assert.match(
    await (await fetch(`${second.url}/metrics`)).text(),
    /attestry_alarms_total\{alarm="limits_not_shared"\} [1-9]/,
  )
  const findings = await json<{ check: string; state: string }[]>('doctor')
  assert.equal(findings.find(({ check }) => check === 'rate limits')?.state, 'warning')
})
