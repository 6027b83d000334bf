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
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { chromium } from 'playwright-core'
import { CHROMIUM_ADVICE, hasPackagedChromium, installedBrowsers } from './find-chromium.ts'

type ChromiumSources = { modules: string; installed: string[] }
type ChromiumProgram = { executablePath: string; env: NodeJS.ProcessEnv }

const MODULES_FOLDER = fileURLToPath(new URL('../../node_modules', import.meta.url))
/** Each installed npm package of this scope adds the fonts of one writing system. */
const FONT_SCOPE = '@expo-google-fonts'
/** `<-loopback>` removes Chromium's implicit exceptions, which let link-local addresses bypass a proxy. */
export const PROXY_BYPASS = '<-loopback>,127.0.0.0/8,[::1],localhost,*.localhost'
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
  if (process.platform !== 'linux') return { executablePath, env: process.env }
  const fontsConf = join(await createTemporaryFolder(), 'fonts.conf')
  await writeFile(fontsConf, renderExtraFontsConf(join(MODULES_FOLDER, FONT_SCOPE)))
  return { executablePath, env: { ...process.env, FONTCONFIG_FILE: fontsConf } }
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

/** Returns a fontconfig file with the fonts of this machine, and those from npm packages for writing systems that it may lack. */
function renderExtraFontsConf(extraFontsFolder: string) {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${extraFontsFolder}</dir>
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
