import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertAccessible } from '../../../test/browser/axe.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { checkPage, getButton, getDialog, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startConsoleWithResults } from '../../../test/browser/recruiter-console.ts'
import { saveScreenshot } from '../../../test/browser/screenshots.ts'

test('a recruiter shares a report, a hiring manager opens it without an account, and revoking ends it', async (t) => {
  const { app, email, campaignUrl } = await startConsoleWithResults(t)
  const page = await openConsolePage(t, app, { email })
  await page.goto(campaignUrl.replace(/\/campaigns\/.*/, '/results'))
  await page.getByRole('link', { name: 'Person 1', exact: true }).click()
  await waitForHeading(page, /^Person 1/)
  await getButton(page, 'Share report').click()
  const dialog = getDialog(page)
  await dialog.getByText('The report is not shared.').waitFor()
  await dialog.getByLabel('Valid for').selectOption('30 days')
  await dialog.getByRole('button', { name: 'Create link' }).click()
  await dialog.getByRole('button', { name: 'Copy link to the report' }).click()
  const url = (await dialog.locator('.copy code').textContent())!
  await dialog.getByText('Not opened yet').waitFor()
  await checkPage(page, 'share-report')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 360, height: 640 })
  await checkPage(page, 'share-report-360-dark')

  const visitor = await newPage(t, {})
  await visitor.goto(url)
  await waitForHeading(visitor, 'Report: Person 1')
  await saveScreenshot(visitor, 'shared-report')
  await assertAccessible(visitor)
  await visitor.emulateMedia({ colorScheme: 'dark' })
  await visitor.setViewportSize({ width: 360, height: 640 })
  await saveScreenshot(visitor, 'shared-report-360-dark')
  await assertAccessible(visitor)
  await page.reload()
  await getButton(page, 'Share report').click()
  await dialog.getByText(/Opened once/).waitFor()
  assert.equal(await dialog.getByText(url).count(), 0, 'the link is shown once')
  await dialog.getByRole('button', { name: 'Revoke' }).click()
  await dialog.getByText('The report is not shared.').waitFor()
  await visitor.reload()
  await waitForHeading(visitor, 'This link was revoked')

  await dialog.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: 'View conversation' }).click()
  await getButton(page, 'Share report').waitFor()
  await getButton(page, 'More').click()
  const pdfPath = await page.getByRole('menuitem', { name: 'Report as PDF' }).getAttribute('href')
  const contentType = await page.evaluate(
    `fetch(${JSON.stringify(pdfPath)}).then(({ headers }) => headers.get('content-type'))`,
  )
  assert.equal(contentType, 'application/pdf')
  await page.setViewportSize({ width: 360, height: 640 })
  await checkPage(page, 'candidate-with-report-actions-360')
})
