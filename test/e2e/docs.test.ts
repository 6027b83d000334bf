import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPage } from '../browser/browser.ts'
import { saveScreenshot } from '../browser/screenshots.ts'
import { startApp } from '../support/app.ts'

test('the API reference opens in a browser and shows the three APIs', async (t) => {
  const { url } = await startApp(t)
  const page = await newPage(t, { width: 1280, height: 900 })
  await page.goto(`${url}/docs/api/`)
  await page.getByRole('heading', { name: 'Attestry partner API' }).first().waitFor({ timeout: 30_000 })
  await page.getByText('Lookups').first().waitFor({ timeout: 30_000 })
  const text = (await page.locator('body').textContent()) ?? ''
  for (const title of ['Partner API', 'Lookups']) assert.ok(text.includes(title), title)
  await saveScreenshot(page, 'docs', false)
  await page.getByRole('link', { name: 'Guides and reference' }).click()
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
  assert.equal(new URL(page.url()).pathname, '/docs')
  for (const [slug, title] of [
    ['verification', 'Attestry verification sessions'],
    ['catalogue', 'Attestry skill catalogue'],
  ]) {
    await page.goto(`${url}/docs/api/?api=${slug}`)
    await page.getByRole('heading', { name: title! }).first().waitFor({ timeout: 30_000 })
  }
})

test('the signing recipe fits on a phone screen', async (t) => {
  const { url } = await startApp(t)
  const page = await newPage(t, { width: 360, height: 800 })
  await page.goto(`${url}/docs/api/`)
  const recipe = page.locator('pre').filter({ hasText: /^VFN1/ }).first()
  await recipe.waitFor({ timeout: 30_000 })
  const clippedElementCount = await recipe.evaluate(
    (element: any) =>
      [element, ...element.querySelectorAll('*')].filter(
        (each) => each.clientWidth > 0 && each.scrollWidth > each.clientWidth,
      ).length,
  )
  assert.equal(clippedElementCount, 0, 'no line is clipped')
  assert.match((await recipe.textContent())!, /\{SHA-256 of the body\}\s*$/)
})

test('the script of the reference runs in a sandbox, and inline scripts are allowed by their hashes', async (t) => {
  const { url, fetch } = await startApp(t)
  const [firstPolicy, secondPolicy] = [await fetch('/docs/api/'), await (await startApp(t)).fetch('/docs/api/')].map(
    ({ headers }) => headers.get('content-security-policy')!,
  )
  assert.equal(firstPolicy, secondPolicy, 'the same in every process')
  assert.doesNotMatch(firstPolicy!, /nonce|script-src[^;]*unsafe|allow-same-origin/)
  assert.match(firstPolicy!, /; sandbox allow-scripts/)

  const page = await newPage(t, { width: 1280, height: 900 })
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  await page.goto(`${url}/`)
  await page.evaluate("localStorage.setItem('secret', 'of the console')")
  await page.goto(`${url}/docs/api/`)
  await page.getByText('Lookups').first().waitFor({ timeout: 30_000 })
  assert.deepEqual(errors, [])
  assert.equal(await page.evaluate('origin'), 'null')
  assert.equal(await page.evaluate("localStorage.getItem('secret')"), null)
  const readCookie = '(() => { try { return document.cookie } catch (error) { return error.name } })()'
  assert.equal(await page.evaluate(readCookie), 'SecurityError')
  const callConsole = "fetch('/console/api/session').then(({ status }) => status, (error) => error.name)"
  assert.equal(await page.evaluate(callConsole), 'TypeError')
})

test('the reference serves the OpenAPI descriptions of the three APIs', async (t) => {
  const { fetch } = await startApp(t)
  for (const name of ['partner', 'verification', 'catalogue']) {
    const { status, body } = await fetch(`/docs/openapi/${name}.json`)
    assert.equal(status, 200)
    assert.equal(body.openapi, '3.1.0')
  }
  assert.equal((await fetch('/docs/openapi/secrets.json')).status, 404)
  assert.equal((await fetch('/docs/openapi/..%2fpackage.json')).status, 404)
})
