import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { checkBoundaries, parseBoundaries } from './boundaries.ts'

const BOUNDARIES = `
# comment
base = server/platform server/config.ts

server/*: server
server/config.ts:
server/platform:
server/mail: base
server/mandates: base
  server/mail
cli: sdk
sdk:
`

/** Runs the checker on a temporary folder with a small project and these files, and returns its messages. */
function check(t: TestContext, files: Record<string, string>, boundaries = BOUNDARIES): string[] {
  const root = mkdtempSync(join(tmpdir(), 'attestry-boundaries-'))
  t.after(() => rmSync(root, { recursive: true }))
  const allFiles = {
    'package.json': '{ "workspaces": ["sdk"] }',
    'sdk/package.json': '{ "name": "@attestry/sdk" }',
    'sdk/index.ts': '',
    'server/main.ts': '',
    'server/config.ts': '',
    'server/platform/clock.ts': '',
    'server/mail/mail.ts': '',
    'server/mandates/mandates.ts': '',
    'cli/main.ts': '',
    ...files,
  }
  for (const [path, text] of Object.entries(allFiles)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return checkBoundaries(root, parseBoundaries(boundaries))
}

test('imports within an entry and from allowed entries pass', (t) => {
  const messages = check(t, {
    'server/main.ts': "import './mandates/mandates.ts'",
    'server/mandates/rules/rules.ts': "import { x } from '../mandates.ts'",
    'server/mandates/mandates.ts': `
      import { sql } from 'kysely'
      import { y } from '../mail/mail.ts'
      import type { Config } from '../config.ts'
      export { z } from '../platform/clock.ts'`,
  })
  assert.deepEqual(messages, [])
})

test('a folder without an entry fails, even if it imports nothing', (t) => {
  assert.deepEqual(check(t, { 'server/newdomain/new.ts': '', 'server/newdomain/other.ts': '' }), [
    'server/newdomain/new.ts:1: the folder "server/newdomain" has no entry in boundaries.txt; add one that lists the folders it may import from.',
  ])
})

test('a forbidden import fails in every syntax and names the line', (t) => {
  for (const line of [
    "import { x } from '../mandates/mandates.ts'",
    "import '../mandates/mandates.ts'",
    "import type { X } from '../mandates/mandates.ts'",
    "import { type X } from '../mandates/mandates.ts'",
    "export * from '../mandates/mandates.ts'",
    "export type { X } from '../mandates/mandates.ts'",
    "const x = await import('../mandates/mandates.ts')",
    "type X = import('../mandates/mandates.ts').X",
  ]) {
    const messages = check(t, { 'server/mail/mail.ts': `\n${line}` })
    assert.equal(messages.length, 1, line)
    assert.match(
      messages[0]!,
      /^server\/mail\/mail\.ts:2: "server\/mail" must not import server\/mandates\/mandates\.ts\./,
    )
  }
})

test('files with any JavaScript or TypeScript extension are checked', (t) => {
  for (const extension of ['ts', 'tsx', 'mts', 'cts', 'js', 'jsx', 'mjs'])
    assert.match(
      check(t, { [`server/mail/other.${extension}`]: "import '../mandates/mandates.ts'" }).join(),
      /^server\/mail\/other\.\w+:1: "server\/mail" must not import server\/mandates\/mandates\.ts\./,
      extension,
    )
  for (const [extension, line] of [
    ['cts', "import x = require('../mandates/mandates.ts')"],
    ['cts', "const x = require('../mandates/mandates.ts')"],
    ['cjs', "const x = require('../mandates/mandates.ts')"],
  ])
    assert.match(
      check(t, { [`server/mail/other.${extension}`]: line! }).join(),
      /:1: "server\/mail" must not import server\/mandates\/mandates\.ts\./,
      line,
    )
})

test('only folders with build output are skipped', (t) => {
  const boundaries = `${BOUNDARIES}server/distribution:\nserver/dist:\nweb:\n`
  const forbiddenImport = "import '../mandates/mandates.ts'"
  const messages = check(
    t,
    {
      'server/distribution/a.ts': forbiddenImport,
      'server/dist/a.ts': forbiddenImport,
      'web/console/dist/a.ts': "import '../../../server/mandates/mandates.ts'",
      'web/dist/a.js': "import '../../server/mandates/mandates.ts'",
      'web/dist-1/a.js': "import '../../server/mandates/mandates.ts'",
      'sdk/dist/index.js': "import '../../server/mandates/mandates.ts'",
      'sdk/node_modules/x/a.js': "import '../../../server/mandates/mandates.ts'",
    },
    boundaries,
  )
  assert.deepEqual(messages.map((message) => message.split(':')[0]).sort(), [
    'server/dist/a.ts',
    'server/distribution/a.ts',
    'web/console/dist/a.ts',
  ])
})

test('an import of a package of this repository counts as an import of its folder', (t) => {
  for (const specifier of ['@attestry/sdk', '@attestry/sdk/webhooks']) {
    const [message, ...others] = check(t, {
      'server/mail/mail.ts': `import { AttestryClient } from '${specifier}'`,
      'cli/main.ts': `import { AttestryClient } from '${specifier}'`,
    })
    assert.match(message!, /^server\/mail\/mail\.ts:1: "server\/mail" must not import sdk\./)
    assert.deepEqual(others, [])
  }
})

test('a single file can be an entry', (t) => {
  const messages = check(t, { 'server/mail/mail.ts': "import '../main.ts'", 'server/config.ts': "import './main.ts'" })
  assert.deepEqual(
    messages.map((message) => message.split('.ts. ')[0]),
    [
      'server/config.ts:1: "server/config.ts" must not import server/main',
      'server/mail/mail.ts:1: "server/mail" must not import server/main',
    ],
  )
})

test('a dynamic import with a computed path fails', (t) => {
  const [message] = check(t, { 'server/mail/mail.ts': 'const name = "x"\nawait import(name)' })
  assert.match(message!, /^server\/mail\/mail\.ts:2: the path of this import is computed/)
})

test('a test file may import anything', (t) => {
  assert.deepEqual(check(t, { 'server/mail/mail.test.ts': "import '../mandates/mandates.ts'" }), [])
})

test('a cycle between files fails, also if its imports are type-only', (t) => {
  const messages = check(t, {
    'server/mail/a.ts': "import type { B } from './b.ts'",
    'server/mail/b.ts': "\nimport './c.ts'",
    'server/mail/c.ts': "type A = import('./a.ts').A",
  })
  assert.deepEqual(messages, [
    'server/mail/a.ts:1: import cycle: server/mail/a.ts:1 → server/mail/b.ts:2 → server/mail/c.ts:1 → server/mail/a.ts. Move the shared declaration to a file of its own.',
  ])
})

test('an entry for a folder that does not exist fails', (t) => {
  assert.deepEqual(check(t, {}, `${BOUNDARIES}server/gone: server/lost\n`), [
    'boundaries.txt: "server/gone" does not exist; remove the entry.',
    'boundaries.txt: "server/gone" allows "server/lost", which does not exist; remove it.',
  ])
})

test('a line in an unknown format fails', () => {
  assert.throws(() => parseBoundaries('server/mail -> server/platform\n'), /got "server\/mail -> server\/platform"/)
})
