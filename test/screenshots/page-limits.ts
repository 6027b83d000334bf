import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { listViolations } from '../browser/axe.ts'
import type { Picture } from './pictures.ts'
import type { SampleData } from './sample-data.ts'
import { openPicture } from './take-screenshots.ts'

/** The figures of one page, opened with an empty cache. */
export interface PageFigures {
  name: string
  /** Everything that was transferred, with headers. */
  bytes: number
  /** The responses of the console API. */
  dataBytes: number
  layoutShift: number
  /** Controls that are less than 24 pixels high or wide, as HTML and size. */
  smallTargets: string[]
  /** Of the accessibility rules of axe. */
  violations: string[]
}

/** Sums the layout shifts that the browser reports without user input. */
const RECORD_SHIFTS = `
  window.layoutShift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value
  }).observe({ type: 'layout-shift', buffered: true })`

/** Late content shifts late, and the browser reports it one frame later. */
const SHIFT_PAUSE = 'new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 50)), 200))'

const MIN_TARGET_PX = 24

/**
 * Lists the controls that are smaller than a fingertip. The label of a checkbox is part of its target. Links within a sentence are as high
 * as its lines, and the focus target of a skip link is invisible.
 */
const FIND_SMALL_TARGETS = `(() => {
  const isInSentence = (element) => {
    const block = element.closest('p, li, td, dd, label, legend, h1, h2, h3, summary, blockquote, figcaption')
    return getComputedStyle(element).display === 'inline' && block !== null
      && block.textContent.trim().length > element.textContent.trim().length
  }
  const sizeOf = (element) => {
    const boxes = [element, ...(element.labels ?? [])].map((each) => each.getBoundingClientRect())
    return [Math.max(...boxes.map(({ width }) => width)), Math.max(...boxes.map(({ height }) => height))]
  }
  return [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button]')]
    .filter((element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
    .filter((element) => { const { right, bottom } = element.getBoundingClientRect(); return right > 0 && bottom > 0 })
    .filter((element) => !isInSentence(element))
    .map((element) => [element, ...sizeOf(element)])
    .filter(([, width, height]) => width > 1 && (width < ${MIN_TARGET_PX} || height < ${MIN_TARGET_PX}))
    .map(([element, width, height]) => Math.round(width) + ' × ' + Math.round(height) + ' ' + element.outerHTML.slice(0, 120))
})()`

/** Opens a page in a new context, and measures it. */
export async function measurePage(
  browser: Browser,
  picture: Picture,
  data: SampleData,
  options: BrowserContextOptions,
): Promise<PageFigures> {
  const context = await browser.newContext(options)
  try {
    await context.clock.setSystemTime(data.app.clock.now())
    const page = await context.newPage()
    const { readBytes } = await recordBytes(page)
    await page.addInitScript(RECORD_SHIFTS)
    await openPicture(page, picture, data)
    await page.evaluate(SHIFT_PAUSE)
    const layoutShift = (await page.evaluate('layoutShift')) as number
    const smallTargets = (await page.evaluate(FIND_SMALL_TARGETS)) as string[]
    const bytes = readBytes()
    return { name: picture.name, ...bytes, layoutShift, smallTargets, violations: await listViolations(page) }
  } finally {
    await context.close()
  }
}

/** Counts the bytes that a page transfers, with an empty cache. */
async function recordBytes(page: Page): Promise<{ readBytes: () => Pick<PageFigures, 'bytes' | 'dataBytes'> }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  const dataRequests = new Set<string>()
  let bytes = 0
  let dataBytes = 0
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (new URL(request.url).pathname.startsWith('/console/api/')) dataRequests.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes += encodedDataLength
    if (dataRequests.has(requestId)) dataBytes += encodedDataLength
  })
  return { readBytes: () => ({ bytes, dataBytes }) }
}
