import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { renderReport } from './report.ts'
import { REPORT_FILE, readResults } from './save.ts'

test('the page about performance shows the saved results', async () => {
  assert.equal(await readFile(REPORT_FILE, 'utf8'), renderReport(await readResults()))
})

test('the summary shows the figures of operations with their targets', () => {
  const text = renderReport({
    http: {
      date: '2026-11-18',
      machine: '2 cores',
      loadBefore: 0.1,
      loadAfter: 1.9,
      rows: [
        { name: 'requests', value: 12_345.6, unit: 'requests/s' },
        {
          name: 'compared with Fastify',
          value: 61.23,
          unit: '%',
          note: 'target: at least 70 %',
          operation: 'GET request',
        },
        { name: 'pgbench', value: Number.NaN, unit: '', note: 'skipped: missing', skipped: 'missing' },
      ],
    },
  })
  assert.match(text, /\| GET request \| compared with Fastify \| 61\.2 % \| at least 70 % \|\n\n## http\n/)
  assert.match(text, /2026-11-18, 2 cores, load 0\.1 to 1\.9/)
  assert.match(text, /\| requests \| 12,346 requests\/s \| {2}\|/)
  assert.match(text, /\| pgbench \| – \| skipped: missing \|/)
})

test('--help and unknown options or names run no benchmark', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [fileURLToPath(new URL('../run.ts', import.meta.url)), ...args], { encoding: 'utf8' })
  const help = run('--help')
  assert.deepEqual([help.status, help.stderr], [0, ''])
  assert.match(
    help.stdout,
    /^Usage: npm run bench -- \[options\] \[benchmarks\]\n.*--report.*start-up, http,.*failover/s,
  )
  for (const [argument, message] of [
    ['--shrot', 'unknown option --shrot; choose from --short, --json, --report, --help\n'],
    ['-h', 'unknown option -h; choose from --short, --json, --report, --help\n'],
  ] as const) {
    const { status, stdout, stderr } = run('http', argument)
    assert.deepEqual([status, stdout, stderr], [1, '', message])
  }
  const unknownName = run('https')
  assert.equal(unknownName.status, 1)
  assert.match(unknownName.stderr, /^unknown benchmark https; choose from start-up, http,/)
})
