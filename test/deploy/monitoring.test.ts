import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createDeployment } from '../support/server.ts'

const folder = fileURLToPath(new URL('../../deploy/monitoring', import.meta.url))
const RULES_FILE = join(folder, 'alert-rules.yaml')
/** Names of series that Prometheus derives from a histogram. */
const HISTOGRAM_SUFFIX = /_(bucket|sum|count)$/

/** Returns the names of the metrics in the expressions of the dashboard and the alert rules. */
function namedMetrics(): Set<string> {
  const dashboard = JSON.parse(readFileSync(join(folder, 'grafana-dashboard.json'), 'utf8'))
  const expressions: string[] = [
    ...dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ...dashboard.templating.list.map(({ query }: { query: { query?: string } }) => query.query ?? ''),
    ...[...readFileSync(RULES_FILE, 'utf8').matchAll(/^ +expr: (?:\|\n((?: {10}.*\n)+)|(.*)\n)/gm)].map(
      ([, block, line]) => block ?? line!,
    ),
  ]
  const names = expressions.flatMap((text) => text.match(/\b(attestry|nodejs|process)_\w+/g) ?? [])
  return new Set(names.map((name) => name.replace(HISTOGRAM_SUFFIX, '')))
}

test('every metric of the dashboard and the alert rules is exported', async (t) => {
  const deployment = await createDeployment(t, { embedded: true })
  const server = await deployment.serve({ env: { REDIS_URL: 'redis://127.0.0.1:1' } })
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const exported = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!))
  const names = [...namedMetrics()]
  assert.ok(names.length >= 15, names.join())
  assert.deepEqual(
    names.filter((name) => !exported.has(name)),
    [],
  )
})

test('the guide explains every alert', () => {
  const guide = readFileSync(fileURLToPath(new URL('../../docs/guides/observe.md', import.meta.url)), 'utf8')
  const alerts = [...readFileSync(RULES_FILE, 'utf8').matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name!)
  assert.ok(alerts.length > 10)
  for (const alert of alerts) assert.ok(guide.includes(`\`${alert}\``), alert)
})

test('Prometheus accepts the alert rules', {
  skip: spawnSync('promtool', ['--version']).error ? 'needs promtool' : false,
}, () => {
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', RULES_FILE], { encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
})
