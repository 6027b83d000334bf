import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { until } from '../../../test/support/until.ts'
import { startWebhookApp } from '../../../test/support/webhooks.ts'
import { createWebhook } from '../webhooks.ts'

const skip = spawnSync('openssl', ['version']).status !== 0 && 'openssl is not installed'

test('LIVE events are sent over TLS, only to a host that matches its certificate', {
  skip,
}, async (t) => {
  const { key: privateKey, cert } = createCertificate('hooks.test')
  const requestedServerNames: unknown[] = []
  const server = createServer({ key: privateKey, cert }, (request, response) => {
    requestedServerNames.push((request.socket as TLSSocket & { servername: unknown }).servername)
    request.resume()
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { context, createKey, recordEvents, listDeliveries, startDelivery } = await startWebhookApp(t)
  startDelivery({
    config: { ...context.config, webhookAllow: ['127.0.0.0/8'] },
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ca: cert,
  })
  const key = await createKey('live')
  const { port } = server.address() as AddressInfo
  const createWebhookFor = async (host: string) => {
    const url = `https://${host}:${port}/`
    const { webhook } = await context.db.transaction((tx) => createWebhook(tx, key, context, { url }))
    return webhook.webhook_id
  }
  const [matchingId, mismatchedId] = [await createWebhookFor('hooks.test'), await createWebhookFor('other.test')]
  await recordEvents(key, { n: 1 })
  for (const id of [matchingId, mismatchedId])
    await until(async () => (await listDeliveries(key, id))[0].attempts.length === 1)
  assert.equal((await listDeliveries(key, matchingId))[0].status, 'delivered')
  assert.equal(
    (await listDeliveries(key, mismatchedId))[0].attempts[0].error,
    'TLS failed: ERR_TLS_CERT_ALTNAME_INVALID',
  )
  assert.deepEqual(requestedServerNames, ['hooks.test'])
})

function createCertificate(host: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-tls-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const nameArguments = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`]
    const keyArguments = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const { status, stderr } = spawnSync('openssl', [
      'req',
      '-x509',
      ...keyArguments,
      '-keyout',
      key,
      '-out',
      cert,
      ...nameArguments,
    ])
    assert.equal(status, 0, String(stderr))
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
