import { test } from 'node:test'
import { button, consolePage, dialog, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { keepTime } from '../../../test/support/clock.ts'

test('a call that failed is found in the log, with what differed', async (t) => {
  const app = await startApp(t, { worker: true })
  keepTime(t, app.clock)
  const { orgId } = await app.given.org()
  const key = await app.given.key(orgId, { mode: 'test' })
  await app.as(key).get('/shifts')
  await app.as(key).get('/workflows', { headers: { 'x-timestamp': String(Math.floor(app.clock.now() / 1000) - 999) } })
  const page = await consolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/test/requests`)
  await page.getByRole('cell', { name: 'GET /api/v1/partner/shifts' }).waitFor()
  await page.getByLabel('Show').selectOption('Failed calls')
  await page.getByRole('cell', { name: 'GET /api/v1/partner/shifts' }).waitFor({ state: 'detached' })
  await look(page, 'requests')
  await button(page, 'What differed').click()
  await dialog(page)
    .getByText(/differ by 999 seconds/)
    .waitFor()
  await dialog(page).getByText(/VFN1/).waitFor()
  await look(page, 'requests-differed')
})
