import { test } from 'node:test'
import { checkPage, getButton, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'

test('an operator suppresses a mailbox and removes the suppression', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/mails`)
  await page.getByRole('link', { name: 'Suppressed mailboxes' }).click()
  await page.getByText('No mailbox is suppressed.').waitFor()
  await page.getByLabel('Email address').fill('asha@example.com')
  await getButton(page, 'Suppress').click()
  await page.getByText('Added by the operator').waitFor()
  await checkPage(page, 'operator-suppressions')
  await page.getByRole('button', { name: /^Remove SU_/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('No mailbox is suppressed.').waitFor()
})
