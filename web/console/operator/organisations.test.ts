import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPage } from '../../../test/browser/browser.ts'
import { checkPage, getButton, getDialog, getNavLink, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { createTestSignInLink } from '../../../test/support/console.ts'

test('an operator signs in with a link, creates an organisation and grants it credits', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const page = await newPage(t)
  await page.goto(`${app.url}/console`)
  await waitForHeading(page, 'Sign in to the console')
  await checkPage(page, 'sign-in')
  await page.getByText('Sign in as an operator').click()
  await page.getByText('npx attestry operator link EMAIL').waitFor()
  assert.equal(await page.getByLabel('Admin key').count(), 0)
  await page.goto(`${app.url}/console/sign-in#token=wrong`)
  await page.getByRole('alert').waitFor()
  await page.goto(await createTestSignInLink(app)) // changes only the fragment: the page is not loaded again

  await waitForHeading(page, 'Organisations')
  await page.getByText('No organisation yet').waitFor()
  await checkPage(page, 'operator-organisations-empty')
  await getButton(page, 'New organisation').click()
  await getDialog(page).getByLabel('Name').fill('Metro Staffing')
  await getButton(page, 'Create organisation').click()
  const row = page.getByRole('row', { name: /Metro Staffing/ })
  await row.waitFor()

  await getButton(page, 'Credits of Metro Staffing').click()
  await getDialog(page).getByLabel('Credits to grant').fill('250')
  await getButton(page, 'Grant test credits').click()
  await getDialog(page).getByText('Granted. The balance is now 250 test credits.').waitFor()
  await getDialog(page).getByRole('cell', { name: '+250' }).waitFor()
  await checkPage(page, 'operator-credits')
  await page.keyboard.press('Escape')
  await row.getByRole('cell', { name: '250 test' }).waitFor()

  await getButton(page, 'Switch off: Metro Staffing').click()
  await getDialog(page).getByLabel('Reason (optional)').fill('unpaid invoice')
  await getDialog(page).getByRole('button', { name: 'Switch off' }).click()
  await row.getByText('paused').waitFor()
  await row.getByText('unpaid invoice').waitFor()
  await getButton(page, 'Switch on: Metro Staffing').click()
  await getDialog(page).getByRole('button', { name: 'Switch on' }).click()
  await getButton(page, 'Switch off for everyone').click()
  await getDialog(page).getByRole('button', { name: 'Switch off for everyone' }).click()
  await page.getByText('switched off for everyone').waitFor()
  const { key: partnerKey } = await app.fixtures.createOrg('Orion Works')
  assert.equal((await app.as(partnerKey).get('/shifts')).status, 503)
  await getButton(page, 'Switch on for everyone').click()
  await getDialog(page).getByRole('button', { name: 'Switch on for everyone' }).click()
  await page.getByText('The service is on').waitFor()
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

  await getNavLink(page, 'Full audit log').click()
  await waitForHeading(page, 'Audit log of all organisations')
  await page.getByRole('cell', { name: 'Granted credits' }).waitFor()
  await page.getByRole('cell', { name: 'Switched the service off' }).first().waitFor()
  await checkPage(page, 'operator-audit')
  await getButton(page, 'Sign out').click()
  await waitForHeading(page, 'Sign in to the console')
})
