import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, observeQueues, type QueueDepth } from './metrics.ts'

test('request durations are a histogram by method, route and status', async () => {
  const { registry, requests } = createMetrics()
  for (const seconds of [0.0005, 0.001, 0.02, 0.2, 45])
    requests.observe({ method: 'GET', route: '/a', status: 200 }, seconds)
  requests.observe({ method: 'GET', route: '/a', status: 404 }, 0.1)
  requests.observe({ method: 'POST', route: '/a', status: 200 }, 0.1)
  const lines = (await registry.metrics()).split('\n')
  const name = 'attestry_http_request_duration_seconds'
  const labels = 'method="GET",route="/a",status="200"'
  assert.ok(lines.includes(`# TYPE ${name} histogram`))
  const buckets = lines.filter((line) => line.startsWith(`${name}_bucket`) && line.includes(labels))
  assert.deepEqual(
    buckets.map((line) => /le="([^"]+)"/.exec(line)![1]),
    ['0.001', '0.0025', '0.005', '0.01', '0.025', '0.05', '0.1', '0.25', '0.5', '1', '2.5', '5', '10', '30', '+Inf'],
  )
  for (const [bound, count] of Object.entries({ '0.001': 2, '0.01': 2, '0.025': 3, '0.25': 4, '30': 4, '+Inf': 5 }))
    assert.ok(lines.includes(`${name}_bucket{le="${bound}",${labels}} ${count}`), bound)
  assert.ok(lines.includes(`${name}_count{${labels}} 5`))
  assert.ok(lines.some((line) => line.startsWith(`${name}_sum{${labels}} 45.22`)))
  for (const [status, method] of [
    [404, 'GET'],
    [200, 'POST'],
  ])
    assert.ok(lines.includes(`${name}_count{method="${method}",route="/a",status="${status}"} 1`))
})

test('metrics are available while the database does not respond', async () => {
  const metrics = createMetrics()
  let readDepths: () => Promise<QueueDepth[]> = async () => [
    { queue: 'mail', waiting: 3, active: 0, failed: 0, oldestSeconds: 7 },
  ]
  observeQueues(metrics, () => readDepths(), 10)
  metrics.requests.observe({ method: 'GET', route: '/healthz', status: 200 }, 0.001)
  const text = await metrics.registry.metrics()
  assert.match(text, /attestry_queue_jobs\{queue="mail",state="waiting"\} 3/)
  assert.match(text, /attestry_queue_oldest_seconds\{queue="mail"\} 7/)
  for (const broken of [() => new Promise<never>(() => {}), async () => Promise.reject(new Error('no connection'))]) {
    readDepths = broken
    const withoutQueues = await metrics.registry.metrics()
    assert.match(withoutQueues, /attestry_http_request_duration_seconds_count\{.*\} 1/)
    assert.doesNotMatch(withoutQueues, /queue="mail"/)
  }
})
