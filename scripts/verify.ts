import { spawnSync } from 'node:child_process'

// Runs the full verification of CI and stops at the first failure.
//   npm run verify                               runs all steps
//   npm run verify -- --without-embedded-tests   skips the tests that .ci/run has already run with npm test

const steps: [name: string, args: string[], env?: Record<string, string>][] = [
  ['checks without a database', ['scripts/check.ts']],
  ['known vulnerabilities of packages', ['scripts/scan-dependencies.ts']],
  ['types of the tables, compared with a migrated database', ['scripts/tables.ts', '--check', '--database']],
  ['tests on the embedded PostgreSQL', ['scripts/test.ts']],
  ['tests on an external PostgreSQL', ['scripts/test.ts', '--external']],
  ['tests through PgBouncer in transaction mode', ['scripts/test.ts', '--pooled']],
  [
    'SDKs in the languages and runtimes that are too slow for npm test',
    ['scripts/test.ts', 'test/sdks'],
    { TEST_SLOW_SDKS: '1' },
  ],
  ['benchmarks, short form', ['bench/run.ts', '--short']],
]

const skippedSteps = process.argv.includes('--without-embedded-tests') ? ['tests on the embedded PostgreSQL'] : []

for (const [name, args, env] of steps.filter(([name]) => !skippedSteps.includes(name))) {
  const startedAt = performance.now()
  console.log(`\n=== ${name}`)
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) {
    console.error(`\n=== ${name}: failed`)
    process.exit(status ?? 1)
  }
  console.log(`=== ${name}: passed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
}
