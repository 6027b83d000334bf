import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPage } from '../../../test/browser/browser.ts'
import { button, checkPage, dialog, nav, waitForHeading } from '../../../test/browser/console-page.ts'
import { ADMIN_KEY, startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'

test('an operator signs in with the admin key, creates an organisation and grants it credits', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const page = await newPage(t)
  await page.goto(`${app.url}/console`)
  await waitForHeading(page, 'Sign in to the console')
  await checkPage(page, 'sign-in')
  const key = page.getByLabel('Admin key')
  if (!(await key.isVisible())) await page.getByText('Sign in as the operator').click()
  await key.fill('wrong')
  await button(page, 'Sign in').click()
  await page.getByRole('alert').waitFor()
  await key.fill(ADMIN_KEY)
  await button(page, 'Sign in').click()

  await waitForHeading(page, 'Organisations')
  await page.getByText('No organisation yet').waitFor()
  await checkPage(page, 'operator-organisations-empty')
  await button(page, 'New organisation').click()
  await dialog(page).getByLabel('Name').fill('Metro Staffing')
  await button(page, 'Create organisation').click()
  const row = page.getByRole('row', { name: /Metro Staffing/ })
  await row.waitFor()

  await button(page, 'Credits of Metro Staffing').click()
  await dialog(page).getByLabel('Credits to grant').fill('250')
  await button(page, 'Grant test credits').click()
  await dialog(page).getByText('Granted. The balance is now 250 test credits.').waitFor()
  await dialog(page).getByRole('cell', { name: '+250' }).waitFor()
  await checkPage(page, 'operator-credits')
  await page.keyboard.press('Escape')
  await row.getByRole('cell', { name: '250' }).waitFor()

  await button(page, 'Switch off: Metro Staffing').click()
  await dialog(page).getByRole('button', { name: 'Switch off' }).click()
  await button(page, 'Switch on: Metro Staffing').click()
  await dialog(page).getByRole('button', { name: 'Switch on' }).click()
  await button(page, 'Switch off for everyone').click()
  await dialog(page).getByRole('button', { name: 'Switch off for everyone' }).click()
  await page.getByText('switched off for everyone').waitFor()
  const { key: partnerKey } = await app.given.org('Orion Works')
  assert.equal((await app.as(partnerKey).get('/shifts')).status, 503)
  await button(page, 'Switch on for everyone').click()
  await dialog(page).getByRole('button', { name: 'Switch on for everyone' }).click()
  await page.getByText('The partner API is on').waitFor()
  assert.equal((await app.as(partnerKey).get('/shifts')).status, 200)

  await page.getByLabel('Name or ID').fill('orion')
  await page.getByRole('row', { name: /Orion Works/ }).waitFor()
  await row.waitFor({ state: 'detached' })
  await page.getByLabel('Name or ID').fill('')
  await row.waitFor()
  await checkPage(page, 'operator-organisations')

  await page.reload()
  await row.waitFor()
  const bytes = (await page.evaluate(
    'performance.getEntries().reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0)',
  )) as number
  t.diagnostic(`first load: ${bytes} bytes compressed`)
  assert.ok(bytes > 0 && bytes < 200 * 1024)

  await nav(page, 'Audit (all organisations)').click()
  await waitForHeading(page, 'Audit log of all organisations')
  await page.getByRole('cell', { name: 'credits.grant' }).waitFor()
  await page.getByRole('cell', { name: 'service.off' }).first().waitFor()
  await checkPage(page, 'operator-audit')
  await button(page, 'Sign out').click()
  await waitForHeading(page, 'Sign in to the console')
})
