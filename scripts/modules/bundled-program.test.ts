import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { linkPackages } from '../../test/support/checkout-copy.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('a program runs from its bundle, finds the files next to its modules, and runs from changed sources until they are bundled', (t) => {
  const checkout = createCheckout(t)
  assert.deepEqual(run(checkout), { text: 'one', data: 'data of the module', files: ['main.ts', 'text.ts'] })
  bundle(checkout)
  const bundled = run(checkout)
  assert.deepEqual({ ...bundled, files: [] }, { text: 'one', data: 'data of the module', files: [] })
  assert.match(bundled.files[0]!, /^cli(-\w+)?\.mjs$/)
  appendFileSync(join(checkout, 'cli/text.ts'), "export const another = ''\n")
  assert.deepEqual(run(checkout), { text: 'one', data: 'data of the module', files: ['main.ts', 'text.ts'] })
  bundle(checkout)
  assert.match(run(checkout).files[0]!, /\.mjs$/)
})

test('a worker thread of a bundled program runs from its source', (t) => {
  const checkout = createCheckout(t)
  bundle(checkout)
  const { stdout } = spawnSync(process.execPath, [optionOf(checkout), 'server/main.ts'], {
    cwd: checkout,
    encoding: 'utf8',
  })
  assert.equal(stdout, 'worker.ts: one\n')
})

/** Creates a checkout with two small programs: the server starts a worker thread, and the command line reads a file and names its modules. */
function createCheckout(t: TestContext): string {
  const checkout = mkdtempSync(join(tmpdir(), 'attestry-program-'))
  t.after(() => rmSync(checkout, { recursive: true }))
  const files = {
    'package-lock.json': '{}',
    'cli/text.ts': `export const text: string = 'one'\nexport const file = new Error().stack!.match(/\\(?file:.*?([\\w.-]+):\\d+:\\d+/)![1]\n`,
    'cli/data.txt': 'data of the module',
    'cli/main.ts': `
      import { readFileSync } from 'node:fs'
      import { file, text } from './text.ts'
      const data = readFileSync(new URL('data.txt', import.meta.url), 'utf8')
      const ownFile = new Error().stack!.match(/file:.*?([\\w.-]+):\\d+:\\d+/)![1]
      console.log(JSON.stringify({ text, data, files: [ownFile, file] }))`,
    'server/worker.ts': `
      import { text } from '../cli/text.ts'
      console.log('worker.ts: ' + text)`,
    'server/main.ts': `
      import { Worker } from 'node:worker_threads'
      new Worker(new URL('./worker.ts', import.meta.url))`,
    'sdk/client.ts': '',
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), content)
  }
  cpSync(join(root, 'scripts/modules'), join(checkout, 'scripts/modules'), { recursive: true })
  mkdirSync(join(checkout, 'node_modules/.cache/bundles'), { recursive: true })
  linkPackages(checkout, ['vite'])
  return checkout
}

function bundle(checkout: string): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/modules/bundled-program.mjs'], {
    cwd: checkout,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
}

/** Returns the option of Node.js that loads the bundles, with the one of the program if it exists. */
function optionOf(checkout: string): string {
  const script = `
    import { programFolder } from ${JSON.stringify(join(checkout, 'scripts/modules/bundled-program.mjs'))}
    console.log(programFolder())`
  const folder = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  }).stdout.trim()
  const hook = `--import=file://${checkout}/scripts/modules/resolve-modules.mjs?bundles=${checkout}/node_modules/.cache/bundles`
  return existsSync(folder) ? `${hook}&program=${folder}` : hook
}

function run(checkout: string): { text: string; data: string; files: string[] } {
  const { stdout, stderr } = spawnSync(process.execPath, [optionOf(checkout), 'cli/main.ts'], {
    cwd: checkout,
    encoding: 'utf8',
  })
  assert.ok(stdout, stderr)
  return JSON.parse(stdout)
}
