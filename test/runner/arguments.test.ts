import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCi, parseTestArguments, selectFiles } from './arguments.ts'

const files = [
  'web/console/keys.test.ts',
  'server/mandates/mandates.test.ts',
  'cli/cli.test.ts',
  'scripts/sbom.test.ts',
]
const isPageTest = (file: string) => file.startsWith('web/')

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
  assert.deepEqual(selectFiles([...files, pooledFile], parseTestArguments(['--pooled']), isPageTest), [pooledFile])
  assert.deepEqual(selectFiles(files, parseTestArguments(['--pooled', 'cli']), isPageTest), [files[2]])
})

test('--statements selects the tests whose statements are checked, unless there are paths', () => {
  const checkedFile = 'server/results/results.test.ts'
  assert.deepEqual(selectFiles([...files, checkedFile], parseTestArguments(['--statements']), isPageTest), [
    checkedFile,
  ])
  assert.deepEqual(selectFiles(files, parseTestArguments(['--statements', 'cli']), isPageTest), [files[2]])
})

test('files are selected by parts of their path', () => {
  assert.deepEqual(selectFiles(files, parseTestArguments(['mandates', 'cli']), isPageTest), [files[2], files[1]])
  assert.equal(selectFiles(files, parseTestArguments(['no such file']), isPageTest).length, 0)
})

test('browser tests, and tests without a database, run on an external one only if their path is an argument', () => {
  assert.equal(selectFiles(files, parseTestArguments([]), isPageTest).length, 4)
  assert.deepEqual(selectFiles(files, parseTestArguments(['--external']), isPageTest), [files[1]])
  assert.deepEqual(selectFiles(files, parseTestArguments(['--external', 'web/']), isPageTest), [files[0]])
})

test('CI is recognised by its environment variable', () => {
  assert.equal(isCi({ CI: 'true' }), true)
  assert.equal(isCi({ CI: '1' }), true)
  assert.equal(isCi({ CI: 'false' }), false)
  assert.equal(isCi({}), false)
})
