import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openBrowser } from '../browser/browser.ts'
import { pictures } from './pictures.ts'
import { startSampleServer } from './sample-data.ts'
import { takeScreenshots } from './take-screenshots.ts'

test('screenshots are taken of every page of the console, and listed in an overview', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-screenshots-'))
  t.after(() => rm(folder, { recursive: true }))
  const data = await startSampleServer(t, { withMuchData: false })
  const urls = pictures.map((picture) => new URL(picture.url(data)).pathname)
  assert.equal(new Set(pictures.map(({ name }) => name)).size, pictures.length, 'each picture has its own name')

  const source = readFileSync(new URL('../../web/console/shell/routes.ts', import.meta.url), 'utf8')
  for (const [, list, entries] of source.matchAll(/export const (\w+): Record<string, LoadPage> = \{([^}]+)\}/g)) {
    const prefix = list === 'pages' ? `${data.orgs.little}/test` : list === 'operatorPages' ? 'operator' : 'account'
    const paths = [...entries!.matchAll(/^ {2}'([^']*)':/gm)].map(([, path]) => path!)
    assert.ok(paths.length > 0, list)
    for (const path of paths) {
      const pattern = new RegExp(`^/console/${prefix}${path.replaceAll(/:\w+/g, '[^/:]+')}$`)
      assert.ok(
        urls.some((url) => pattern.test(url)),
        `a picture shows ${list} ${path}`,
      )
    }
  }

  const short = ['front', 'error-not-found', 'console-start']
  const problems = await takeScreenshots(await openBrowser(t), data, {
    folder,
    pictures: pictures.filter(({ name }) => short.includes(name)),
    widths: [360],
  })
  assert.deepEqual(problems, [])
  const files = short.flatMap((name) => [`${name}-360-dark.png`, `${name}-360-light.png`])
  assert.deepEqual((await readdir(folder)).sort(), [...files, 'index.html'].sort())
  const overview = await readFile(join(folder, 'index.html'), 'utf8')
  for (const file of files) assert.ok(overview.includes(`src="${file}"`), file)
})
