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
  const { key: secret, cert } = createCertificate('hooks.test')
  const served: unknown[] = []
  const server = createServer({ key: secret, cert }, (request, response) => {
    served.push((request.socket as TLSSocket & { servername: unknown }).servername)
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
  const create = async (host: string) => {
    const url = `https://${host}:${port}/`
    const { webhook } = await context.db.transaction((tx) => createWebhook(tx, key, context, { url }))
    return webhook.webhook_id
  }
  const [named, other] = [await create('hooks.test'), await create('other.test')]
  await recordEvents(key, { n: 1 })
  for (const id of [named, other]) await until(async () => (await listDeliveries(key, id))[0].attempts.length === 1)
  assert.equal((await listDeliveries(key, named))[0].status, 'delivered')
  assert.equal((await listDeliveries(key, other))[0].attempts[0].error, 'TLS failed: ERR_TLS_CERT_ALTNAME_INVALID')
  assert.deepEqual(served, ['hooks.test'])
})

function createCertificate(host: string): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-tls-'))
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const { status, stderr } = spawnSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', cert, ...names])
    assert.equal(status, 0, String(stderr))
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
