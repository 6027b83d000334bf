/** Options of node's test runner that take their value as the next argument when it is not joined with `=`. */
const OPTIONS_WITH_VALUE = ['--test-name-pattern', '--test-skip-pattern', '--test-concurrency', '--test-timeout']

export interface TestArguments {
  /** Whether the tests run on an external PostgreSQL instead of the embedded one. */
  external: boolean
  /** Whether the servers of the tests connect through PgBouncer in transaction mode. */
  pooled: boolean
  /** Whether the statements of the product are collected and compared with what Citus can run. */
  statements: boolean
  watch: boolean
  /** Parts of paths. Only test files whose path contains one of them run; if the list is empty, all run. */
  paths: string[]
  /** Options that are passed on to `node --test`. */
  nodeOptions: string[]
}

/** Parses the command line of `npm test`: our own options, parts of paths, and options for node's test runner. */
export function parseTestArguments(args: string[]): TestArguments {
  const parsed: TestArguments = {
    external: false,
    pooled: false,
    statements: false,
    watch: false,
    paths: [],
    nodeOptions: [],
  }
  for (let index = 0; index < args.length; index++) {
    const argument = args[index]!
    if (argument === '--external') parsed.external = true
    else if (argument === '--pooled') parsed.pooled = true
    else if (argument === '--statements') parsed.statements = true
    else if (!argument.startsWith('-')) parsed.paths.push(argument)
    else if (OPTIONS_WITH_VALUE.includes(argument)) parsed.nodeOptions.push(`${argument}=${args[++index] ?? ''}`)
    else parsed.nodeOptions.push(argument)
  }
  parsed.watch = parsed.nodeOptions.includes('--watch')
  return parsed
}

/**
 * Parts of the paths of the tests that run on an external PostgreSQL. They depend on its differences from the embedded one: the role that
 * owns the tables is not a superuser and serves requests too, and connections use TCP with a password. These tests migrate and upgrade
 * databases, create partitions, restrict roles, rotate keys, back up and restore, listen for notifications, lock sessions or lose
 * connections. The others read and write rows, in the same way on every server; `server/mandates/mandates.test` represents them.
 */
export const EXTERNAL_PATHS = [
  'server/backup/s3-destination.test',
  'server/backup/verification.test',
  'server/console/audit.test',
  'server/events/',
  'server/mandates/mandate-batch-insert.test',
  'server/mandates/mandates.test',
  'server/notified-work.test',
  'server/people/sequences.test',
  'server/platform/data-key-rotation.test',
  'server/platform/database/',
  'server/platform/jobs/',
  'server/platform/vault.test',
  'server/webhooks/delivery/delivery',
  'server/worker.test',
  'test/faults/clocks.test',
  'test/faults/dead-letters.test',
  'test/faults/failover.test',
  'test/faults/ledger.test',
  'test/faults/outage.test',
  'test/faults/restored-erasures.test',
  'test/upgrade/record.test',
  'test/upgrade/upgrade.test',
]

/**
 * Parts of the paths of the tests that run through a pooler in transaction mode: the three APIs, row-level security, the order of events,
 * jobs, and the contacts of a campaign. The others use the same connections in the same way.
 */
export const POOLED_PATHS = [
  'server/campaigns/contact/contact.test',
  'server/catalogue/routes.test',
  'server/events/ledger.test',
  'server/mandates/preparation.test',
  'server/platform/database/tenant-scope.test',
  'server/verification/sessions.test',
  'test/contract/error-examples/partner.test',
]

/** Parts of the paths of the tests whose statements are checked: together they call most routes and run most jobs. */
export const STATEMENT_PATHS = [
  'server/analytics/analytics.test',
  'server/ats/orders.test',
  'server/campaigns/candidate-page/routes.test',
  'server/campaigns/contact/contact.test',
  'server/console/candidates/candidate-list.test',
  'server/credentials/issue.test',
  'server/events/routes.test',
  'server/mandates/preparation.test',
  'server/people/erasure.test',
  'server/results/results.test',
  'server/verification/reviews/reviews.test',
  'server/verification/sessions.test',
  'server/webhooks/delivery/delivery.test',
  'server/workflows/workflows.test',
  'test/contract/error-examples/partner.test',
]

/** Selects the test files whose path contains one of `paths`; without paths, those that an option is for, or all. */
export function selectFiles(files: string[], { external, pooled, statements, paths }: TestArguments): string[] {
  const defaultPaths = pooled ? POOLED_PATHS : external ? EXTERNAL_PATHS : statements ? STATEMENT_PATHS : []
  const parts = paths.length > 0 ? paths : defaultPaths
  return files.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part))).sort()
}

/** Whether this is a continuous integration run, in which missing tools and more than a few flaky tests are failures. */
export function isCi({ CI }: NodeJS.ProcessEnv): boolean {
  return CI !== undefined && !['', '0', 'false'].includes(CI)
}
