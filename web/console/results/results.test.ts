import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { checkPage, getButton, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startConsoleWithResults } from '../../../test/browser/recruiter-console.ts'

test('the results page lists and exports the candidates to call, with times in the time zone of the user or in IST', async (t) => {
  const { app, email, campaignUrl } = await startConsoleWithResults(t)
  const page = await openConsolePage(t, app, { email, timezoneId: 'Europe/Berlin', acceptDownloads: true })
  await page.getByRole('link', { name: 'View all candidates to call' }).click()
  await waitForHeading(page, 'Results')
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Export CSV' }).click()
  const csv = await readFile(await (await download).path(), 'utf8')
  assert.match(csv, /ext-1,Person 1,\+919990000001/)
  assert.doesNotMatch(csv, /Person [245]/)
  await page.getByLabel('Verdict').selectOption('')
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  await checkPage(page, 'results-newest-first')

  const time = page.locator('td time').first()
  const localText = await time.textContent()
  assert.match((await time.getAttribute('title'))!, / IST$/)
  await getButton(page, 'Show times in IST').click()
  assert.match((await time.textContent())!, / IST$/)
  await page.reload() // the choice is stored
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  assert.match((await time.textContent())!, / IST$/)
  await getButton(page, 'Show times in my time zone').click()
  assert.equal(await time.textContent(), localText)
  await page.goto(campaignUrl)
  await page.getByRole('link', { name: 'View candidates to call' }).click()
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
})
