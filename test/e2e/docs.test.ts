import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from '../browser/axe.ts'
import { newPage } from '../browser/browser.ts'
import { saveScreenshot } from '../browser/screenshots.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'

const MAX_PAGE_BYTES = 100_000

const startSharedApp = oncePerFile((t) => startApp(t))

/** Returns the paths of all pages of the API reference. */
async function referencePaths({ fetch }: TestApp): Promise<string[]> {
  const apis = ['partner', 'verification', 'catalogue'].map((slug) => `/docs/api/?api=${slug}`)
  const paths: string[] = [...apis]
  for (const api of apis) {
    const links = ((await fetch(api)).body as string).matchAll(/href="(\/docs\/api\/[a-z]+\/[a-z-]+)"/g)
    paths.push(...[...links].map(([, path]) => path!))
  }
  return [...new Set(paths)]
}

test('the API reference opens in a browser, leads to an endpoint and back to the guides', async (t) => {
  const { url } = await startSharedApp()
  const page = await newPage(t, { width: 1280, height: 900 })
  await page.goto(`${url}/docs/api/`)
  await page.getByRole('heading', { name: 'Attestry partner API' }).waitFor()
  await saveScreenshot(page, 'docs', false)
  await assertAccessible(page)
  await page.getByRole('link', { name: 'Create a job mandate' }).click()
  await page.getByRole('heading', { name: 'Create a job mandate' }).waitFor()
  assert.equal(new URL(page.url()).hash, '#createMandate')
  const field = page.getByRole('listitem').filter({ has: page.getByText('company_name', { exact: true }) })
  await field.getByText('string, 1 to 200 characters', { exact: false }).first().waitFor()
  await page.getByText('curl', { exact: true }).first().click()
  await page.getByText("path='/api/v1/partner/mandates'").first().waitFor()
  await assertAccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 800 })
  await assertAccessible(page)
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  await page
    .getByRole('link', { name: /^Send a test request/ })
    .nth(1)
    .click()
  await page.getByRole('heading', { name: 'Send a test request' }).waitFor()
  await page.goto(`${url}/docs/api/partner/webhooks`)
  await page.getByRole('heading', { name: 'A candidate completed the conversation, qualified or not' }).waitFor()
  await page.getByRole('link', { name: 'Guides and reference' }).click()
  await page.getByRole('heading', { name: 'API reference' }).waitFor()
})

test('every operation is described once, on a small page without scripts', async () => {
  const app = await startSharedApp()
  const ids: string[] = []
  for (const path of await referencePaths(app)) {
    const slug = /partner|verification|catalogue/.exec(path)![0]
    const response = await fetch(app.url + path, { headers: { 'accept-encoding': 'br' } })
    assert.equal(response.status, 200, path)
    const html = await response.text()
    assert.ok(Number(response.headers.get('content-length')) < MAX_PAGE_BYTES, path)
    assert.doesNotMatch(html, /<script|undefined|\[object Object\]/, path)
    for (const [, id] of html.matchAll(/<h2 id="([a-zA-Z]+)"/g)) ids.push(`${slug} ${id}`)
  }
  for (const slug of ['partner', 'verification', 'catalogue']) {
    const { paths, webhooks = {} } = (await app.fetch(`/docs/openapi/${slug}.json`)).body
    for (const operations of Object.values({ ...paths, ...webhooks }))
      for (const { operationId } of Object.values(operations as Record<string, { operationId: string }>))
        assert.equal(ids.filter((id) => id === `${slug} ${operationId}`).length, 1, operationId)
  }
  for (const path of [
    '/docs/api/partner/nothing',
    '/docs/api/nothing/skills',
    '/docs/api/constructor/skills',
    '/docs/api/nothing',
  ])
    assert.equal((await app.fetch(path)).status, 404, path)
  for (const path of ['/docs/api/verification', '/docs/api/verification/']) {
    const { status, headers } = await app.fetch(path, { redirect: 'manual' })
    assert.deepEqual([status, headers.get('location')], [302, '/docs/api/?api=verification'])
  }
  assert.equal((await app.fetch('/docs/api/?api=nothing')).status, 200)
})

test('the signing recipe fits on a phone screen', async (t) => {
  const { url } = await startSharedApp()
  const page = await newPage(t, { width: 360, height: 800 })
  await page.goto(`${url}/docs/api/`)
  const recipe = page.locator('pre').filter({ hasText: /^VFN1/ }).first()
  await recipe.waitFor()
  const clippedElementCount = await recipe.evaluate(
    (element: any) =>
      [element, ...element.querySelectorAll('*')].filter(
        (each) => each.clientWidth > 0 && each.scrollWidth > each.clientWidth,
      ).length,
  )
  assert.equal(clippedElementCount, 0, 'no line is clipped')
  assert.match((await recipe.textContent())!, /\{SHA-256 of the body\}\s*$/)
})

test('the reference serves the OpenAPI descriptions of the three APIs', async () => {
  const { fetch } = await startSharedApp()
  for (const name of ['partner', 'verification', 'catalogue']) {
    const { status, body } = await fetch(`/docs/openapi/${name}.json`)
    assert.equal(status, 200)
    assert.equal(body.openapi, '3.1.0')
  }
  assert.equal((await fetch('/docs/openapi/secrets.json')).status, 404)
  assert.equal((await fetch('/docs/openapi/..%2fpackage.json')).status, 404)
})
