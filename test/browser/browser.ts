import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  constants as modes,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { constants as system, tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Cleanup } from '../support/cleanup.ts'
import { CHROMIUM_ADVICE, hasPackagedChromium, installedBrowsers } from './find-chromium.ts'

type ChromiumSources = { modules: string; installed: string[] }
type ChromiumProgram = { executablePath: string; env: NodeJS.ProcessEnv }
export type PageOptions = Omit<BrowserContextOptions, 'viewport' | 'proxy'> & {
  width?: number
  height?: number
  /** For tests whose page shows hostile content, which its policy must block. */
  allowPolicyViolations?: boolean
}

const MODULES_FOLDER = fileURLToPath(new URL('../../node_modules', import.meta.url))
/** Each installed npm package of this scope adds the fonts of one writing system. */
const FONT_SCOPE = '@expo-google-fonts'
/** Long, because a busy machine must not fail a test: only a missing element takes this long. */
const PAGE_TIMEOUT_MS = 40_000
/** If Chromium does not open or close a page within this time, it no longer responds. */
const BROWSER_TIMEOUT_MS = 30_000
const EXIT_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** `<-loopback>` removes Chromium's implicit exceptions, which let link-local addresses bypass a proxy. */
const PROXY_BYPASS = '<-loopback>,127.0.0.0/8,[::1],localhost,*.localhost'
/** Requested by some builds of Chromium itself for pages with forms; the proxy rejects it like every other host. */
const AUTOFILL_HOST = 'content-autofill.googleapis.com:443'
const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The proxy handles requests only. The following flags also block DNS lookups and WebRTC.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.*, EXCLUDE [::1]',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp', // the name of the flag in newer versions
]

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

/** Starts the Chromium of the npm package, which is the same on every machine, or an installed one if that fails. */
export async function launchChromium(
  { modules, installed }: ChromiumSources = { modules: MODULES_FOLDER, installed: installedBrowsers() },
) {
  const failures: string[] = []
  for (const source of [
    () => findPackagedProgram(modules),
    ...installed.map((path) => () => findInstalledProgram(path)),
  ]) {
    try {
      return await chromium.launch({
        ...(await source()),
        args: CHROMIUM_FLAGS,
        // Nothing listens on this port; pages of newPage use a proxy that reports requests to the test.
        proxy: { server: 'http://127.0.0.1:9', bypass: PROXY_BYPASS },
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      })
    } catch (error) {
      failures.push(String(error))
    }
  }
  throw new Error(`No Chromium could be started for the browser tests. ${CHROMIUM_ADVICE}\n${failures.join('\n')}`)
}

async function findPackagedProgram(modules: string): Promise<ChromiumProgram> {
  if (!hasPackagedChromium) throw new Error(`@sparticuz/chromium does not run on ${process.platform} ${process.arch}`)
  const folder = await unpackChromium(modules)
  const libraries = [join(folder, 'al2023', 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter)
  const fonts = { FONTCONFIG_FILE: join(folder, 'fonts.conf'), XDG_CACHE_HOME: join(folder, 'cache') }
  return { executablePath: join(folder, 'chromium'), env: { ...process.env, LD_LIBRARY_PATH: libraries, ...fonts } }
}

async function findInstalledProgram(executablePath: string): Promise<ChromiumProgram> {
  // If the program were missing, Playwright would create temporary folders and not remove them.
  await access(executablePath, modes.X_OK)
  return { executablePath, env: process.env }
}

/**
 * Returns the folder with the unpacked Chromium, its libraries and fonts. Each version is unpacked once, next to the package. The
 * folder is renamed when it is complete, so concurrent test processes do not interfere.
 */
export async function unpackChromium(modules: string): Promise<string> {
  const require = createRequire(join(modules, 'resolve-from-here.js'))
  const packageEntry = require.resolve('@sparticuz/chromium')
  const { version } = JSON.parse(await readFile(join(modules, '@sparticuz/chromium/package.json'), 'utf8'))
  const cacheFolder = join(modules, '.cache', 'attestry-chromium')
  const readyFolder = join(cacheFolder, version)
  if (existsSync(readyFolder)) return readyFolder

  const stagingFolder = await mkdir(cacheFolder, { recursive: true })
    .then(() => mkdtemp(join(cacheFolder, 'unpacking-')))
    .catch(() => undefined)
  const folder = stagingFolder ?? (await createTemporaryFolder())
  try {
    await inflateInto(folder, packageEntry, join(modules, '@sparticuz/chromium/bin'))
    await chmod(join(folder, 'chromium'), 0o755)
    await writeFile(join(folder, 'fonts.conf'), renderFontsConf(relative(folder, join(modules, FONT_SCOPE))))
    if (!stagingFolder) return folder
    await chmod(stagingFolder, 0o755)
    await rename(stagingFolder, readyFolder).catch((error) => {
      if (!existsSync(readyFolder)) throw error
    })
    await removeOldFolders(cacheFolder, version)
    return readyFolder
  } finally {
    if (stagingFolder) await rm(stagingFolder, { recursive: true, force: true })
  }
}

/** Creates a folder that is removed when this process exits; used if node_modules is read-only. */
async function createTemporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'attestry-chromium-')))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Unpacks the archives with the package, in a worker with its own temporary folder: the package unpacks there and reuses
 * existing files.
 */
async function inflateInto(folder: string, entry: string, archivesFolder: string) {
  const workerCode = `
    const { entry, archives } = require('node:worker_threads').workerData
    import(entry).then(({ inflate }) => Promise.all(archives.map((archive) => inflate(archive))))`
  const archiveNames = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']
  const worker = new Worker(workerCode, {
    eval: true,
    execArgv: [],
    env: { ...process.env, TMPDIR: folder },
    workerData: { entry, archives: archiveNames.map((name) => join(archivesFolder, name)) },
  })
  await once(worker, 'exit')
}

/**
 * Returns a fontconfig file with fonts from npm packages only, so that pages look the same everywhere. Folders are relative to
 * the file.
 */
function renderFontsConf(extraFontsFolder: string) {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir prefix="relative">${extraFontsFolder}</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <match target="pattern">
    <edit name="family" mode="append"><string>Open Sans</string></edit>
  </match>
</fontconfig>
`
}

/** Removes other versions of Chromium, and folders whose unpacking was interrupted. */
async function removeOldFolders(cacheFolder: string, version: string) {
  const anHourAgo = Date.now() - 3_600_000
  for (const name of await readdir(cacheFolder)) {
    const path = join(cacheFolder, name)
    const folderStats = await stat(path).catch(() => undefined)
    if (name !== version && folderStats && folderStats.mtimeMs < anHourAgo)
      await rm(path, { recursive: true, force: true })
  }
}
