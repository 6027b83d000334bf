import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { RequestTimes } from './request-times.ts'

test('times of requests are told as a histogram, apart by route, status and method', async () => {
  const registry = new Registry()
  const times = new RequestTimes(registry)
  for (const seconds of [0.0005, 0.001, 0.02, 0.2, 45]) times.observe('GET', '/a', 200, seconds)
  times.observe('GET', '/a', 404, 0.1)
  times.observe('POST', '/a', 200, 0.1)
  const lines = (await registry.metrics()).split('\n')
  const name = 'attestry_http_request_duration_seconds'
  const labels = 'method="GET",route="/a",status="200"'
  assert.ok(lines.includes(`# TYPE ${name} histogram`))
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
