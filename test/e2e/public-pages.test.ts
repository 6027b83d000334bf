import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { newPage } from '../browser/browser.ts'
import { checkSizes } from '../browser/check-sizes.ts'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'

const getApp = oncePerFile((t) => startApp(t))

const MAX_PAGE_BYTES = 100 * 1024
const MAX_PICTURE_BYTES = 400 * 1024
/** The smallest width and height of targets in WCAG 2.2, in pixels. Links within sentences are exempt. */
const MIN_TARGET_PX = 24

/** Counts the bytes that a page loads, of pictures and of all other files. */
function countBytes(page: Page) {
  const sizes: Promise<[boolean, number]>[] = []
  page.on('requestfinished', (request) => {
    const isPicture = request.resourceType() === 'image'
    sizes.push(request.sizes().then(({ responseBodySize }) => [isPicture, responseBodySize]))
  })
  return async () => {
    const total = { pictures: 0, others: 0 }
    for (const [isPicture, bytes] of await Promise.all(sizes)) total[isPicture ? 'pictures' : 'others'] += bytes
    return total
  }
}

/** Returns the links and buttons that are smaller than the minimum, except for links within sentences. */
const findSmallTargets = (page: Page) =>
  page.evaluate(`[...document.querySelectorAll('a, button, input, select, summary')]
    .filter((element) => getComputedStyle(element).position !== 'absolute')
    .filter((element) => element.parentElement.textContent.trim() === element.textContent.trim() || !element.matches('li a, p a'))
    .map((element) => [element.textContent.trim(), element.getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 0 && (width < ${MIN_TARGET_PX} || height < ${MIN_TARGET_PX}))
    .map(([name, { width, height }]) => name + ' ' + width + 'x' + height)`)

for (const [name, path] of [
  ['front page', '/'],
  ['overview of the documentation', '/docs'],
  ['page for unknown addresses', '/nothing'],
  ['page for unknown documentation', '/docs/nothing'],
] as const)
  test(`the ${name} is light, accessible and complete without scripts`, async (t) => {
    const { url } = await getApp()
    const page = await newPage(t, { width: 360, height: 800, javaScriptEnabled: false })
    const readBytes = countBytes(page)
    await page.goto(url + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Documentation', exact: false }).first().waitFor({ state: 'attached' })
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    await page.waitForLoadState('networkidle')
    const { pictures, others } = await readBytes()
    assert.ok(others > 0 && others <= MAX_PAGE_BYTES, `${others} bytes`)
    assert.ok(pictures <= MAX_PICTURE_BYTES, `${pictures} bytes of pictures`)
    assert.deepEqual(await findSmallTargets(page), [])
    await page.close()

    const fullPage = await newPage(t)
    await fullPage.goto(url + path)
    await checkSizes(fullPage, name.replaceAll(' ', '-'))
  })

test('the pictures of the front page have a size, a description and a dark variant, and are loaded when they are needed', async (t) => {
  const { url } = await getApp()
  const page = await newPage(t, { width: 360, height: 640, colorScheme: 'dark' })
  await page.goto(url)
  const images = await page.locator('img').all()
  assert.ok(images.length >= 4)
  for (const [index, image] of images.entries()) {
    for (const name of ['alt', 'width', 'height']) assert.ok(await image.getAttribute(name), `${name} of ${index}`)
    assert.equal(await image.getAttribute('loading'), index === 0 ? null : 'lazy')
    await image.scrollIntoViewIfNeeded()
    await image.evaluate((element: any) => element.decode())
    assert.match(await image.evaluate((element: any) => element.currentSrc), /-dark-[\w-]+\.webp$/)
    const isUpright = await image.evaluate((element: any) => element.naturalWidth < element.naturalHeight)
    assert.ok(isUpright, `picture ${index} is one of a phone`)
  }
})

test('an unknown address is a page for people and JSON for programs', async () => {
  const { fetch } = await getApp()
  const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }
  for (const path of ['/nothing', '/console-x', '/assets/nothing.js', '/a%', '/%3Cscript%3Ealert(1)%3C/script%3E']) {
    const { status, headers, body } = await fetch(path, asBrowser)
    assert.equal(status, 404, path)
    assert.match(headers.get('content-type')!, /^text\/html/)
    assert.equal(headers.get('vary'), 'accept, sec-fetch-mode')
    assert.match(headers.get('content-security-policy')!, /^default-src 'none'; style-src 'sha256-/)
    assert.match(body, /<h1>Page not found<\/h1>/)
    assert.ok(body.includes(headers.get('x-request-id')), 'the request ID')
    assert.doesNotMatch(body, /script/)
  }
  for (const [path, init] of [
    ['/nothing', {}],
    ['/nothing', { headers: { accept: 'application/json, text/html;q=0.5' } }],
    ['/.well-known/nothing.json', { headers: { accept: 'text/html, image/gif, image/jpeg, */*; q=.2' } }],
    ['/nothing', { method: 'POST', ...asBrowser }],
    ['/api/v1/partner/nothing', asBrowser],
    ['/api/nothing', asBrowser],
    ['/console/api/nothing', asBrowser],
  ] as const)
    assert.match((await fetch(path, init)).headers.get('content-type')!, /^application\/json/, path)
})
