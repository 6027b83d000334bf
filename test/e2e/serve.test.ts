import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AttestryClient } from '../../sdk/index.ts'
import { createDeployment, isAlive } from '../support/server.ts'
import { until } from '../support/until.ts'

test('the first start creates working demo keys, stores them in private files, and prints an example call that works', async (t) => {
  const { serve, cli, dataDir } = await createDeployment(t, { embedded: true })
  const server = await serve({ env: { CATALOGUE_INDEX_ON_DEMAND: 'false' } })
  const output = server.output()
  const keyId = /VFN_TEST_[A-Z0-9]+/.exec(output)![0]
  const secret = /VFN_SK_[\w-]+/.exec(output)![0]
  assert.match(output, /VSK_TEST_[\w-]{43}/)
  assert.match(output, /npx attestry request GET \/shifts/)
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
  const restarted = await serve()
  assert.ok(
    restarted.output().includes(keyId) && !restarted.output().includes(secret),
    'the secret is not printed again',
  )
  assert.equal(await restarted.stop(), 0)
})

test('invalid environment variables fail the start; one line is printed for each', async (t) => {
  const { serve } = await createDeployment(t, { embedded: true })
  await assert.rejects(serve({ env: { PORT: 'eighty', ROLES: 'cook' } }), (error: Error) => {
    assert.match(error.message, /exited with 1/)
    assert.match(error.message, /attestry: PORT="eighty" is not valid/)
    assert.match(error.message, /attestry: ROLES="cook" is not valid/)
    assert.ok(!/at .*\.ts:\d+/.test(error.message), 'no stack')
    return true
  })
})

test('a port that is in use fails the start with one line, and no process is left running', async (t) => {
  const { serve } = await createDeployment(t, { embedded: true })
  const runningServer = await serve()
  const otherDeployment = await createDeployment(t, { embedded: true })
  await assert.rejects(
    otherDeployment.serve({ env: { PORT: new URL(runningServer.url).port } }),
    /another process already listens on 127\.0\.0\.1:\d+/,
  )
  await assert.rejects(
    readdir(join(otherDeployment.dataDir, 'postgres')),
    { code: 'ENOENT' },
    'no database was created',
  )
})

test('a start that fails after it started the database stops the database', async (t) => {
  const { serve, dataDir } = await createDeployment(t, { embedded: true })
  const missingFile = join(dataDir, 'missing.txt')
  await assert.rejects(
    serve({ env: { DISPOSABLE_DOMAINS_FILE: missingFile } }),
    /attestry: DISPOSABLE_DOMAINS_FILE: cannot read .*missing\.txt/,
  )
  const files = await readdir(join(dataDir, 'postgres'), { recursive: true })
  assert.ok(files.includes('data/PG_VERSION'), 'the database was created')
  assert.ok(!files.includes('data/postmaster.pid'), 'the database was stopped')
})

test('a data folder that cannot be created fails the start and the commands with one line', async (t) => {
  const { serve, cli, dataDir, env } = await createDeployment(t, { embedded: true })
  const file = join(dataDir, 'file')
  await writeFile(file, '')
  for (const [path, reason] of [
    [file, 'it is a file'],
    [join(file, 'data'), 'a part of the path is a file'],
  ] as const) {
    const line = `attestry: DATA_DIR=${path} cannot be used: ${reason}; set DATA_DIR to a folder`
    await assert.rejects(serve({ env: { DATA_DIR: path } }), (error: Error) => error.message.includes(line))
    env.DATA_DIR = path
    assert.ok((await cli('migrate')).stderr.includes(line))
  }
})

test('a second server on the same DATA_DIR fails, while CLI commands work during the run of the first', async (t) => {
  const { serve, json } = await createDeployment(t, { embedded: true })
  const firstServer = await serve()
  await assert.rejects(serve(), new RegExp(String(firstServer.child.pid)))
  assert.equal((await json('org', 'list')).length, 1)
  assert.equal((await fetch(`${firstServer.url}/readyz`)).status, 200)
})

test('on SIGTERM the server completes open requests, rejects new connections, and leaves no process behind', async (t) => {
  const { serve } = await createDeployment(t, { embedded: true })
  const server = await serve()
  const postmasterPid = await server.postmaster()
  const openRequest = await startRequest(server.url)
  const serverStopped = server.stop('SIGTERM')
  await until(() => isRejected(tryToConnect(server.url)))
  const status = await openRequest.finish()
  assert.equal(status, 404)
  assert.equal(await serverStopped, 0)
  assert.equal(isAlive(postmasterPid), false)
})

/** Sends the headers and half of the body after the server has accepted the headers; `finish` sends the rest and returns the status. */
async function startRequest(url: string) {
  const clientRequest = request(`${url}/api/v1/partner/samples`, {
    method: 'POST',
    headers: { 'content-length': 4, 'content-type': 'application/json', expect: '100-continue' },
  })
  clientRequest.flushHeaders()
  const responded = once(clientRequest, 'response') as Promise<[{ statusCode: number; resume(): void }]>
  await once(clientRequest, 'continue') // the server has received the headers
  clientRequest.write('{}')
  return {
    async finish() {
      clientRequest.end('  ')
      const [response] = await responded
      response.resume()
      return response.statusCode
    },
  }
}

function tryToConnect(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      socket.destroy()
      resolve()
    })
    socket.on('error', reject)
  })
}

function isRejected(promise: Promise<unknown>): Promise<boolean> {
  return promise.then(
    () => false,
    () => true,
  )
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`npm start leaves no process behind after ${signal}`, async (t) => {
    const { serve } = await createDeployment(t, { embedded: true })
    const server = await serve({ command: ['npm', 'start'], group: true })
    const postmasterPid = await server.postmaster()
    assert.equal((await fetch(`${server.url}/readyz`)).status, 200)
    const exited = once(server.child, 'exit')
    // Ctrl-C in a terminal reaches the whole process group; a supervisor signals only npm.
    if (signal === 'SIGINT') process.kill(-server.child.pid!, signal)
    else server.child.kill(signal)
    await exited
    await until(() => !isAlive(postmasterPid))
    await assert.rejects(fetch(`${server.url}/healthz`))
    assert.doesNotMatch(server.output(), /"stack"|\n\s+at /, 'stopping prints no stack trace')
  })
}

test('when the launcher is killed, the server and the database stop', async (t) => {
  const { serve } = await createDeployment(t, { embedded: true })
  const server = await serve({ command: ['node', 'scripts/launch.mjs', 'start'] })
  const postmasterPid = await server.postmaster()
  server.child.kill('SIGKILL')
  await until(() => !isAlive(postmasterPid))
})

test('when the database crashes under load, the server reports it and recovers without a restart', async (t) => {
  const { serve } = await createDeployment(t, { embedded: true })
  const server = await serve()
  const statuses = new Set<number>()
  for (let round = 0; round < 3; round++) {
    let sending = true
    const clients = Array.from({ length: 25 }, async () => {
      while (sending) statuses.add((await fetch(`${server.url}/readyz`)).status)
    })
    await pause(200)
    process.kill(await server.postmaster(), 'SIGKILL')
    await pause(500)
    await until(async () => (await fetch(`${server.url}/readyz`)).status === 200)
    sending = false
    await Promise.all(clients)
    assert.equal(server.child.exitCode, null, server.output())
  }
  assert.ok(statuses.has(503), 'the outage was reported')
  assert.equal((await fetch(`${server.url}/healthz`)).status, 200)
})

test('api and worker can run separately on an external database, and two api processes without Redis log a warning', async (t) => {
  const { serve, json } = await createDeployment(t)
  const [api, worker, second] = [
    await serve({ env: { ROLES: 'api' } }),
    await serve({ env: { ROLES: 'worker' } }),
    await serve({ env: { ROLES: 'api' } }),
  ]
  for (const { url } of [api, worker, second]) assert.equal((await fetch(`${url}/readyz`)).status, 200)
  await until(() => /several api processes run without REDIS_URL/.test(second.output()))
  assert.match(
    await (await fetch(`${second.url}/metrics`)).text(),
    /attestry_alarms_total\{alarm="limits_not_shared"\} [1-9]/,
  )
  const findings = await json<{ check: string; state: string }[]>('doctor')
  assert.equal(findings.find(({ check }) => check === 'rate limits')?.state, 'warning')
})
