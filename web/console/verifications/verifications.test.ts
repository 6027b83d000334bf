import { test } from 'node:test'
import { checkPage, getButton, openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { requestReview } from '../../../test/support/verification.ts'

test('verifications can be filtered by status, and the review email can be resent', async (t) => {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await requestReview(app)
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/${orgId}/live/verifications`)
  await page.getByRole('link', { name: 'Asha Rao' }).waitFor()
  await checkPage(page, 'verifications')
  await page.getByLabel('Status').selectOption('completed')
  await page.getByText('No verifications').waitFor()
  await page.getByLabel('Status').selectOption('pending_review')
  await page.getByRole('link', { name: 'Asha Rao' }).click()
  await page.getByText('Ravi Menon').waitFor()
  await page.getByRole('cell', { name: 'Bricklaying' }).waitFor()
  app.clock.advance(120_000)
  await getButton(page, 'Resend the review email').click()
  await page.getByText('The review email will be sent again.').waitFor()
  await checkPage(page, 'verification')
  await page.getByRole('link', { name: 'review request' }).first().click()
  await page.getByRole('heading', { level: 1, name: /Asha Rao/ }).waitFor()
})
