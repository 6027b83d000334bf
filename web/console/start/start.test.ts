import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startConsoleWithResults } from '../../../test/browser/recruiter-console.ts'

test('the start page lists the candidates to call and the latest campaigns', async (t) => {
  const { app, email } = await startConsoleWithResults(t)
  const page = await openConsolePage(t, app, { email })
  const toCall = page.getByRole('region', { name: 'To call' })
  await toCall.getByRole('row', { name: /Person 1 .*\+919990000001.*March intake/ }).waitFor()
  assert.equal(await toCall.getByRole('row').count(), 2, 'the header and the candidate who is qualified and interested')
  await page
    .getByRole('region', { name: 'Latest campaigns' })
    .getByRole('row', { name: /March intake completed/ })
    .waitFor()
  await checkPage(page, 'start-recruiter')
  await page.getByRole('link', { name: 'View all candidates to call' }).click()
  await waitForHeading(page, 'Results')
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)
})
