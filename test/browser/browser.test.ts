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
import { launchChromium, newPage, openBrowser, unpackChromium } from './browser.ts'

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))
const helper = new URL('./browser.ts', import.meta.url).href
const packageRuns = process.platform === 'linux' && process.arch === 'x64'
const linuxOnly = process.platform === 'linux' ? false : 'reads /proc'

const PAGE = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
  <style>body { font: 18px sans-serif; margin: 24px } @media (prefers-color-scheme: dark) { body { background: #111; color: #eee } }</style>
  <h1>Skills, <i>verified</i></h1>
  <p id="latin">A quick brown fox jumps over 13 lazy dogs.</p>
  <p lang="hi"><span id="hindi">हिन्दी</span> में आपका स्वागत है। शुल्क <span id="rupee">₹</span>1,200</p>
  <button onclick="document.querySelector('output').textContent = 'Pressed'">Press</button> <output></output>`

test('a page can be read, clicked and captured as a screenshot', async (t) => {
  const url = await serve(t, { '/': PAGE })
  const folder = await temporaryFolder(t)
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
    assert.deepEqual(pngSize(await readFile(path)), { width, height })
    assert.ok(await isRendered(page, '#latin'), `Latin text shows at ${width}`)
  }
})

test('Hindi is rendered in a font that has its letters', async (t) => {
  if (packageRuns && !existsSync(join(modules, '@expo-google-fonts/noto-sans-devanagari'))) {
    return t.skip('needs @expo-google-fonts/noto-sans-devanagari')
  }
  const page = await newPage(t)
  await page.setContent(PAGE)
  for (const selector of ['#hindi', '#rupee']) {
    assert.ok(await isRendered(page, selector))
    if (packageRuns) assert.deepEqual(await fontsOf(page, selector), ['Noto Sans Devanagari'])
  }
  if (packageRuns) assert.deepEqual(await fontsOf(page, '#latin'), ['Open Sans'])
})

test('a page takes its colour scheme and language from the options', async (t) => {
  const page = await newPage(t, { colorScheme: 'dark', locale: 'hi-IN' })
  await page.goto(await serve(t, { '/': PAGE }))
  assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(17, 17, 17)')
  assert.equal(await page.evaluate('navigator.language'), 'hi-IN')
})

test('all tests of a file share one Chromium', async (t) => {
  const browser = await openBrowser(t)
  const page = await newPage(t)
  assert.equal(page.context().browser(), browser)
})

test('a crashed Chromium is replaced', async (t) => {
  const crashed = await openBrowser(t)
  await crashed.close()
  const browser = await openBrowser(t)
  assert.notEqual(browser, crashed)
  assert.ok(browser.isConnected())
})

test('requests to other hosts are rejected and fail the test, wherever they come from', async (t) => {
  const url = await serve(t, {
    '/': `<!doctype html><link rel="stylesheet" href="http://style.invalid/a.css"><img src="https://picture.invalid/b.png">`,
    '/redirect': { location: 'http://redirect.invalid/' },
    '/worker.js': `fetch('http://worker.invalid/').catch(() => postMessage('rejected'))`,
  })
  const cleanups = new CleanupList()
  const page = await newPage(cleanups)
  await page.goto(url)
  const fetched = (target: string) => page.evaluate(`fetch('${target}').then(() => 'responded', () => 'rejected')`)
  assert.equal(await fetched('http://169.254.1.1/'), 'rejected')
  assert.equal(await fetched('http://192.0.2.1:8080/'), 'rejected')
  assert.equal(await fetched('http://[2001:db8::1]/'), 'rejected')
  assert.equal(await fetched('/redirect'), 'rejected')
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

test('all loopback names work', async (t) => {
  const url = await serve(t, { '/': PAGE })
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
  const folder = await temporaryFolder(t)
  const file = join(folder, 'failing.test.mjs')
  await writeFile(
    file,
    `import { test } from 'node:test'
    import { newPage } from '${helper}'
    test('throws', async (t) => {
      await (await newPage(t)).setContent('<script>throw new TypeError("from the page")</script>')
    })
    test('rejects', async (t) => {
      await (await newPage(t)).setContent('<script>Promise.reject(new RangeError("unhandled"))</script>')
    })
    test('leaves the machine', async (t) => {
      await (await newPage(t)).setContent('<img src="http://picture.invalid/">')
    })
    test('is fine', async (t) => {
      await (await newPage(t)).setContent('<p>Fine</p>')
    })
    await new Promise((done) => setTimeout(done, 300))
    test('is late', async (t) => {
      await (await newPage(t)).setContent('<p>Late</p>')
    })`,
  )
  const run = start(t, ['--test', '--test-reporter=tap', file])
  const [output] = await Promise.all([text(run.stdout!), once(run, 'exit')])
  assert.equal(run.exitCode, 1)
  for (const line of [
    'not ok 1 - throws',
    'not ok 2 - rejects',
    'not ok 3 - leaves the machine',
    'ok 4 - is fine',
    'ok 5 - is late',
  ]) {
    assert.match(output, new RegExp(`^ *${line}`, 'm'))
  }
  for (const cause of ['TypeError: from the page', 'RangeError: unhandled', 'requested http://picture.invalid/']) {
    assert.ok(output.includes(cause), cause)
  }
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
  test(`no Chromium is left after ${signal} to the test process`, { skip: linuxOnly }, async (t) => {
    const folder = await temporaryFolder(t)
    const code = `import { newPage } from '${helper}'
      await newPage({ after() {} })
      process.stdout.write('open')`
    const run = start(t, ['--input-type=module', '--eval', code], { TMPDIR: folder })
    await once(run.stdout!, 'data')
    const family = descendants(run.pid!)
    assert.ok(family.length > 1, 'Chromium runs in several processes')

    const exit = once(run, 'exit')
    run.kill(signal)
    await exit
    await until(() => !family.some(isRunning))
    if (signal !== 'SIGKILL') assert.deepEqual(await readdir(folder), [], 'nothing is left in the temporary folder')
  })
}

test('concurrent unpacking creates one complete folder', async (t) => {
  const fake = await packageWithTinyProgram(t)
  const folders = await Promise.all([1, 2, 3].map(() => unpackChromium(fake)))
  assert.equal(new Set(folders).size, 1)
  assert.equal(await readFile(join(folders[0]!, 'chromium'), 'utf8'), 'tiny')
  assert.deepEqual(await readdir(dirname(folders[0]!)), [basename(folders[0]!)])
  assert.ok(existsSync(join(folders[0]!, 'al2023/lib/libnss3.so')))
})

test('a truncated archive leaves no folder behind', async (t) => {
  const fake = await packageWithTinyProgram(t)
  const archive = join(fake, '@sparticuz/chromium/bin/fonts.tar.br')
  await writeFile(archive, (await readFile(archive)).subarray(0, 5_000))
  await assert.rejects(unpackChromium(fake))
  assert.deepEqual(await readdir(join(fake, '.cache/attestry-chromium')), [])
})

test('with a read-only node_modules, each call unpacks into a temporary folder', async (t) => {
  const fake = await packageWithTinyProgram(t)
  await writeFile(join(fake, '.cache'), 'a file, so that no folder can be created here')
  const folders = [await unpackChromium(fake), await unpackChromium(fake)]
  for (const folder of folders) t.after(() => rm(folder, { recursive: true }))
  assert.notEqual(folders[0], folders[1])
  assert.equal(await readFile(join(folders[1]!, 'chromium'), 'utf8'), 'tiny')
})

test('without the package, an installed Chromium is used', {
  skip: !packageRuns && 'needs the package',
}, async (t) => {
  const folder = await temporaryFolder(t)
  const unpacked = await unpackChromium(modules)
  const installed = join(folder, 'chromium')
  const script = `#!/bin/sh\nexport LD_LIBRARY_PATH='${unpacked}/al2023/lib'\nexec '${unpacked}/chromium' "$@"\n`
  await writeFile(installed, script, { mode: 0o755 })
  const browser = await launchChromium({ modules: folder, installed: [join(folder, 'broken'), installed] })
  t.after(() => browser.close())
  assert.match(browser.version(), /^\d+\./)
})

test('without any Chromium, the error explains what to install and what was tried', async (t) => {
  const folder = await temporaryFolder(t)
  const none = launchChromium({ modules: folder, installed: [join(folder, 'broken')] })
  await assert.rejects(none, ({ message }: Error) => {
    for (const part of ['npm ci', 'apt-get install chromium', '@sparticuz/chromium', join(folder, 'broken')]) {
      assert.ok(message.includes(part), `${part} is missing in: ${message}`)
    }
    return true
  })
})

async function serve(t: Cleanup, responses: Record<string, string | { location: string }>): Promise<string> {
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

async function temporaryFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-browser-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

function start(t: Cleanup, args: string[], extra: NodeJS.ProcessEnv = {}): ChildProcess {
  // Without this variable, the nested run reports in the format of its reporter.
  const { NODE_TEST_CONTEXT: _, ...env } = { ...process.env, ...extra }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => void child.kill('SIGKILL'))
  return child
}

function descendants(parent: number): number[] {
  const children = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && statusOf(pid)?.parent === parent)
  return children.flatMap((pid) => [pid, ...descendants(pid)])
}

function isRunning(pid: number): boolean {
  const status = statusOf(pid)
  return status !== undefined && status.state !== 'Z'
}

function statusOf(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}

function pngSize(png: Buffer) {
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20) }
}

/** Whether text is visible: a screenshot with transparent text must be different. */
async function isRendered(page: Page, selector: string): Promise<boolean> {
  const element = page.locator(selector)
  const withText = await element.screenshot()
  const withoutText = await element.screenshot({ style: '* { color: transparent !important }' })
  return !withText.equals(withoutText)
}

async function fontsOf(page: Page, selector: string): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  await session.send('DOM.enable')
  await session.send('CSS.enable')
  const { root } = await session.send('DOM.getDocument')
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  const { fonts } = await session.send('CSS.getPlatformFontsForNode', { nodeId })
  return [...new Set(fonts.map((font) => font.familyName))].sort()
}

/** Creates a node_modules with the real package but a tiny program, which unpacks quickly. */
async function packageWithTinyProgram(t: Cleanup): Promise<string> {
  const folder = join(await temporaryFolder(t), 'node_modules')
  const real = join(modules, '@sparticuz/chromium')
  const fake = join(folder, '@sparticuz/chromium')
  await mkdir(join(fake, 'bin'), { recursive: true })
  await symlink(join(real, 'build'), join(fake, 'build'))
  for (const file of ['package.json', 'bin/fonts.tar.br', 'bin/al2023.tar.br'])
    await cp(join(real, file), join(fake, file))
  await writeFile(join(fake, 'bin/chromium.br'), brotliCompressSync('tiny'))
  return folder
}
