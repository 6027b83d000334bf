import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser } from '../browser/browser.ts'
import { measurePage, type PageFigures } from './page-limits.ts'
import { type Picture, pictures } from './pictures.ts'
import { startSampleServer } from './sample-data.ts'
import { signIn } from './take-screenshots.ts'

const MAX_CONSOLE_BYTES = 200_000
const MAX_DATA_BYTES = 60_000
const MAX_CANDIDATE_BYTES = 20 * 1024
/** A fifth of the threshold for a good score: https://web.dev/articles/cls. */
const MAX_LAYOUT_SHIFT = 0.02

const PHONE = { width: 360, height: 800 }
/** Most of the time of a visit is spent on waiting for late requests. */
const PAGES_AT_ONCE = 4
const TIMEOUT_MS = 600_000

const isConsolePage = ({ signedIn }: Picture) => signedIn !== undefined
const isCandidatePage = ({ name }: Picture) => /^candidate\b/.test(name)

/** Returns which limits the figures of a page exceed. */
function listProblems(
  picture: Picture,
  { name, bytes, dataBytes, layoutShift, smallTargets, violations }: PageFigures,
): string[] {
  const problems = [...smallTargets, ...violations].map((problem) => `${name}: ${problem}`)
  if (isConsolePage(picture) && bytes > MAX_CONSOLE_BYTES) problems.push(`${name}: ${bytes} bytes`)
  if (isCandidatePage(picture) && bytes > MAX_CANDIDATE_BYTES) problems.push(`${name}: ${bytes} bytes`)
  if (dataBytes > MAX_DATA_BYTES) problems.push(`${name}: ${dataBytes} bytes of data`)
  if (layoutShift > MAX_LAYOUT_SHIFT && name !== 'embed')
    // the example of a website moves when its frame grows
    problems.push(`${name}: layout shift ${layoutShift.toFixed(3)}`)
  return problems
}

test('every page is light and accessible, does not shift while it loads, and has controls that a finger can hit', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  const data = await startSampleServer(t, { withMuchData: false })
  const browser = await openBrowser(t)
  const openSession = async (kind: 'owner' | 'operator') => {
    const context = await browser.newContext()
    await signIn(await context.newPage(), data, kind)
    const storageState = await context.storageState()
    await context.close()
    return storageState
  }
  const sessions = { owner: await openSession('owner'), operator: await openSession('operator') }

  const problems: string[] = []
  const all: PageFigures[] = []
  const remaining = pictures.filter(({ needsMuchData }) => !needsMuchData)
  const measureNext = async () => {
    for (let picture = remaining.shift(); picture; picture = remaining.shift()) {
      const { name, signedIn } = picture
      data.app.clock.advance(10_000) // the requests of all pages do not exceed the rate limits
      const options = { viewport: PHONE, ...(signedIn ? { storageState: sessions[signedIn] } : {}) }
      const figures = await measurePage(browser, picture, data, options).catch((error) => {
        problems.push(`${name}: ${error}`)
      })
      if (!figures) continue
      all.push(figures)
      problems.push(...listProblems(picture, figures))
    }
  }
  await Promise.all(Array.from({ length: PAGES_AT_ONCE }, measureNext))
  const largest = (key: 'bytes' | 'dataBytes' | 'layoutShift', among = all) =>
    among.toSorted((a, b) => b[key] - a[key])[0]!
  const consoleNames = new Set(pictures.filter(isConsolePage).map(({ name }) => name))
  const heaviest = largest(
    'bytes',
    all.filter(({ name }) => consoleNames.has(name)),
  )
  const shifted = largest('layoutShift')
  t.diagnostic(`heaviest page of the console: ${heaviest.name}, ${heaviest.bytes} bytes`)
  t.diagnostic(`most data: ${largest('dataBytes').name}, ${largest('dataBytes').dataBytes} bytes`)
  t.diagnostic(`largest layout shift: ${shifted.name}, ${shifted.layoutShift.toFixed(3)}`)
  assert.deepEqual(problems, [])
})
