import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPages } from '../server/web-assets/build.ts'
import { launchChromium } from '../test/browser/chromium.ts'
import { prepareTemplate, startCluster } from '../test/runner/cluster.ts'
import { saveDocumentationPictures } from '../test/screenshots/documentation-pictures.ts'
import { pictures } from '../test/screenshots/pictures.ts'
import { startSampleServer } from '../test/screenshots/sample-data.ts'
import { takeScreenshots } from '../test/screenshots/take-screenshots.ts'
import { CleanupList } from '../test/support/cleanup.ts'
import { parseOptions } from './parse-options.ts'

// Takes screenshots of every page on sample data, on a phone and a desktop, in light and dark colours.
//   npm run screenshots                              all pages
//   npm run screenshots -- campaigns front           pages whose name contains one of the words
//   npm run screenshots -- --out some/folder         the folder of the files; by default, screenshots/
//   npm run screenshots -- --check                   also runs axe on every page
//   npm run screenshots -- --language hi             the language of the browser, which the pages use
//   npm run screenshots -- --width 360               only one width, in pixels
//   npm run screenshots -- --docs                    only updates the pictures of the README and the front page, in docs/pictures/

const DOCUMENTATION_FOLDER = fileURLToPath(new URL('../docs/pictures', import.meta.url))

const { values, positionals } = parseOptions(
  {
    out: { type: 'string', default: 'screenshots' },
    check: { type: 'boolean', default: false },
    language: { type: 'string', default: 'en' },
    width: { type: 'string' },
    docs: { type: 'boolean', default: false },
  },
  { allowPositionals: true },
)
const selected = pictures.filter(
  ({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
)
if (selected.length === 0) {
  console.error(
    `no page has a name that contains ${positionals.join(' or ')}; the names are ${pictures.map(({ name }) => name).join(', ')}`,
  )
  process.exit(1)
}

const folder = values.docs ? DOCUMENTATION_FOLDER : resolve(values.out)
await buildPages()
const cluster = await startCluster({ inMemory: true })
const cleanups = new CleanupList()
async function stop(): Promise<void> {
  await cleanups.run()
  await cluster.stop()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await stop().catch(() => {})
    process.exit(1)
  })

let problems: string[] = []
try {
  await prepareTemplate(cluster.url)
  process.env.TEST_POSTGRES_URL = cluster.url
  console.log('creating the sample data…')
  const withMuchData = !values.docs && selected.some(({ needsMuchData }) => needsMuchData)
  const data = await startSampleServer(cleanups, { withMuchData })
  const browser = await launchChromium()
  cleanups.after(() => browser.close())
  if (values.docs) await saveDocumentationPictures(browser, data, folder)
  else
    problems = await takeScreenshots(browser, data, {
      folder,
      pictures: selected,
      check: values.check,
      language: values.language,
      ...(values.width ? { widths: [Number(values.width)] } : {}),
      onPicture: (name) => console.log(`  ${name}`),
    })
} finally {
  await stop()
}
console.log(`\nsaved in ${folder}${values.docs ? '' : '; open index.html there'}`)
for (const problem of problems) console.error(`- ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
