import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { nodeVersions } from '../support/node-versions.ts'
import { assertLanguagesKnown, pages, readBlocks } from './code-blocks.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Pages with code, and the test that asserts with `assertBlocksRun` or `assertAllBlocksRan` that it runs every block. */
const testsByPage: Record<string, string> = {
  'docs/guides/find-skills.md': 'test/contract/guides.test.ts',
  'docs/guides/from-a-job-to-questions.md': 'test/contract/guides.test.ts',
  'docs/guides/receive-results.md': 'test/contract/receive-results.test.ts',
  'docs/guides/run-a-campaign.md': 'test/contract/campaign-guides.test.ts',
  'docs/guides/run-on-kubernetes.md': 'test/deploy/deploy.test.ts',
  'docs/guides/run-with-systemd.md': 'test/release/release.test.ts',
  'docs/guides/script-test-people.md': 'test/contract/campaign-guides.test.ts',
  'docs/guides/sign-your-first-request.md': 'test/contract/examples.test.ts',
  'docs/guides/test-with-a-clock.md': 'test/contract/campaign-guides.test.ts',
  'docs/guides/use-an-sdk.md': 'test/sdks/sdks.test.ts',
  'docs/guides/verify-a-students-skills.md': 'test/contract/verification-guide.test.ts',
  'examples/ats-express/README.md': 'test/examples/examples.test.ts',
  'examples/college-portal-fastify/README.md': 'test/examples/examples.test.ts',
  'sdk/README.md': 'sdk/package.test.ts',
  'sdks/go/README.md': 'test/sdks/readmes.test.ts',
  'sdks/java/README.md': 'test/sdks/readmes.test.ts',
  'sdks/php/README.md': 'test/sdks/readmes.test.ts',
  'sdks/python/README.md': 'test/sdks/readmes.test.ts',
}

/** Tests of whole pages: `pageTests` runs every block. */
const PAGE_TESTS = ['ats-guides', 'data-guides', 'incident-guide', 'operator-guides', 'production-guides'].map(
  (name) => `test/contract/${name}.test.ts`,
)

test('each page with code is run by a test', () => {
  const sources = PAGE_TESTS.map((file) => readFileSync(join(root, file), 'utf8'))
  for (const page of pages) {
    if (readBlocks(page).length === 0 || testsByPage[page]) continue
    assert.ok(
      sources.some((text) => text.includes(`'${page}'`)),
      `no test runs the blocks of ${page}`,
    )
  }
})

test('the tests of the table assert that they run every block of the page', () => {
  for (const [page, file] of Object.entries(testsByPage)) {
    const text = readFileSync(join(root, file), 'utf8')
    assert.ok(
      text.includes(page.split('/').at(-1)!) && /assertBlocksRun\(|assertAllBlocksRan\(/.test(text),
      `${file} checks ${page}`,
    )
  }
})

test('each block has a language, so that commands are recognised', () => {
  for (const page of pages) assertLanguagesKnown(page)
})

/** Placeholders that are rejected if a reader pastes them: as unknown IDs, by the configuration of the server, and by the commands. */
const REJECTED_PLACEHOLDERS = [
  /\b[A-Za-z]{2,3}_(?:(?:TEST|LIVE)_)?…/g, // ORG_…, VFN_TEST_…, vrt_…
  /:…@/g, // the password in the URL of a database
  /^[A-Z_]+=…/gm, // a secret in the configuration file
  /\b1042:9f2c…/g, // the head of the audit log
  /"skill,id,…"/g, // the content of a file
]

test('a placeholder that a reader pastes by mistake is rejected', () => {
  for (const page of pages)
    for (const { text } of readBlocks(page, ['sh', 'bash', 'sql'])) {
      const rest = REJECTED_PLACEHOLDERS.reduce((result, pattern) => result.replaceAll(pattern, ''), text)
      assert.doesNotMatch(rest, /…|<[a-z][\w-]*>/, page)
    }
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
