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
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { Cleanup } from '../support/cleanup.ts'
import { CHROMIUM_ADVICE, hasPackagedChromium, installedBrowsers } from './find-chromium.ts'

type Sources = { modules: string; installed: string[] }
type Program = { executablePath: string; env: NodeJS.ProcessEnv }
export type PageOptions = Omit<BrowserContextOptions, 'viewport' | 'proxy'> & { width?: number; height?: number }

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
/** Each installed package of this scope adds the fonts of one script. */
const FONT_SCOPE = '@expo-google-fonts'
/** Generous, because a busy machine must not fail a test: only a missing element takes this long. */
const PAGE_TIMEOUT_MS = 40_000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** `<-loopback>` removes Chromium's implicit exceptions, which let link-local addresses bypass a proxy. */
const LOOPBACK = '<-loopback>,127.0.0.0/8,[::1],localhost,*.localhost'
/** Requested by some builds of Chromium itself for pages with forms; the proxy rejects it like every other host. */
const AUTOFILL_SERVER = 'content-autofill.googleapis.com:443'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The proxy handles requests only. These also block DNS lookups and WebRTC.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.*, EXCLUDE [::1]',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp', // the name of the flag in newer versions
]

let current: Promise<Browser> | undefined
let users = 0
let testsEnded = false
let processExiting = false

// A hook of the whole test file, because the file imports this module at its top: one Chromium serves all its tests.
after(async () => {
  testsEnded = true
  await closeBrowser()
})

/** Returns the Chromium of this test process, without access to other machines. It is closed after the last test of the file. */
export async function openBrowser(t: Cleanup): Promise<Browser> {
  if (processExiting) throw new Error('The test process is stopping, so no browser is opened.')
  users += 1
  t.after(async () => {
    users -= 1
    // A test that is registered late runs after the hook of the file.
    if (testsEnded && users === 0) await closeBrowser()
  })
  current ??= launchForProcess()
  return current
}

/**
 * Opens a page in a new browser context. The test fails if the page throws an uncaught error or requests a host that is not
 * loopback. Start servers first: `t.after` hooks that are registered later do not run if this one fails.
 */
export async function newPage(t: Cleanup, { width = 1280, height = 800, ...options }: PageOptions = {}): Promise<Page> {
  const browser = await openBrowser(t)
  const problems = new Set<string>()
  const proxy = await startRejectingProxy((target) => {
    if (target !== AUTOFILL_SERVER) problems.add(`requested ${target}, which is not on this machine`)
  })
  const context = await browser.newContext({
    ...options,
    viewport: { width, height },
    proxy: { server: proxy.url, bypass: LOOPBACK },
  })
  t.after(async () => {
    // Errors and unhandled rejections are reported at the end of the turn in which they happen.
    for (const page of context.pages())
      await page.evaluate('new Promise((done) => setTimeout(done, 20))').catch(() => {})
    await context.close()
    proxy.close()
    if (problems.size > 0) throw new Error(`The page\n${[...problems].map((problem) => `- ${problem}`).join('\n')}`)
  })
  context.on('weberror', (event) => problems.add(`threw ${event.error().stack || event.error().message}`))
  context.on('page', (page) => page.on('crash', () => problems.add(`crashed at ${page.url()}`)))
  context.setDefaultTimeout(PAGE_TIMEOUT_MS)
  return context.newPage()
}

/** Starts a proxy that rejects and reports all requests: those of pages, frames and workers to other hosts. */
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
  for (const signal of SIGNALS) process.off(signal, exitOnSignal).once(signal, exitOnSignal)
  const launching = launchChromium().then((browser) =>
    // After a crash, the next test starts a new Chromium.
    browser.once('disconnected', () => {
      if (current === launching) current = undefined
    }),
  )
  return launching
}

async function closeBrowser() {
  for (const signal of SIGNALS) process.off(signal, exitOnSignal)
  const closing = current
  current = undefined
  const browser = await closing?.catch(() => undefined)
  await browser?.close()
}

async function exitOnSignal(signal: (typeof SIGNALS)[number]) {
  processExiting = true
  await closeBrowser()
  // Other listeners exit the process themselves after their cleanup.
  if (process.listenerCount(signal) === 0) process.exit(128 + system.signals[signal])
}

/** Starts the Chromium of the npm package, which is the same everywhere, or else an installed one. */
export async function launchChromium(
  { modules, installed }: Sources = { modules: MODULES, installed: installedBrowsers() },
) {
  const failures: string[] = []
  for (const source of [() => fromPackage(modules), ...installed.map((path) => () => fromInstalled(path))]) {
    try {
      return await chromium.launch({
        ...(await source()),
        args: FLAGS,
        // Nothing listens on this port; pages of newPage use a proxy that reports requests to the test.
        proxy: { server: 'http://127.0.0.1:9', bypass: LOOPBACK },
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

async function fromPackage(modules: string): Promise<Program> {
  if (!hasPackagedChromium) throw new Error(`@sparticuz/chromium does not run on ${process.platform} ${process.arch}`)
  const folder = await unpackChromium(modules)
  const libraries = [join(folder, 'al2023', 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter)
  const fonts = { FONTCONFIG_FILE: join(folder, 'fonts.conf'), XDG_CACHE_HOME: join(folder, 'cache') }
  return { executablePath: join(folder, 'chromium'), env: { ...process.env, LD_LIBRARY_PATH: libraries, ...fonts } }
}

async function fromInstalled(executablePath: string): Promise<Program> {
  // For a missing program, Playwright would create folders and leave them.
  await access(executablePath, modes.X_OK)
  return { executablePath, env: process.env }
}

/**
 * Returns the folder with the unpacked program, its libraries and fonts; unpacked once per version, next to the package. The
 * folder is renamed when it is complete, so concurrent test processes do not interfere.
 */
export async function unpackChromium(modules: string): Promise<string> {
  const require = createRequire(join(modules, 'resolve-from-here.js'))
  const entry = require.resolve('@sparticuz/chromium')
  const { version } = JSON.parse(await readFile(join(modules, '@sparticuz/chromium/package.json'), 'utf8'))
  const cache = join(modules, '.cache', 'attestry-chromium')
  const ready = join(cache, version)
  if (existsSync(ready)) return ready

  const staging = await mkdir(cache, { recursive: true })
    .then(() => mkdtemp(join(cache, 'unpacking-')))
    .catch(() => undefined)
  const folder = staging ?? (await temporaryFolder())
  try {
    await inflateInto(folder, entry, join(modules, '@sparticuz/chromium/bin'))
    await chmod(join(folder, 'chromium'), 0o755)
    await writeFile(join(folder, 'fonts.conf'), fontsConf(relative(folder, join(modules, FONT_SCOPE))))
    if (!staging) return folder
    await chmod(staging, 0o755)
    await rename(staging, ready).catch((error) => {
      if (!existsSync(ready)) throw error
    })
    await removeOld(cache, version)
    return ready
  } finally {
    if (staging) await rm(staging, { recursive: true, force: true })
  }
}

/** For a read-only node_modules: creates a folder that is removed when this process exits. */
async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'attestry-chromium-')))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Runs the package in a worker whose temporary folder is ours, because it unpacks there and trusts existing files. */
async function inflateInto(folder: string, entry: string, archives: string) {
  const code = `
    const { entry, archives } = require('node:worker_threads').workerData
    import(entry).then(({ inflate }) => Promise.all(archives.map((archive) => inflate(archive))))`
  const names = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br']
  const worker = new Worker(code, {
    eval: true,
    execArgv: [],
    env: { ...process.env, TMPDIR: folder },
    workerData: { entry, archives: names.map((name) => join(archives, name)) },
  })
  await once(worker, 'exit')
}

/** Uses only fonts from npm packages, so that pages look the same on every machine. Folders are relative to the file. */
function fontsConf(moreFonts: string) {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir prefix="relative">${moreFonts}</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <match target="pattern">
    <edit name="family" mode="append"><string>Open Sans</string></edit>
  </match>
</fontconfig>
`
}

/** Removes other versions and the folders of interrupted unpacking. */
async function removeOld(cache: string, version: string) {
  const anHourAgo = Date.now() - 3_600_000
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    const found = await stat(path).catch(() => undefined)
    if (name !== version && found && found.mtimeMs < anHourAgo) await rm(path, { recursive: true, force: true })
  }
}
