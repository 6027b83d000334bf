import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { createDeployment } from '../support/server.ts'
import { until } from '../support/until.ts'

const REQUEST = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'

/** Opens a connection and collects the received text. */
async function openConnection(
  url: string,
): Promise<{ socket: Socket; text: () => string; error: () => Error | undefined }> {
  let received = ''
  let failure: Error | undefined
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.on('error', (error) => {
    failure = error
  })
  await once(socket, 'connect')
  assert.ok((socket.address() as AddressInfo).port)
  return { socket, text: () => received, error: () => failure }
}

test('on SIGTERM the server is not ready, asks clients to disconnect, and still accepts requests for DRAIN_SECONDS', async (t) => {
  const { serve } = await createDeployment(t)
  const server = await serve({ env: { DRAIN_SECONDS: '300' } })
  const before = await fetch(`${server.url}/readyz`)
  assert.deepEqual([before.status, before.headers.get('connection')], [200, 'keep-alive'])
  const stopped = server.stop('SIGTERM')
  await until(async () => (await fetch(`${server.url}/readyz`)).status === 503)
  const drainingSince = performance.now()
  const response = await fetch(`${server.url}/healthz`)
  assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close'])
  await until(() => performance.now() - drainingSince > 1000)
  server.child.kill('SIGTERM') // ends the wait; earlier, it would be a duplicate of the first signal
  assert.equal(await stopped, 0)
})

test('requests that were sent when the server stops are answered, on open and on new connections', async (t) => {
  const { serve } = await createDeployment(t)
  const server = await serve({ env: { DRAIN_SECONDS: '0' } })
  const open = await openConnection(server.url)
  open.socket.write(REQUEST)
  await until(() => open.text().includes('"ok"'))
  const answeredLength = open.text().length

  // While the process stands still, the kernel accepts connections and requests for it.
  server.child.kill('SIGSTOP')
  const stopped = server.stop('SIGTERM')
  open.socket.write(REQUEST)
  const fresh = await openConnection(server.url)
  fresh.socket.write(REQUEST)
  server.child.kill('SIGCONT')
  assert.equal(await stopped, 0)
  for (const text of [open.text().slice(answeredLength), fresh.text()]) assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  assert.deepEqual([open.error(), fresh.error()], [undefined, undefined])
})
