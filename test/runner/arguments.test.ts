import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { EXTERNAL_PATHS, isCi, POOLED_PATHS, parseTestArguments, STATEMENT_PATHS, selectFiles } from './arguments.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const files = [
  'web/console/keys.test.ts',
  'server/mandates/mandates.test.ts',
  'cli/cli.test.ts',
  'scripts/sbom.test.ts',
]

test('unknown options are passed on to the test runner of Node.js', () => {
  const parsed = parseTestArguments(['--test-name-pattern=archived mandate', '--test-only', 'server/mandates'])
  assert.deepEqual(parsed.nodeOptions, ['--test-name-pattern=archived mandate', '--test-only'])
  assert.deepEqual(parsed.paths, ['server/mandates'])
})

test('the value of an option may be a separate argument', () => {
  const parsed = parseTestArguments(['--test-name-pattern', 'archived mandate', 'server/mandates'])
  assert.deepEqual(parsed.nodeOptions, ['--test-name-pattern=archived mandate'])
  assert.deepEqual(parsed.paths, ['server/mandates'])
})

test('--external and --watch are recognised', () => {
  assert.equal(parseTestArguments(['--external']).external, true)
  assert.deepEqual(parseTestArguments(['--external']).nodeOptions, [])
  assert.equal(parseTestArguments(['--watch']).watch, true)
})

test('--pooled selects the tests that depend on sessions, unless there are paths', () => {
  const pooledFile = 'server/events/ledger.test.ts'
  assert.deepEqual(selectFiles([...files, pooledFile], parseTestArguments(['--pooled'])), [pooledFile])
  assert.deepEqual(selectFiles(files, parseTestArguments(['--pooled', 'cli'])), [files[2]])
})

test('--statements selects the tests whose statements are checked, unless there are paths', () => {
  const checkedFile = 'server/results/results.test.ts'
  assert.deepEqual(selectFiles([...files, checkedFile], parseTestArguments(['--statements'])), [checkedFile])
  assert.deepEqual(selectFiles(files, parseTestArguments(['--statements', 'cli'])), [files[2]])
})

test('files are selected by parts of their path', () => {
  assert.deepEqual(selectFiles(files, parseTestArguments(['mandates', 'cli'])), [files[2], files[1]])
  assert.equal(selectFiles(files, parseTestArguments(['no such file'])).length, 0)
})

test('--external selects the tests that the kind of PostgreSQL matters for, unless there are paths', () => {
  assert.equal(selectFiles(files, parseTestArguments([])).length, 4)
  assert.deepEqual(selectFiles(files, parseTestArguments(['--external'])), ['server/mandates/mandates.test.ts'])
  assert.deepEqual(selectFiles(files, parseTestArguments(['--external', 'web/'])), [files[0]])
})

test('every test that is selected by a list of paths exists', () => {
  const allFiles = globSync('{server,test}/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules/**'] })
  for (const part of [...EXTERNAL_PATHS, ...POOLED_PATHS, ...STATEMENT_PATHS])
    assert.ok(
      allFiles.some((file) => file.includes(part)),
      `a test file contains ${part} in its path`,
    )
})

test('CI is recognised by its environment variable', () => {
  assert.equal(isCi({ CI: 'true' }), true)
  assert.equal(isCi({ CI: '1' }), true)
  assert.equal(isCi({ CI: 'false' }), false)
  assert.equal(isCi({}), false)
})
