import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, getButton, getDialog, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'

test('the request log shows a failed call and why its signature does not match', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  const key = await app.fixtures.createPartnerKey(orgId, { mode: 'test' })
  await app.as(key).get('/shifts')
  await app.as(key).get('/workflows', { headers: { 'x-timestamp': String(Math.floor(app.clock.now() / 1000) - 999) } })
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/requests`)
  await page.getByRole('cell', { name: 'GET /api/v1/partner/shifts' }).waitFor()
  await page.getByLabel('Show').selectOption('Failed calls')
  await page.getByRole('cell', { name: 'GET /api/v1/partner/shifts' }).waitFor({ state: 'detached' })
  await checkPage(page, 'requests')
  await page.setViewportSize({ width: 360, height: 800 })
  const card = page.getByRole('row', { name: /workflows/ })
  const [title, response] = await Promise.all([
    card.getByRole('cell', { name: 'GET /api/v1/partner/workflows' }).boundingBox(),
    card.getByRole('cell', { name: '401 UNAUTHORIZED' }).boundingBox(),
  ])
  assert.ok(title!.y + title!.height <= response!.y, 'a card shows the call above the response')
  assert.ok(title!.width > 300)
  await checkPage(page, 'requests-360')
  await getButton(page, 'Show the expected string').click()
  await getDialog(page)
    .getByText(/999 seconds behind/)
    .waitFor()
  await getDialog(page).getByText(/VFN1/).waitFor()
  await checkPage(page, 'requests-signature-mismatch')
})
