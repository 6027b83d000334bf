import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { assertAccessible } from '../browser/axe.ts'
import { waitUntilLoaded } from '../browser/wait-until-loaded.ts'
import { createTestSignInLink } from '../support/console.ts'
import type { Picture } from './pictures.ts'
import type { SampleData } from './sample-data.ts'

const WIDTHS = [360, 1280]
const COLOR_SCHEMES = ['light', 'dark'] as const
const VIEWPORT_HEIGHT = 800
/** Longer pages, such as the API reference, are cut off. */
const MAX_PICTURE_HEIGHT = 4000
const PAGE_TIMEOUT_MS = 30_000
/** Time that passes between pages, so that the requests of all pages do not exceed the rate limits. */
const RATE_LIMIT_PAUSE_MS = 10_000

/** Loads the pictures that a browser would load when they are scrolled into view. */
const LOAD_IMAGES = `Promise.all([...document.images].map((image) => {
  image.loading = 'eager'
  return image.decode().catch(() => {})
})).then(() => {})`

const HAS_CUT_TABLE = `[...document.querySelectorAll('.table-wrap')].some((each) => each.scrollWidth > each.clientWidth)`

interface Options {
  folder: string
  pictures: Picture[]
  widths?: number[]
  /** The language of the browser. */
  language?: string
  /** Also runs axe on each page. */
  check?: boolean
  onPicture?(name: string): void
}

/**
 * Saves screenshots of the pages as PNG files, in light and dark colours, with an overview in index.html. Returns what is wrong with the
 * pages: those that do not load, throw an error, scroll horizontally or cut off a table.
 */
export async function takeScreenshots(browser: Browser, data: SampleData, options: Options): Promise<string[]> {
  const { folder, pictures, widths = WIDTHS, language = 'en', check = false, onPicture = () => {} } = options
  await mkdir(folder, { recursive: true })
  const problems: string[] = []
  for (const width of widths) {
    let current = ''
    const openContext = async () => {
      const context = await browser.newContext({ viewport: { width, height: VIEWPORT_HEIGHT }, locale: language })
      context.setDefaultTimeout(PAGE_TIMEOUT_MS)
      context.on('weberror', (error) => problems.push(`${current}: ${error.error().message}`))
      // The sample data are as old as the test clock says.
      await context.clock.setSystemTime(data.app.clock.now())
      return context
    }
    const contexts = { visitor: await openContext(), owner: await openContext(), operator: await openContext() }
    for (const kind of ['owner', 'operator'] as const)
      if (pictures.some(({ signedIn }) => signedIn === kind)) await signIn(await contexts[kind].newPage(), data, kind)
    for (const picture of pictures) {
      current = `${picture.name}-${width}`
      data.app.clock.advance(RATE_LIMIT_PAUSE_MS)
      const page = await contexts[picture.signedIn ?? 'visitor'].newPage()
      try {
        await openPicture(page, picture, data)
        for (const colorScheme of COLOR_SCHEMES) {
          await page.emulateMedia({ colorScheme })
          await save(page, join(folder, `${current}-${colorScheme}.png`))
          if (check) await assertAccessible(page)
        }
        if (await page.evaluate('document.documentElement.scrollWidth > innerWidth'))
          problems.push(`${current}: the page scrolls horizontally`)
        if (await page.evaluate(HAS_CUT_TABLE)) problems.push(`${current}: a table is wider than the page`)
      } catch (error) {
        problems.push(`${current}: ${String(error)}`)
      } finally {
        await page.close()
      }
      onPicture(current)
    }
    for (const context of Object.values(contexts)) await context.close()
  }
  await writeFile(join(folder, 'index.html'), renderOverview(pictures, widths))
  return problems
}

export async function signIn(
  page: Page,
  { app, ownerEmail }: SampleData,
  kind: NonNullable<Picture['signedIn']>,
): Promise<void> {
  await page.goto(await createTestSignInLink(app, kind === 'owner' ? ownerEmail : null))
  await page.locator('nav').waitFor({ state: 'attached' })
  await page.close()
}

/** Opens a page and waits until it has loaded. */
export async function openPicture(page: Page, { url, prepare }: Picture, data: SampleData): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.goto(url(data))
  await page.locator('h1, .log').first().waitFor({ state: 'attached' })
  await prepare?.(page)
  await page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => {})
  await waitUntilLoaded(page)
}

async function save(page: Page, path: string): Promise<void> {
  await page.evaluate(LOAD_IMAGES)
  await page.evaluate('scrollTo(0, 0)')
  const height = (await page.evaluate('document.documentElement.scrollHeight')) as number
  const { width } = page.viewportSize()!
  const clip = height > MAX_PICTURE_HEIGHT ? { x: 0, y: 0, width, height: MAX_PICTURE_HEIGHT } : undefined
  await page.screenshot({ path, fullPage: true, animations: 'disabled', ...(clip ? { clip } : {}) })
}

/** Returns a page with all pictures, each of which links to its file. */
function renderOverview(pictures: Picture[], widths: number[]): string {
  const sections = pictures.map(({ name }) => {
    const files = widths.flatMap((width) => COLOR_SCHEMES.map((scheme) => `${name}-${width}-${scheme}.png`))
    const images = files.map((file) => `<a href="${file}"><img src="${file}" alt="${file}" loading="lazy"></a>`)
    return `<h2 id="${name}">${name}</h2>\n<div>${images.join('')}</div>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Screenshots</title>
<style>body{font:16px system-ui;margin:24px}div{display:flex;gap:12px;align-items:flex-start;overflow-x:auto}img{height:360px;border:1px solid #bbb}</style>
<h1>Screenshots</h1>
${sections.join('\n')}
</html>
`
}
