import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constants as system } from 'node:os'
import { after } from 'node:test'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { Cleanup } from '../support/cleanup.ts'
import { launchChromium, PROXY_BYPASS } from './chromium.ts'

export type PageOptions = Omit<BrowserContextOptions, 'viewport' | 'proxy'> & {
  width?: number
  height?: number
  /** For tests whose page shows hostile content, which its policy must block. */
  allowPolicyViolations?: boolean
}

/** Long, because a busy machine must not fail a test: only a missing element takes this long. */
const PAGE_TIMEOUT_MS = 40_000
/** If Chromium does not open or close a page within this time, it no longer responds. */
const BROWSER_TIMEOUT_MS = 30_000
const EXIT_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Requested by some builds of Chromium itself for pages with forms; the proxy rejects it like every other host. */
const AUTOFILL_HOST = 'content-autofill.googleapis.com:443'
/** Chromium's message about a violation: "Refused to …, because it violates the following Content Security Policy directive: …". */
const POLICY_VIOLATION_PATTERN = /violates the (?:following )?(?:document's )?Content Security Policy/i

let sharedBrowser: Promise<Browser> | undefined
let openTests = 0
let testsEnded = false
let processExiting = false

// This hook applies to the whole test file, because the file imports this module at its top: all its tests share one Chromium.
after(async () => {
  testsEnded = true
  await closeBrowser()
})

/** Returns the Chromium of this test process. It cannot reach other machines and is closed after the last test of the file. */
export async function openBrowser(t: Cleanup): Promise<Browser> {
  if (processExiting) throw new Error('The test process is stopping, so the browser is not opened.')
  openTests += 1
  t.after(async () => {
    openTests -= 1
    // A test that is registered late runs after the `after` hook of the file.
    if (testsEnded && openTests === 0) await closeBrowser()
  })
  sharedBrowser ??= launchForProcess()
  return sharedBrowser
}

/**
 * Opens a page in a new browser context. The test fails if the page throws an uncaught error, violates its Content-Security-Policy or
 * requests a host that is not loopback. Start servers first: `t.after` hooks that are registered later do not run if this one fails.
 */
export async function newPage(
  t: Cleanup,
  { width = 1280, height = 800, allowPolicyViolations = false, ...options }: PageOptions = {},
): Promise<Page> {
  const problems = new Set<string>()
  const proxy = await startRejectingProxy((target) => {
    if (target !== AUTOFILL_HOST) problems.add(`requested ${target}, which is not on this machine`)
  })
  const { context, page: firstPage } = await openPage(t, {
    ...options,
    viewport: { width, height },
    proxy: { server: proxy.url, bypass: PROXY_BYPASS },
  })
  t.after(async () => {
    // Errors and unhandled rejections are reported at the end of the turn in which they happen.
    for (const page of context.pages())
      await withTimeout(page.evaluate('new Promise((done) => setTimeout(done, 20))')).catch(() => {})
    await withTimeout(context.close()).catch(abandonBrowser)
    proxy.close()
    if (problems.size > 0) throw new Error(`The page\n${[...problems].map((problem) => `- ${problem}`).join('\n')}`)
  })
  context.on('weberror', (event) => problems.add(`threw ${event.error().stack || event.error().message}`))
  context.on('console', (message) => {
    if (!allowPolicyViolations && POLICY_VIOLATION_PATTERN.test(message.text()))
      problems.add(`violated its policy: ${message.text()}`)
  })
  const reportCrash = (page: Page) => page.on('crash', () => problems.add(`crashed at ${page.url()}`))
  context.on('page', reportCrash)
  reportCrash(firstPage)
  context.setDefaultTimeout(PAGE_TIMEOUT_MS)
  return firstPage
}

/** Opens a context and its first page. If Chromium does not respond, it is replaced by a new one. */
async function openPage(t: Cleanup, options: BrowserContextOptions): Promise<{ context: BrowserContext; page: Page }> {
  const open = async (browser: Browser) => {
    const context = await browser.newContext(options)
    return { context, page: await context.newPage() }
  }
  try {
    return await withTimeout(open(await openBrowser(t)))
  } catch (error) {
    if (!(error instanceof BrowserTimeout)) throw error
    abandonBrowser()
    return withTimeout(open(await openBrowser(t)))
  }
}

class BrowserTimeout extends Error {
  override message = `Chromium did not respond within ${BROWSER_TIMEOUT_MS / 1000} seconds`
}

/** Rejects with a `BrowserTimeout` if an operation that has no timeout of its own takes too long. */
async function withTimeout<Value>(operation: Promise<Value>): Promise<Value> {
  const timedOut = Promise.withResolvers<never>()
  const timer = setTimeout(() => timedOut.reject(new BrowserTimeout()), BROWSER_TIMEOUT_MS)
  try {
    return await Promise.race([operation, timedOut.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Lets the next test start a new Chromium; the old one ends with this process. */
function abandonBrowser() {
  sharedBrowser = undefined
}

/** Starts a proxy that rejects and reports all requests of pages, frames and workers to other hosts. */
async function startRejectingProxy(onRequest: (target: string) => void) {
  const server = createServer((request, response) => {
    onRequest(request.url ?? '')
    response.destroy()
  })
  server.on('connect', (request, socket) => {
    onRequest(request.url ?? '')
    socket.destroy()
  })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

function launchForProcess(): Promise<Browser> {
  for (const signal of EXIT_SIGNALS) process.off(signal, exitOnSignal).once(signal, exitOnSignal)
  const launching = launchChromium().then((browser) =>
    // After a crash, the next test starts a new Chromium.
    browser.once('disconnected', () => {
      if (sharedBrowser === launching) sharedBrowser = undefined
    }),
  )
  return launching
}

async function closeBrowser() {
  for (const signal of EXIT_SIGNALS) process.off(signal, exitOnSignal)
  const closingBrowser = sharedBrowser
  sharedBrowser = undefined
  const browser = await closingBrowser?.catch(() => undefined)
  if (browser) await withTimeout(browser.close()).catch(() => {})
}

async function exitOnSignal(signal: (typeof EXIT_SIGNALS)[number]) {
  processExiting = true
  await closeBrowser()
  // If the signal has other listeners, they exit the process after their own cleanup.
  if (process.listenerCount(signal) === 0) process.exit(128 + system.signals[signal])
}
