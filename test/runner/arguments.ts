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
 * Beginnings of the paths of tests that do not run on an external PostgreSQL. They use no database, or the embedded one; or they test
 * commands, whose functions have tests of their own, or clients of the API; or they kill the server but not the database, which takes
 * minutes; or they only read and write rows, in the same way on every server. The tests that remain use roles, locks, notifications,
 * partitions, backups or lost connections.
 */
const PATHS_WITHOUT_EXTERNAL_DATABASE = [
  'bench/',
  'cli/',
  'scripts/',
  'sdk/',
  'server/access/client-address',
  'server/access/limits/',
  'server/access/partner-guards',
  'server/access/rate-limits',
  'server/access/signature',
  'server/analytics/',
  'server/ats/',
  'server/backup/encryption',
  'server/banner',
  'server/branding/',
  'server/campaigns/consent',
  'server/campaigns/contact/simulator',
  'server/campaigns/earlier-conversations',
  'server/campaigns/phone-number',
  'server/campaigns/test-scripts',
  'server/catalogue/',
  'server/channels/',
  'server/config.test',
  'server/console/ats/',
  'server/console/auth/',
  'server/console/candidates/',
  'server/console/channels/',
  'server/console/identity-providers/',
  'server/console/lists/',
  'server/console/operator/',
  'server/console/organisation/',
  'server/console/phone/',
  'server/console/questions/',
  'server/console/response-encoding',
  'server/console/scim/',
  'server/console/search/',
  'server/console/second-factors/',
  'server/conversation/',
  'server/credentials/',
  'server/docs/',
  'server/embeds/',
  'server/handlers.test',
  'server/items/',
  'server/mail/reports',
  'server/mail/test-mode',
  'server/mail/unsubscribe',
  'server/mandates/fields',
  'server/mandates/languages',
  'server/mandates/skill-requests',
  'server/measurement/',
  'server/offboarding/',
  'server/openapi/',
  'server/people/scan',
  'server/places/',
  'server/platform/bounded-map',
  'server/platform/clock',
  'server/platform/coalesce',
  'server/platform/deadline',
  'server/platform/drawing/',
  'server/platform/hmac',
  'server/platform/http/',
  'server/platform/idle-gc',
  'server/platform/ids.test',
  'server/platform/india-time',
  'server/platform/log.test',
  'server/platform/metrics',
  'server/platform/postgres/',
  'server/platform/text/',
  'server/platform/xml',
  'server/platform/zip',
  'server/privacy/',
  'server/questions/',
  'server/reports/',
  'server/review-messages/',
  'server/verification/',
  'server/web-assets/',
  'server/webhooks/delivery/schedule',
  'server/webhooks/delivery/signature',
  'server/webhooks/delivery/tls',
  'server/webhooks/target-rules',
  'server/workflows/',
  'test/browser/',
  'test/client-generators/',
  'test/contract/',
  'test/deploy/',
  'test/e2e/',
  'test/examples/',
  'test/faults/assessments',
  'test/faults/ats',
  'test/faults/backup-interruptions',
  'test/faults/campaigns',
  'test/faults/credentials',
  'test/faults/erasures',
  'test/faults/idempotency',
  'test/faults/mandates',
  'test/faults/postgres',
  'test/faults/skill-questions',
  'test/faults/test-clocks',
  'test/faults/webhooks',
  'test/release/',
  'test/runner/',
  'test/sdks/',
  'test/upgrade/interruptions', // locks system tables, which only a superuser may do
  'web/',
]

/**
 * Parts of the paths of the tests that run through a pooler in transaction mode: the three APIs, row-level security, the order of events,
 * jobs, and the contacts of a campaign. The others use the same connections in the same way.
 */
const POOLED_PATHS = [
  'server/campaigns/contact/contact.test',
  'server/catalogue/routes.test',
  'server/events/ledger.test',
  'server/mandates/preparation.test',
  'server/platform/database/tenant-scope.test',
  'server/verification/sessions.test',
  'test/contract/error-examples/partner.test',
]

/** Parts of the paths of the tests whose statements are checked: together they call most routes and run most jobs. */
const STATEMENT_PATHS = [
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

/**
 * Selects the test files to run. On an external PostgreSQL, browser tests and tests that do not use it run only if `paths` selects
 * them.
 */
export function selectFiles(
  files: string[],
  { external, pooled, statements, paths }: TestArguments,
  needsBrowser: (file: string) => boolean,
): string[] {
  const usesExternalDatabase = (file: string) =>
    !needsBrowser(file) && !PATHS_WITHOUT_EXTERNAL_DATABASE.some((path) => file.startsWith(path))
  const defaultPaths = pooled ? POOLED_PATHS : statements ? STATEMENT_PATHS : []
  const parts = paths.length === 0 ? defaultPaths : paths
  return files
    .filter((file) =>
      parts.length === 0 ? !external || usesExternalDatabase(file) : parts.some((part) => file.includes(part)),
    )
    .sort()
}

/** Whether this is a continuous integration run, in which missing tools and more than a few flaky tests are failures. */
export function isCi({ CI }: NodeJS.ProcessEnv): boolean {
  return CI !== undefined && !['', '0', 'false'].includes(CI)
}
