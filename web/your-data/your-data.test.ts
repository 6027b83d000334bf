import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newPage } from '../../test/browser/browser.ts'
import { checkSizes } from '../../test/browser/check-sizes.ts'
import { startApp } from '../../test/support/app.ts'
import { runClock } from '../../test/support/clock.ts'
import { signInMember } from '../../test/support/console.ts'
import { contactTestCandidate, readPhoneCode } from '../../test/support/your-data.ts'

const PHONE = { width: 320, height: 640, hasTouch: true, isMobile: true }

test('a candidate reads the notice, sees their data and erases it', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { partner, link, candidateId } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  await owner.put(`/orgs/${partner.orgId}/privacy`, {
    grievance_name: 'Meera Nair',
    grievance_email: 'grievance@example.com',
    privacy_email: 'privacy@example.com',
  })
  const page = await newPage(t, PHONE)
  const path = new URL(link, app.url).pathname
  await page.goto(app.url + path)
  await page.getByRole('link', { name: 'Your data and your rights' }).click()
  await page.getByRole('heading', { name: 'Your data and your rights' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the token leaves the address')
  await page.getByText('Meera Nair, grievance@example.com').waitFor()
  await checkSizes(page, 'your-data')

  await page.getByRole('combobox', { name: 'Change language' }).selectOption('hi')
  await page.getByRole('heading', { name: 'आपकी जानकारी और आपके अधिकार' }).waitFor()
  await page.reload() // the language and the token survive
  await page.getByRole('heading', { name: 'आपकी जानकारी और आपके अधिकार' }).waitFor()
  await page.getByRole('combobox', { name: 'भाषा' }).selectOption('en')

  await page.getByRole('button', { name: 'See my data' }).click()
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByText('A code was sent to +91 •••• 0001.').waitFor()
  await page.getByLabel('Code', { exact: true }).fill('000000')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('This code is wrong or has expired.').waitFor()
  await checkSizes(page, 'your-data-code')
  await page.getByLabel('Code', { exact: true }).fill(await readPhoneCode(app, candidateId))
  await page.getByRole('button', { name: 'Confirm' }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download as a file (JSON)' }).click()
  assert.equal((await download).suggestedFilename(), 'your-data.json')

  await page.getByRole('button', { name: 'Erase my data' }).click()
  await page.getByText('This cannot be undone.').waitFor()
  await page.getByRole('button', { name: 'Send code' }).click()
  await page.getByText('A code was sent to').waitFor()
  await page.getByLabel('Code', { exact: true }).fill(await readPhoneCode(app, candidateId))
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('The data of this link was erased.').waitFor()
  await checkSizes(page, 'your-data-erased')

  await page.goto(app.url + path)
  await page.getByText('The data of this link was erased.').waitFor()
  await checkSizes(page, 'candidate-erased')
  assert.doesNotMatch(await page.content(), /Person 1/)
})

test('an expired candidate link shows why, and leads to the rights', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { partner, campaign, link } = await contactTestCandidate(app)
  await partner.remove(`/campaigns/${campaign.campaign_id}`)
  const page = await newPage(t, PHONE)
  await page.goto(app.url + new URL(link, app.url).pathname)
  await page.getByText('This link has expired').waitFor()
  await checkSizes(page, 'candidate-expired')
  await page.getByRole('link', { name: 'Your data and your rights' }).click()
  await page.getByRole('button', { name: 'Erase my data' }).waitFor()
})
