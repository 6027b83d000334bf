import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { startApp } from '../../../test/support/app.ts'
import { createMetrics } from '../metrics.ts'
import { startMetricsServer } from './metrics-access.ts'

test('without a token, metrics are served to direct callers on this machine only', async (t) => {
  const app = await startApp(t)
  assert.equal((await app.fetch('/metrics')).status, 200)
  for (const header of ['x-forwarded-for', 'forwarded'])
    assert.equal((await app.fetch('/metrics', { headers: { [header]: '198.51.100.7' } })).status, 403, header)
})

test('with a token, metrics require it', async (t) => {
  const token = 'token-for-metrics-0001'
  const app = await startApp(t, { config: { metrics: { port: undefined, token } } })
  const statusWith = async (headers: Record<string, string>) => (await app.fetch('/metrics', { headers })).status
  assert.equal(await statusWith({}), 403)
  assert.equal(await statusWith({ authorization: 'Bearer token-for-metrics-0002' }), 403)
  assert.equal(await statusWith({ authorization: `Bearer ${token}`, 'x-forwarded-for': '198.51.100.7' }), 200)
})

test('if HTTPS is required, the token is accepted over HTTPS and from this machine only', async (t) => {
  const token = 'token-for-metrics-0001'
  const app = await startApp(t, {
    config: { metrics: { port: undefined, token }, requireHttps: true, trustProxy: ['127.0.0.1'] },
  })
  const responseTo = (headers: Record<string, string>) =>
    app.fetch('/metrics', { headers: { authorization: `Bearer ${token}`, ...headers } })
  assert.equal((await responseTo({})).status, 200)
  const fromElsewhere = { 'x-forwarded-for': '198.51.100.7' }
  assert.equal((await responseTo({ ...fromElsewhere, 'x-forwarded-proto': 'https' })).status, 200)
  for (const headers of [fromElsewhere, { ...fromElsewhere, 'x-forwarded-proto': 'http' }]) {
    const { status, body } = await responseTo(headers)
    assert.equal(status, 403)
    assert.match(JSON.stringify(body), /requires HTTPS for metrics/)
  }
})

test('with a port, metrics are served on that port only', async (t) => {
  const app = await startApp(t, { config: { metrics: { port: 9464, token: undefined } } })
  assert.equal((await app.fetch('/metrics')).status, 404)
  const { registry } = createMetrics()
  const server = await startMetricsServer(registry, '127.0.0.1', 0)
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const response = await fetch(`${url}/metrics`)
  assert.equal(response.status, 200)
  assert.match(await response.text(), /attestry_alarms_total/)
  assert.equal((await fetch(`${url}/console`)).status, 404)
})

test('metrics are rendered at most once per second', async (t) => {
  const app = await startApp(t)
  const first = await app.fetch('/metrics')
  app.context.metrics.alarms.inc({ alarm: 'test' })
  assert.equal((await app.fetch('/metrics')).body, first.body)
})
