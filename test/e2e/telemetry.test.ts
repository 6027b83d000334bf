import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { createDeployment } from '../support/server.ts'
import { until } from '../support/until.ts'

interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

/** Starts a collector that accepts OTLP over HTTP in the JSON format. */
async function startCollector(t: TestContext) {
  const spans: Span[] = []
  const metrics = new Map<string, any>()
  const received: { path: string; apiKey: string | undefined }[] = []
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as any
    received.push({ path: request.url!, apiKey: request.headers['api-key'] as string | undefined })
    for (const { scopeSpans } of body.resourceSpans ?? []) for (const scope of scopeSpans) spans.push(...scope.spans)
    for (const { scopeMetrics } of body.resourceMetrics ?? [])
      for (const scope of scopeMetrics) for (const metric of scope.metrics) metrics.set(metric.name, metric)
    response.setHeader('content-type', 'application/json').end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, metrics, received }
}

const attributeOf = ({ attributes }: Span, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value
  return value?.stringValue ?? value?.intValue
}

test('requests, their queries and all metrics are exported by OTLP, and log lines have the trace ID', async (t) => {
  const collector = await startCollector(t)
  const deployment = await createDeployment(t, { embedded: true })
  const server = await deployment.serve({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20secret',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
      LOG_LEVEL: 'info',
    },
  })
  const callerTrace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const response = await fetch(`${server.url}/console/api/sign-in-unknown`, {
    headers: { traceparent: `00-${callerTrace}-00f067aa0ba902b7-01`, 'x-request-id': 'from-the-caller' },
  })
  assert.equal(response.headers.get('x-request-id'), 'from-the-caller')
  await fetch(`${server.url}/healthz`)
  const { code, stderr } = await deployment.cli('request', 'GET', '/workflows')
  assert.equal(code, 0, stderr)

  const traced = await until(() =>
    collector.spans.find((span) => attributeOf(span, 'attestry.request_id') === 'from-the-caller'),
  )
  assert.equal(traced.traceId, callerTrace, "continues the caller's trace")
  assert.equal(traced.parentSpanId, '00f067aa0ba902b7')
  const line = server
    .output()
    .split('\n')
    .find((text) => text.includes('"request_id":"from-the-caller"'))
  assert.equal(JSON.parse(line!).trace_id, callerTrace)

  const query = await until(() => collector.spans.find((span) => attributeOf(span, 'db.system.name') === 'postgresql'))
  const parent = await until(() => collector.spans.find(({ spanId }) => spanId === query.parentSpanId))
  assert.equal(query.traceId, parent.traceId)
  assert.ok(collector.spans.some(({ name }) => name === 'GET /api/v1/partner/workflows'))
  assert.doesNotMatch(JSON.stringify(collector.spans.map(({ name }) => name)), /healthz/)

  const histogram = await until(() => collector.metrics.get('attestry_http_request_duration_seconds'))
  const point = histogram.histogram.dataPoints.find((each: any) => Number(each.count) > 0)
  const total = point.bucketCounts.reduce((sum: number, count: string | number) => sum + Number(count), 0)
  assert.equal(total, Number(point.count), 'the buckets add up')
  assert.equal(point.bucketCounts.length, point.explicitBounds.length + 1)
  assert.ok(collector.metrics.get('attestry_backlog_oldest_seconds').gauge)
  assert.ok(collector.received.every(({ apiKey }) => apiKey === 'a secret'))
  assert.equal(await server.stop(), 0, server.output())
})

test('a collector that is down delays neither requests nor the shutdown', async (t) => {
  const deployment = await createDeployment(t)
  const server = await deployment.serve({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_METRIC_EXPORT_INTERVAL: '1000', LOG_LEVEL: 'warn' },
  })
  assert.equal((await fetch(`${server.url}/`)).status, 200)
  await until(() => server.output().includes('exporting traces or metrics failed; check the collector'))
  assert.equal(await server.stop(), 0, server.output())
})

test('without an endpoint, log lines have no trace ID', async (t) => {
  const deployment = await createDeployment(t)
  const server = await deployment.serve({ env: { LOG_LEVEL: 'info' } })
  await fetch(`${server.url}/`, { headers: { 'x-request-id': 'plain' } })
  const line = await until(() =>
    server
      .output()
      .split('\n')
      .find((text) => text.includes('"request_id":"plain"')),
  )
  assert.equal('trace_id' in JSON.parse(line), false)
})
