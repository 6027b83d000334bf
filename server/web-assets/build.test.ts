import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the sources of the pages are compared again only if the size or the time of one has changed, or the built pages are missing', (t) => {
  const { checkout, start } = createCheckout(t)
  assert.equal(start(), 1, 'the first start compares them')
  assert.equal(start(), 1)
  writeFileSync(join(checkout, 'web/front/page.tsx'), 'other text')
  assert.equal(start(), 2, 'another size')
  utimesSync(join(checkout, 'docs/pictures/picture.webp'), 1, 1)
  assert.equal(start(), 3, 'another time')
  writeFileSync(join(checkout, 'web/front/new.tsx'), '')
  assert.equal(start(), 4, 'another file')
  rmSync(join(checkout, 'web/dist'), { recursive: true })
  assert.equal(start(), 5, 'no built pages')
  assert.equal(start(), 5)
})

/** Creates a checkout whose program that builds the pages writes one line for each run. `start` returns how often it has run. */
function createCheckout(t: TestContext) {
  const checkout = mkdtempSync(join(tmpdir(), 'attestry-pages-'))
  t.after(() => rmSync(checkout, { recursive: true }))
  const files = {
    'package.json': '{ "type": "module" }',
    'web/front/page.tsx': '',
    'docs/pictures/picture.webp': '',
    'web/build.ts': `
      import { appendFileSync, mkdirSync } from 'node:fs'
      mkdirSync(new URL('dist', import.meta.url), { recursive: true })
      appendFileSync(new URL('../runs.txt', import.meta.url), 'run\\n')`,
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(checkout, path)), { recursive: true })
    writeFileSync(join(checkout, path), content)
  }
  mkdirSync(join(checkout, 'server/web-assets'), { recursive: true })
  cpSync(join(root, 'server/web-assets/build.ts'), join(checkout, 'server/web-assets/build.ts'))
  const start = () => {
    const script = "import { buildPages } from './server/web-assets/build.ts'\nawait buildPages()"
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: checkout,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    return readFileSync(join(checkout, 'runs.txt'), 'utf8').trim().split('\n').length
  }
  return { checkout, start }
}
