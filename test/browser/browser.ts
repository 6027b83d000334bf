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
import { after, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

type Ending = Pick<TestContext, 'after'>
type Sources = { modules: string; machine: string[] }
type Program = { executablePath: string; env: NodeJS.ProcessEnv }
export type PageOptions = Omit<BrowserContextOptions, 'viewport' | 'proxy'> & { width?: number; height?: number }

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
/** A package of this scope brings fonts for one more script; it only has to be installed. */
const FONT_SCOPE = '@expo-google-fonts'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** `<-loopback>` takes back Chromium's own exceptions, which let link-local addresses past a proxy. */
const LOOPBACK = '<-loopback>,127.0.0.0/8,[::1],localhost,*.localhost'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A proxy sees requests. Names that are only looked up, and WebRTC, must not get out either.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.*, EXCLUDE [::1]',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
]

let current: Promise<Browser> | undefined
let users = 0
let testsEnded = false
let processEnding = false

// Loaded at the top of a test file this is the hook of the whole file: one Chromium serves all its tests.
after(async () => {
  testsEnded = true
  await closeBrowser()
})

/** The Chromium of this test process. It is closed when the file's tests have ended, and cannot leave the machine. */
export async function openBrowser(t: Ending): Promise<Browser> {
  if (processEnding) throw new Error('The process is ending: no browser is opened any more.')
  users += 1
  t.after(async () => {
    users -= 1
    // A test that was registered late runs after the file's own hook.
    if (testsEnded && users === 0) await closeBrowser()
  })
  current ??= launchForProcess()
  return current
}

/**
 * A page in a context of its own. The test fails if anything in it throws uncaught or asks for a host that is not
 * loopback. Start servers first: `t.after` hooks that are registered later do not run when this one fails.
 */
export async function newPage(t: Ending, { width = 1280, height = 800, ...options }: PageOptions = {}): Promise<Page> {
  const browser = await openBrowser(t)
  const troubles = new Set<string>()
  const outside = await refuseOutside((target) => troubles.add(`asked for ${target}, which is not on this machine`))
  const context = await browser.newContext({
    ...options,
    viewport: { width, height },
    proxy: { server: outside.url, bypass: LOOPBACK },
  })
  t.after(async () => {
    // What the page has only just thrown, and rejections that nobody took up, are told at the end of its turn.
    for (const page of context.pages())
      await page.evaluate('new Promise((done) => setTimeout(done, 20))').catch(() => {})
    await context.close()
    outside.close()
    if (troubles.size > 0) throw new Error(`The page\n${[...troubles].map((trouble) => `- ${trouble}`).join('\n')}`)
  })
  context.on('weberror', (event) => troubles.add(`threw ${event.error().stack || event.error().message}`))
  context.on('page', (page) => page.on('crash', () => troubles.add(`crashed at ${page.url()}`)))
  context.setDefaultTimeout(10_000)
  return context.newPage()
}

/** Stands where the rest of the world would be: whatever is not for loopback comes here, whoever in the page sent it. */
async function refuseOutside(onRequest: (target: string) => void) {
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
  for (const signal of SIGNALS) process.off(signal, endOnSignal).once(signal, endOnSignal)
  const launching = launchChromium().then((browser) =>
    // A Chromium that broke down is replaced for the next test.
    browser.once('disconnected', () => {
      if (current === launching) current = undefined
    }),
  )
  return launching
}

async function closeBrowser() {
  for (const signal of SIGNALS) process.off(signal, endOnSignal)
  const closing = current
  current = undefined
  const browser = await closing?.catch(() => undefined)
  await browser?.close()
}

async function endOnSignal(signal: (typeof SIGNALS)[number]) {
  processEnding = true
  await closeBrowser()
  // Whoever else listens has something to finish and ends the process itself.
  if (process.listenerCount(signal) === 0) process.exit(128 + system.signals[signal])
}

/** Starts the Chromium of the npm package, which is the same everywhere, or else one that the machine has. */
export async function launchChromium({ modules, machine }: Sources = { modules: MODULES, machine: onMachine() }) {
  const failures: string[] = []
  for (const source of [() => fromPackage(modules), ...machine.map((path) => () => fromMachine(path))]) {
    try {
      return await chromium.launch({
        ...(await source()),
        args: FLAGS,
        // Nobody listens there; a page that newPage makes has a proxy that tells the test.
        proxy: { server: 'http://127.0.0.1:9', bypass: LOOPBACK },
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      })
    } catch (error) {
      failures.push(String(error))
    }
  }
  const advice =
    'Run `npm ci` with development dependencies, which brings one for Linux on x64; elsewhere install Chromium or ' +
    'Google Chrome (Debian, Ubuntu: `apt-get install chromium`; macOS: `brew install --cask google-chrome`).'
  throw new Error(`Browser tests found no Chromium that starts. ${advice}\n${failures.join('\n')}`)
}

async function fromPackage(modules: string): Promise<Program> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(`@sparticuz/chromium does not run on ${process.platform} ${process.arch}`)
  }
  const folder = await unpackChromium(modules)
  const libraries = [join(folder, 'al2023', 'lib'), process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter)
  const fonts = { FONTCONFIG_FILE: join(folder, 'fonts.conf'), XDG_CACHE_HOME: join(folder, 'cache') }
  return { executablePath: join(folder, 'chromium'), env: { ...process.env, LD_LIBRARY_PATH: libraries, ...fonts } }
}

async function fromMachine(executablePath: string): Promise<Program> {
  // Playwright would make folders for a program that is not there, and leave them.
  await access(executablePath, modes.X_OK)
  return { executablePath, env: process.env }
}

function onMachine(): string[] {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge']
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/opt/google/chrome'].filter(Boolean)
  const applications = ['Google Chrome', 'Chromium', 'Microsoft Edge']
  const paths = [
    ...names.flatMap((name) => folders.map((folder) => join(folder, name))),
    ...applications.map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
  ]
  return [...new Set(paths)].filter((path) => existsSync(path))
}

/**
 * The folder with the unpacked program, its libraries and fonts: once for each version, beside the package. It appears
 * by a rename, complete or not at all, so test processes that unpack at the same time do not meet.
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

/** Where node_modules is read-only: a folder that only this process can have made, gone when it ends. */
async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'attestry-chromium-')))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The package unpacks into the temporary folder and trusts what lies there: in a worker that can be a folder of ours. */
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

/** Only fonts that npm brings, so that pages look the same on every machine. Folders are relative to the file. */
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

/** Earlier versions, and what an unpacking that was killed left behind. */
async function removeOld(cache: string, version: string) {
  const anHourAgo = Date.now() - 3_600_000
  for (const name of await readdir(cache)) {
    const path = join(cache, name)
    const found = await stat(path).catch(() => undefined)
    if (name !== version && found && found.mtimeMs < anHourAgo) await rm(path, { recursive: true, force: true })
  }
}
