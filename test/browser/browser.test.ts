import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { type Cleanup, CleanupList } from '../support/cleanup.ts'
import { until } from '../support/until.ts'
import { newPage, openBrowser } from './browser.ts'
import { launchChromium, unpackChromium } from './chromium.ts'

const modulesFolder = fileURLToPath(new URL('../../node_modules', import.meta.url))
const browserModuleUrl = new URL('./browser.ts', import.meta.url).href
const hasPackage = process.platform === 'linux' && process.arch === 'x64'
const skipUnlessLinux = process.platform === 'linux' ? false : 'reads /proc'

const PAGE_HTML = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
  <style>body { font: 18px sans-serif; margin: 24px } @media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }</style>
  <h1>Skills, <i>verified</i></h1>
  <p id="latin">A quick brown fox jumps over 13 lazy dogs.</p>
  <p lang="hi"><span id="hindi">हिन्दी</span> में आपका स्वागत है। शुल्क <span id="rupee">₹</span>1,200</p>
  <button onclick="document.querySelector('output').textContent = 'Pressed'">Press</button> <output></output>`

test('a page can be read, clicked and captured as a screenshot', async (t) => {
  const url = await startServer(t, { '/': PAGE_HTML })
  const folder = await createTemporaryFolder(t)
  for (const [width, height] of [
    [360, 740],
    [1280, 800],
  ] as const) {
    const page = await newPage(t, { width, height })
    await page.goto(url)
    assert.equal(await page.locator('h1').textContent(), 'Skills, verified')
    await page.getByRole('button', { name: 'Press' }).click()
    assert.equal(await page.locator('output').textContent(), 'Pressed')

    const path = join(folder, `${width}.png`)
    await page.screenshot({ path })
    assert.deepEqual(readPngSize(await readFile(path)), { width, height })
    assert.ok(await isRendered(page, '#latin'), `Latin text is rendered at a width of ${width}`)
  }
})

test('Hindi is rendered in a font that has its letters', async (t) => {
  if (hasPackage && !existsSync(join(modulesFolder, '@expo-google-fonts/noto-sans-devanagari'))) {
    return t.skip('needs @expo-google-fonts/noto-sans-devanagari')
  }
  const page = await newPage(t)
  await page.setContent(PAGE_HTML)
  for (const selector of ['#hindi', '#rupee']) {
    assert.ok(await isRendered(page, selector))
    if (hasPackage) assert.deepEqual(await getRenderedFonts(page, selector), ['Noto Sans Devanagari'])
  }
  if (hasPackage) assert.deepEqual(await getRenderedFonts(page, '#latin'), ['Open Sans'])
})

test('a page takes its colour scheme and language from the options', async (t) => {
  const page = await newPage(t, { colorScheme: 'dark', locale: 'hi-IN' })
  await page.goto(await startServer(t, { '/': PAGE_HTML }))
  assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(17, 17, 17)')
  assert.equal(await page.evaluate('navigator.language'), 'hi-IN')
})

test('all tests of a file share one Chromium', async (t) => {
  const browser = await openBrowser(t)
  const page = await newPage(t)
  assert.equal(page.context().browser(), browser)
})

test('a crashed Chromium is replaced', async (t) => {
  const crashedBrowser = await openBrowser(t)
  await crashedBrowser.close()
  const browser = await openBrowser(t)
  assert.notEqual(browser, crashedBrowser)
  assert.ok(browser.isConnected())
})

test('requests to other hosts are rejected and fail the test, also from redirects, workers and sockets', async (t) => {
  const url = await startServer(t, {
    '/': `<!doctype html><link rel="stylesheet" href="http://style.invalid/a.css"><img src="https://picture.invalid/b.png">`,
    '/redirect': { location: 'http://redirect.invalid/' },
    '/worker.js': `fetch('http://worker.invalid/').catch(() => postMessage('rejected'))`,
  })
  const cleanups = new CleanupList()
  const page = await newPage(cleanups)
  await page.goto(url)
  const fetchInPage = (target: string) => page.evaluate(`fetch('${target}').then(() => 'responded', () => 'rejected')`)
  assert.equal(await fetchInPage('http://169.254.1.1/'), 'rejected')
  assert.equal(await fetchInPage('http://192.0.2.1:8080/'), 'rejected')
  assert.equal(await fetchInPage('http://[2001:db8::1]/'), 'rejected')
  assert.equal(await fetchInPage('/redirect'), 'rejected')
  await page.evaluate(`new Promise((done) => { new WebSocket('ws://socket.invalid/').onerror = done })`)
  await page.evaluate(`new Promise((done) => { new Worker('/worker.js').onmessage = done })`)
  await assert.rejects(page.goto('http://page.invalid/'))
  await assert.rejects(cleanups.run(), ({ message }: Error) => {
    const hosts = ['style', 'picture', 'redirect', 'worker', 'socket', 'page'].map((name) => `${name}.invalid`)
    for (const host of [...hosts, '169.254.1.1', '192.0.2.1:8080', '[2001:db8::1]']) {
      assert.ok(message.includes(host), `${host} is missing in: ${message}`)
    }
    return true
  })
})

test('violations of the Content-Security-Policy fail the test', async (t) => {
  const violations = {
    script: '<script>document.title = "run"</script>',
    handler: '<img src="data:," onerror="document.title = 1">',
    style: '<p style="color: red">text</p>',
    image: '<img src="/picture.png">',
    frame: '<iframe src="/frame"></iframe>',
    request: '<script src="/request.js"></script>',
  }
  const policy = `<meta http-equiv="content-security-policy" content="default-src 'none'; img-src data:; script-src 'self'">`
  const pages = Object.entries(violations).map(([name, html]) => [`/${name}`, `<!doctype html>${policy}${html}`])
  const url = await startServer(t, {
    ...Object.fromEntries(pages),
    '/allowed': `<!doctype html>${policy}<img src="data:,">`,
    '/request.js': `fetch('/anything').catch(() => {})`,
  })
  for (const name of Object.keys(violations)) {
    const cleanups = new CleanupList()
    await (await newPage(cleanups)).goto(url + name)
    await assert.rejects(cleanups.run(), /violated its policy: .*Content Security Policy/, name)
  }
  await (await newPage(t)).goto(`${url}allowed`)
})

test('pages on all loopback host names open', async (t) => {
  const url = await startServer(t, { '/': PAGE_HTML })
  const page = await newPage(t)
  for (const host of ['127.0.0.1', 'localhost', 'org.localhost']) {
    await page.goto(url.replace('127.0.0.1', host))
    assert.equal(await page.locator('h1').textContent(), 'Skills, verified')
  }
})

test('a page opened without newPage cannot reach other hosts either', async (t) => {
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  t.after(() => page.close())
  await assert.rejects(page.goto('http://page.invalid/'), /ERR_PROXY_CONNECTION_FAILED/)
})

test('WebRTC does not bypass the proxy', async (t) => {
  const page = await newPage(t)
  const candidates = await page.evaluate(`new Promise((done) => {
    const found = []
    const connection = new RTCPeerConnection()
    connection.onicecandidate = ({ candidate }) => (candidate ? found.push(candidate.candidate) : done(found))
    connection.createDataChannel('any')
    connection.setLocalDescription()
  })`)
  assert.deepEqual(candidates, [])
})

test('the test runner reports tests with page errors as failed, and exits', async (t) => {
  const folder = await createTemporaryFolder(t)
  const file = join(folder, 'failing.test.mjs')
  await writeFile(
    file,
    `import { test } from 'node:test'
    import { newPage } from '${browserModuleUrl}'
    test('throws', async (t) => {
      await (await newPage(t)).setContent('<script>throw new TypeError("from the page")</script>')
    })
    test('rejects', async (t) => {
      await (await newPage(t)).setContent('<script>Promise.reject(new RangeError("unhandled"))</script>')
    })
    test('requests another host', async (t) => {
      await (await newPage(t)).setContent('<img src="http://picture.invalid/">')
    })
    test('passes', async (t) => {
      await (await newPage(t)).setContent('<p>Fine</p>')
    })
    await new Promise((done) => setTimeout(done, 300))
    test('is registered late', async (t) => {
      await (await newPage(t)).setContent('<p>Late</p>')
    })`,
  )
  const testRun = startNode(t, ['--test', '--test-reporter=tap', file])
  const [output] = await Promise.all([text(testRun.stdout!), once(testRun, 'exit')])
  assert.equal(testRun.exitCode, 1)
  for (const line of [
    'not ok 1 - throws',
    'not ok 2 - rejects',
    'not ok 3 - requests another host',
    'ok 4 - passes',
    'ok 5 - is registered late',
  ]) {
    assert.match(output, new RegExp(`^ *${line}`, 'm'))
  }
  for (const cause of ['TypeError: from the page', 'RangeError: unhandled', 'requested http://picture.invalid/']) {
    assert.ok(output.includes(cause), cause)
  }
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
  test(`no Chromium is left after ${signal} to the test process`, { skip: skipUnlessLinux }, async (t) => {
    const folder = await createTemporaryFolder(t)
    const code = `import { newPage } from '${browserModuleUrl}'
      await newPage({ after() {} })
      process.stdout.write('open')`
    const testProcess = startNode(t, ['--input-type=module', '--eval', code], { TMPDIR: folder })
    await once(testProcess.stdout!, 'data')
    const chromiumPids = findDescendants(testProcess.pid!)
    assert.ok(chromiumPids.length > 1, 'Chromium runs in several processes')

    const exit = once(testProcess, 'exit')
    testProcess.kill(signal)
    await exit
    await until(() => !chromiumPids.some(isRunning))
    if (signal !== 'SIGKILL') assert.deepEqual(await readdir(folder), [], 'nothing is left in the temporary folder')
  })
}

test('concurrent unpacking creates one complete folder', async (t) => {
  const fakeModules = await createFakeModules(t)
  const folders = await Promise.all([1, 2, 3].map(() => unpackChromium(fakeModules)))
  assert.equal(new Set(folders).size, 1)
  assert.equal(await readFile(join(folders[0]!, 'chromium'), 'utf8'), 'tiny')
  assert.deepEqual(await readdir(dirname(folders[0]!)), [basename(folders[0]!)])
  assert.ok(existsSync(join(folders[0]!, 'al2023/lib/libnss3.so')))
})

test('a truncated archive leaves no folder behind', async (t) => {
  const fakeModules = await createFakeModules(t)
  const archive = join(fakeModules, '@sparticuz/chromium/bin/fonts.tar.br')
  await writeFile(archive, (await readFile(archive)).subarray(0, 5_000))
  await assert.rejects(unpackChromium(fakeModules))
  assert.deepEqual(await readdir(join(fakeModules, '.cache/attestry-chromium')), [])
})

test('with a read-only node_modules, each call unpacks into a temporary folder', async (t) => {
  const fakeModules = await createFakeModules(t)
  await writeFile(join(fakeModules, '.cache'), 'a file, so that no folder can be created here')
  const folders = [await unpackChromium(fakeModules), await unpackChromium(fakeModules)]
  for (const folder of folders) t.after(() => rm(folder, { recursive: true }))
  assert.notEqual(folders[0], folders[1])
  assert.equal(await readFile(join(folders[1]!, 'chromium'), 'utf8'), 'tiny')
})

test('without the package, an installed Chromium is used', {
  skip: !hasPackage && 'needs the package',
}, async (t) => {
  const folder = await createTemporaryFolder(t)
  const unpackedFolder = await unpackChromium(modulesFolder)
  const installedProgram = join(folder, 'chromium')
  const script = `#!/bin/sh\nexport LD_LIBRARY_PATH='${unpackedFolder}/al2023/lib'\nexec '${unpackedFolder}/chromium' "$@"\n`
  await writeFile(installedProgram, script, { mode: 0o755 })
  const browser = await launchChromium({ modules: folder, installed: [join(folder, 'broken'), installedProgram] })
  t.after(() => browser.close())
  assert.match(browser.version(), /^\d+\./)
})

test('without any Chromium, the error lists what to install and the paths that were tried', async (t) => {
  const folder = await createTemporaryFolder(t)
  const launch = launchChromium({ modules: folder, installed: [join(folder, 'broken')] })
  await assert.rejects(launch, ({ message }: Error) => {
    for (const part of ['npm ci', 'apt-get install chromium', '@sparticuz/chromium', join(folder, 'broken')]) {
      assert.ok(message.includes(part), `${part} is missing in: ${message}`)
    }
    return true
  })
})

async function startServer(t: Cleanup, responses: Record<string, string | { location: string }>): Promise<string> {
  const server = createServer((request, response) => {
    const body = responses[request.url ?? ''] ?? ''
    if (typeof body === 'object') return response.writeHead(302, body).end()
    response.setHeader('content-type', request.url?.endsWith('.js') ? 'text/javascript' : 'text/html')
    response.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function createTemporaryFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-browser-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function startNode(t: Cleanup, args: string[], extraEnv: NodeJS.ProcessEnv = {}): ChildProcess {
  // NODE_TEST_CONTEXT would make the nested test run ignore its --test-reporter option.
  const { NODE_TEST_CONTEXT: _, ...env } = { ...process.env, ...extraEnv }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => void child.kill('SIGKILL'))
  return child
}

function findDescendants(parentPid: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && readProcessStatus(pid)?.parent === parentPid)
  return children.flatMap((pid) => [pid, ...findDescendants(pid)])
}

function isRunning(pid: number): boolean {
  const status = readProcessStatus(pid)
  return status !== undefined && status.state !== 'Z'
}

function readProcessStatus(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

function readPngSize(png: Buffer) {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

/** Whether the text of an element is visible: a screenshot with transparent text must look different. */
async function isRendered(page: Page, selector: string): Promise<boolean> {
  const element = page.locator(selector)
  const withText = await element.screenshot()
  const withoutText = await element.screenshot({ style: '* { color: transparent !important }' })
  return !withText.equals(withoutText)
}

async function getRenderedFonts(page: Page, selector: string): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId })
  return [...new Set(fonts.map((font) => font.familyName))].sort()
}

/**
 * Creates a node_modules folder with the Chromium package, in which a tiny file replaces the program, so that it unpacks
 * quickly.
 */
async function createFakeModules(t: Cleanup): Promise<string> {
  const folder = join(await createTemporaryFolder(t), 'node_modules')
  const realPackage = join(modulesFolder, '@sparticuz/chromium')
  const fakePackage = join(folder, '@sparticuz/chromium')
  await mkdir(join(fakePackage, 'bin'), { recursive: true })
  await symlink(join(realPackage, 'build'), join(fakePackage, 'build'))
  for (const file of ['package.json', 'bin/fonts.tar.br', 'bin/al2023.tar.br'])
    await cp(join(realPackage, file), join(fakePackage, file))
  await writeFile(join(fakePackage, 'bin/chromium.br'), brotliCompressSync('tiny'))
  return folder
}
