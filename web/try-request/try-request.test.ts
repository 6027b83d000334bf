import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from '../../test/browser/axe.ts'
import { newPage, type PageOptions } from '../../test/browser/browser.ts'
import { saveScreenshot } from '../../test/browser/screenshots.ts'
import { startApp, type TestApp } from '../../test/support/app.ts'
import { type Cleanup, oncePerFile } from '../../test/support/cleanup.ts'
import { createPartner } from '../../test/support/partners.ts'
import { WIRING } from '../../test/support/verification.ts'

const getApp = oncePerFile((t) => startApp(t))

const send = (page: Page) => page.getByRole('button', { name: 'Send the request' }).click()
const statusOf = (page: Page) => page.locator('.status').innerText()
const responseBody = async (page: Page) =>
  JSON.parse(await page.getByRole('region', { name: 'Response body' }).innerText())

/** Opens a page with the time of the server, because signatures are valid for five minutes. */
async function newPageAtServerTime(t: Cleanup, app: TestApp, options: PageOptions = {}): Promise<Page> {
  const page = await newPage(t, options)
  await page.clock.setFixedTime(app.clock.now())
  return page
}

async function enterKey(page: Page, key: { keyId: string; secret: string }) {
  await page.getByLabel('Key ID').fill(key.keyId)
  await page.getByLabel('Secret').fill(key.secret)
}

async function choose(page: Page, api: string, operation: string) {
  await page.getByLabel('API', { exact: true }).selectOption({ label: api })
  await page.getByLabel('Operation').selectOption({ label: operation })
}

test('a signed request of the partner API, from the first click in the documentation to the response', async (t) => {
  const app = await getApp()
  const { key, get } = await createPartner(app, 'test')
  const page = await newPageAtServerTime(t, app, { width: 320, height: 700, colorScheme: 'dark' })
  await page.goto(`${app.url}/docs`)
  await page.getByRole('link', { name: 'Send a test request', exact: true }).click()
  await page.getByRole('heading', { name: 'Send a test request' }).waitFor()
  await page.getByLabel('Operation').waitFor()

  await send(page)
  await page.getByText('Enter a TEST key, which starts with VFN_TEST_.').waitFor()
  await assertAccessible(page)
  await enterKey(page, key)
  await send(page)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  assert.equal(await statusOf(page), '200 OK')
  assert.deepEqual((await responseBody(page)).data, (await get('/shifts')).body.data)
  await page.getByText('Response headers').click()
  assert.match(
    await page.getByRole('region', { name: 'Response headers' }).innerText(),
    /ratelimit-remaining: \d+[\s\S]*x-request-id: req_/,
  )
  await page.getByText('Text that was signed').click()
  assert.match(
    await page.getByRole('region', { name: 'Text that was signed' }).innerText(),
    /^VFN1\n\d+\nGET\n\/api\/v1\/partner\/shifts\n\n\n[0-9a-f]{64}$/,
  )
  await assertAccessible(page)
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'))
  await saveScreenshot(page, 'try-request-phone-dark')

  await page.goto(`${app.url}/docs/try?api=partner&operation=createCampaign`)
  const firstKey = await page.getByLabel('Idempotency-Key').inputValue()
  assert.match(firstKey, /\S{16}/)
  assert.ok((await page.locator('.hint code, p.small code').count()) > 0)
  assert.doesNotMatch(await page.locator('main').innerText(), /`/, 'backticks enclose code')
  await page.reload()
  assert.notEqual(await page.getByLabel('Idempotency-Key').inputValue(), firstKey, 'each visit has its own key')

  // A body, a query and an idempotency key are part of the signature too.
  await page.getByLabel('Operation').selectOption({ label: 'Create a workflow' })
  await page.getByLabel('Body (JSON)').fill('{"name": "बिजली"')
  await send(page)
  await page.getByText('The body is not valid JSON').waitFor()
  await page.getByLabel('Body (JSON)').fill('{"name": "बिजली"}')
  await page.getByLabel('Idempotency-Key').fill('try-1')
  await page.getByLabel('x-on-behalf-of').fill('asha')
  await send(page)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  assert.equal(await statusOf(page), '201 Created')
  await page.getByLabel('Operation').selectOption({ label: 'Search skills by name' })
  await page.getByLabel('q', { exact: true }).fill('house wiring & बिजली')
  await send(page)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  assert.equal(await statusOf(page), '200 OK')
})

test('the examples of the session API and of the catalogue are accepted', async (t) => {
  const app = await getApp()
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createSessionKey(orgId, 'test')
  const page = await newPageAtServerTime(t, app)
  await page.goto(`${app.url}/docs/try?api=verification`)
  await page.getByLabel('Session key').fill(key)
  await send(page)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  assert.equal(await statusOf(page), '201 Created')
  const { sessionToken } = (await responseBody(page)).data

  // The page continues with the session that it opened.
  await page.getByLabel('Operation').selectOption({ label: 'Search skills' })
  assert.equal(await page.getByLabel('Session token').inputValue(), sessionToken)
  await page.getByLabel('q', { exact: true }).fill('wiring')
  await send(page)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  assert.equal(await statusOf(page), '200 OK')
  assert.ok((await responseBody(page)).data.skills.some(({ skillId }: { skillId: string }) => skillId === WIRING))

  await choose(page, 'Skill catalogue', 'Search skills by name')
  assert.equal(await page.getByRole('heading', { name: 'TEST credentials' }).count(), 0)
  await send(page)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  assert.equal(await statusOf(page), '200 OK')
  assert.ok((await responseBody(page)).data.length > 0)
  // The operations of the operator need a key that is not for TEST data only.
  assert.equal(await page.getByRole('option', { name: 'Get catalogue totals' }).count(), 0)
})

test('LIVE keys are rejected before anything is sent or stored', async (t) => {
  const app = await getApp()
  const { key } = await createPartner(app, 'live')
  const page = await newPageAtServerTime(t, app)
  const sent: string[] = []
  page.on('request', (request) => sent.push(new URL(request.url()).pathname))
  await page.goto(`${app.url}/docs/try?api=partner&operation=listShifts`)
  await page.getByLabel('Operation').waitFor()
  await enterKey(page, key)
  await send(page)
  await page.getByText('This is a LIVE key. This page sends TEST requests only').waitFor()
  assert.deepEqual(
    sent.filter((path) => path.startsWith('/api/')),
    [],
  )
  assert.equal(await page.evaluate('sessionStorage.length + localStorage.length'), 0)
  assert.ok(!(await page.content()).includes(key.secret))
})

test('credentials are stored in the tab only, and the secret is not sent', async (t) => {
  const app = await getApp()
  const { key } = await createPartner(app, 'test')
  const page = await newPageAtServerTime(t, app)
  const sent: string[] = []
  page.on('request', (request) => sent.push(request.url(), JSON.stringify(request.headers()), request.postData() ?? ''))
  await page.goto(`${app.url}/docs/try?api=partner&operation=getCredits`)
  await page.getByLabel('Operation').waitFor()
  await enterKey(page, key)
  await page.reload()
  await page.getByLabel('Operation').waitFor()
  assert.equal(await page.getByLabel('Secret').inputValue(), key.secret)
  await send(page)
  await page.getByRole('heading', { name: 'Response' }).waitFor()
  assert.equal(await statusOf(page), '200 OK')
  assert.equal(await page.evaluate('localStorage.length'), 0)
  assert.ok(!page.url().includes('VFN_'))
  assert.ok(!sent.join('\n').includes(key.secret))
  const otherPage = await newPage(t)
  await otherPage.goto(page.url())
  assert.equal(await otherPage.getByLabel('Secret').inputValue(), '')
})
