/** A step of the full verification: a script with its arguments and environment. */
interface VerificationStep {
  name: string
  args: string[]
  env?: Record<string, string>
}

export const EMBEDDED_TESTS = 'tests on the embedded PostgreSQL'

/** Steps of `npm run verify`. The workflows in .github run the same steps, as parallel jobs. */
export const verificationSteps: VerificationStep[] = [
  { name: 'checks without a database', args: ['scripts/check.ts'] },
  { name: 'known vulnerabilities of packages', args: ['scripts/scan-dependencies.ts'] },
  {
    name: 'types of the tables, compared with a migrated database',
    args: ['scripts/tables.ts', '--check', '--database'],
  },
  { name: EMBEDDED_TESTS, args: ['scripts/test.ts'] },
  { name: 'tests on an external PostgreSQL', args: ['scripts/test.ts', '--external'] },
  { name: 'tests through PgBouncer in transaction mode', args: ['scripts/test.ts', '--pooled'] },
  { name: 'statements, compared with what Citus can run', args: ['scripts/test.ts', '--statements'] },
  {
    name: 'SDKs in the languages and runtimes that are too slow for npm test',
    args: ['scripts/test.ts', 'test/sdks'],
    env: { TEST_SLOW_SDKS: '1' },
  },
  { name: 'benchmarks, short form', args: ['bench/run.ts', '--short'] },
]
