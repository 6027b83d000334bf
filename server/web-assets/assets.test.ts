import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync } from 'node:zlib'
import { request } from 'undici'
import { newPage } from '../../test/browser/browser.ts'
import { startApp } from '../../test/support/app.ts'
import { jsonBlock } from './assets.ts'

test('the start page links to the console, the API reference and a first campaign', async (t) => {
  const { url } = await startApp(t)
  const page = await newPage(t, { width: 1280, height: 900 })
  await page.goto(url)
  await page.getByRole('heading', { name: 'Verify what people can do' }).waitFor()
  for (const name of ['Open the console', 'API reference', 'Run a first campaign', 'Status of this server'])
    assert.equal(await page.getByRole('link', { name }).count(), 1, name)
})

test('assets are served compressed and immutable, and only built files are served', async (t) => {
  const { url, fetch } = await startApp(t)
  const page = await fetch('/verify/SV_x')
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.body)![1]!
  const response = await request(url + script, { headers: { 'accept-encoding': 'gzip, br' } })
  assert.equal(response.headers['content-encoding'], 'br')
  assert.match(String(response.headers['cache-control']), /immutable/)
  assert.match(brotliDecompressSync(Buffer.from(await response.body.arrayBuffer())).toString(), /endorse/)
  for (const path of [
    '/assets/../built.txt',
    '/assets/%2e%2e%2fbuilt.txt',
    '/assets/nothing.js',
    '/assets/built.txt',
  ]) {
    assert.equal((await fetch(path)).status, 404, path)
  }
})

test('a page loads only files of its own server, and no other page can embed it', async (t) => {
  const { fetch } = await startApp(t)
  const { headers } = await fetch('/verify/SV_x')
  assert.deepEqual(headers.get('content-security-policy')!.split('; ').sort(), [
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "font-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "manifest-src 'self'",
    "script-src 'self'",
    "style-src 'self'",
    "worker-src 'self'",
  ])
  for (const [name, value] of [
    ['referrer-policy', 'no-referrer'],
    ['x-frame-options', 'DENY'],
    ['cross-origin-opener-policy', 'same-origin'],
    ['permissions-policy', 'camera=(), geolocation=(), payment=()'],
    ['cache-control', 'no-store'],
  ])
    assert.equal(headers.get(name!), value, name)
})

test('a value in a JSON block cannot close the script element', () => {
  const block = jsonBlock('state', { text: '</script><script>alert(1)</script>' })
  assert.equal(block.match(/<\/script>/g)!.length, 1)
  assert.equal(
    JSON.parse(block.slice(block.indexOf('>') + 1, -'</script>'.length)).text,
    '</script><script>alert(1)</script>',
  )
})
