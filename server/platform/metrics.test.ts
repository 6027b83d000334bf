import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics, observeQueues, type QueueDepth } from './metrics.ts'

test('figures are told also while the database does not answer', async () => {
  const metrics = createMetrics()
  let depths: () => Promise<QueueDepth[]> = async () => [
    { queue: 'mail', waiting: 3, active: 0, failed: 0, oldestSeconds: 7 },
  ]
  observeQueues(metrics, () => depths(), 10)
  metrics.requests.observe('GET', '/healthz', 200, 0.001)
  const told = await metrics.registry.metrics()
  assert.match(told, /attestry_queue_jobs\{queue="mail",state="waiting"\} 3/)
  assert.match(told, /attestry_queue_oldest_seconds\{queue="mail"\} 7/)
  for (const broken of [() => new Promise<never>(() => {}), async () => Promise.reject(new Error('gone'))]) {
    depths = broken
    const rest = await metrics.registry.metrics()
    assert.match(rest, /attestry_http_request_duration_seconds_count\{.*\} 1/)
    assert.doesNotMatch(rest, /queue="mail"/)
  }
})
