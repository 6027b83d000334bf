import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nodeVersions } from '../support/node-versions.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const pages = globSync('{*.md,cli/*.md,sdk/*.md,sdks/*/*.md,docs/*.md,docs/{guides,reference}/*.md,examples/**/*.md}', {
  cwd: root,
}).sort()

/** Pages with code, and the test that runs code of the page. */
const testsByPage: Record<string, string> = {
  'docs/guides/find-skills.md': 'test/contract/guides.test.ts',
  'docs/guides/from-a-job-to-questions.md': 'test/contract/guides.test.ts',
  'docs/guides/receive-results.md': 'test/contract/receive-results.test.ts',
  'docs/guides/run-a-campaign.md': 'test/contract/guides.test.ts',
  'docs/guides/script-test-people.md': 'test/contract/guides.test.ts',
  'docs/guides/sign-your-first-request.md': 'test/contract/examples.test.ts',
  'docs/guides/test-with-a-clock.md': 'test/contract/guides.test.ts',
  'docs/guides/use-an-sdk.md': 'test/sdks/sdks.test.ts',
  'docs/guides/verify-a-students-skills.md': 'test/contract/verification-guide.test.ts',
  'sdk/README.md': 'sdk/package.test.ts',
}

/**
 * Pages whose code no test runs, with the number of blocks and the reason. The syntax of their shell, JavaScript and Python code is
 * checked below, and `guide-commands.test.ts` checks that the commands and options of `attestry` exist. Do not add a page if its code can run.
 */
const pagesWithoutRun: Record<string, [blocks: number, reason: string]> = {
  'CONTRIBUTING.md': [2, 'runs the tests themselves'],
  'README.md': [4, 'starts a server and the tests; test/e2e/ starts servers in the same way'],
  'cli/README.md': [1, 'installs a package for all users; cli/partner-cli.test.ts installs it into a folder'],
  'docs/guides/connect-ashby.md': [2, 'needs an account of the ATS; server/ats/ tests the protocol'],
  'docs/guides/connect-greenhouse.md': [3, 'needs an account of the ATS; server/ats/ tests the protocol'],
  'docs/guides/connect-workable.md': [2, 'needs an account of the ATS; server/ats/ tests the protocol'],
  'docs/guides/back-up-and-restore.md': [
    5,
    'needs a place for backups; test/faults/backup-interruptions.test.ts runs the commands',
  ],
  'docs/guides/email.md': [3, 'needs a mail server'],
  'docs/guides/observe.md': [1, 'needs a collector; test/e2e/telemetry.test.ts uses one'],
  'docs/guides/peoples-rights.md': [3, 'needs people of an organisation; cli/commands/ tests the commands'],
  'docs/guides/question-statistics.md': [3, 'needs questions that people have answered'],
  'docs/guides/run-in-production.md': [11, 'needs an external database, a proxy and several machines'],
  'docs/guides/run-on-kubernetes.md': [2, 'needs a cluster; test/deploy/ renders the chart'],
  'docs/guides/run-with-compose.md': [5, 'needs Docker and a domain; test/release/ starts a release'],
  'docs/guides/run-with-systemd.md': [1, 'needs systemd and root; test/deploy/ checks the unit'],
  'docs/guides/set-up-channels.md': [1, 'needs an account of a provider'],
  'docs/guides/share-and-check-credentials.md': [6, 'needs credentials that a person agreed to'],
  'docs/guides/upgrade.md': [
    1,
    'needs a database of an earlier version; cli/commands/upgrade.test.ts runs the command',
  ],
  'docs/guides/sign-in-with-your-identity-provider.md': [
    1,
    'needs an identity provider; cli/commands/ tests the commands, server/console/identity-providers/ the sign-in',
  ],
  'docs/guides/the-console.md': [3, 'changes operators and members; cli/commands/ tests the commands'],
  'docs/guides/use-the-command-line.md': [
    7,
    'installs a package for all users; cli/partner-cli.test.ts runs the commands',
  ],
  'docs/guides/use-your-own-questions.md': [3, 'needs a file of questions; server/items/ tests the import'],
  'docs/reference/analytics.md': [2, 'shows single calls'],
  'docs/reference/catalogue-quality.md': [4, 'runs benchmarks'],
  'docs/reference/endorsement-evidence.md': [1, 'shows a single command'],
  'docs/reference/limits.md': [3, 'shows single commands; cli/commands/key.test.ts runs them'],
  'docs/reference/privacy.md': [2, 'erases people; server/privacy/ and server/offboarding/ test the functions'],
  'docs/reference/question-bank.md': [1, 'runs a check of npm run check'],
  'examples/ats-express/README.md': [1, 'installs packages; test/examples/ runs the application'],
  'examples/college-portal-fastify/README.md': [1, 'installs packages; test/examples/ runs the application'],
  'examples/python-batch/README.md': [1, 'starts the program; test/examples/ runs it with the same arguments'],
  'sdks/go/README.md': [6, 'shows parts of programs; test/sdks/ compiles and runs a whole one'],
  'sdks/java/README.md': [5, 'shows parts of programs; test/sdks/ compiles and runs a whole one'],
  'sdks/php/README.md': [7, 'shows parts of programs; test/sdks/ runs a whole one'],
  'sdks/python/README.md': [5, 'shows parts of programs; test/sdks/ runs a whole one'],
}

const PROGRAM_LANGUAGES = ['sh', 'bash', 'js', 'ts', 'python', 'go', 'java', 'php']

interface CodeBlock {
  language: string
  text: string
}

function readBlocks(page: string): CodeBlock[] {
  const fences = readFileSync(join(root, page), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)
  return [...fences]
    .map(([, language, text]) => ({ language: language!, text: text! }))
    .filter(({ language }) => PROGRAM_LANGUAGES.includes(language))
}

test('each page with code is run by a test, or is listed with the number of blocks and the reason', (t) => {
  const pagesWithCode = pages.filter((page) => readBlocks(page).length > 0)
  assert.deepEqual(pagesWithCode, [...Object.keys(testsByPage), ...Object.keys(pagesWithoutRun)].sort())
  const counts = Object.fromEntries(Object.keys(pagesWithoutRun).map((page) => [page, readBlocks(page).length]))
  assert.deepEqual(
    counts,
    Object.fromEntries(Object.entries(pagesWithoutRun).map(([page, [blocks]]) => [page, blocks])),
  )
  const total = pagesWithCode.reduce((sum, page) => sum + readBlocks(page).length, 0)
  t.diagnostic(`${Object.values(counts).reduce((a, b) => a + b, 0)} of ${total} blocks are on pages without a run`)
})

test('the tests of the table read the pages', () => {
  for (const [page, file] of Object.entries(testsByPage))
    assert.ok(readFileSync(join(root, file), 'utf8').includes(page.split('/').at(-1)!), `${file} reads ${page}`)
})

test('no program of the documentation needs a Node that runs TypeScript', () => {
  for (const page of pages)
    for (const { text } of readBlocks(page)) assert.doesNotMatch(text, /^node \S+\.[mc]?ts\b/m, page)
})

test('the code of all pages has valid syntax', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-blocks-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const bash = [{ command: ['bash', '-n'], path: process.env.PATH! }]
  const checks: Record<string, { command: string[]; path: string }[]> = {
    sh: bash,
    bash,
    js: nodeVersions.map(({ path }) => ({ command: ['node', '--check'], path })),
    python: [
      { command: ['python3', '-c', 'import ast, sys; ast.parse(open(sys.argv[1]).read())'], path: process.env.PATH! },
    ],
  }
  for (const page of pages) {
    for (const [index, { language, text }] of readBlocks(page).entries()) {
      for (const { command, path } of checks[language] ?? []) {
        const file = join(folder, `block.${language === 'js' ? 'mjs' : language}`)
        writeFileSync(file, text)
        const [program, ...args] = command
        const { status, stderr, error } = spawnSync(program!, [...args, file], {
          encoding: 'utf8',
          env: { ...process.env, PATH: path },
        })
        if (error) continue // the program is not installed
        assert.equal(status, 0, `${page}, block ${index + 1}: ${stderr}`)
      }
    }
  }
})
