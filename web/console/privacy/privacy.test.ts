import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { handleConsoleJobs } from '../../../server/console/jobs.ts'
import { checkSizes } from '../../../test/browser/check-sizes.ts'
import {
  getButton,
  getDialog,
  getNavLink,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { oncePerFile } from '../../../test/support/cleanup.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { contactTestCandidate, yourDataCalls } from '../../../test/support/your-data.ts'

const startSharedApp = oncePerFile(async (t) => {
  const app = await startApp(t, { worker: handleConsoleJobs })
  runClock(t, app.clock)
  return app
})

test('an owner sets contacts and periods, reads the preview and the requests, and starts a legal hold', async (t) => {
  const app = await startSharedApp()
  const { partner, token } = await contactTestCandidate(app)
  await yourDataCalls(app, 'candidate', token).start('export', 'phone')
  await partner.remove(`/campaigns/${(await partner.get('/campaigns')).body.data.items[0].campaign_id}`)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email })
  await page.goto(`${app.url}/console/${partner.orgId}/test`)
  await getNavLink(page, 'Privacy').click()
  await waitForHeading(page, 'Privacy')
  await page.getByText(/^No people will be erased in the next \d+ days\.$/).waitFor()
  await page.getByRole('row').filter({ hasText: 'See the data' }).getByRole('link', { name: /^PER_/ }).waitFor()

  await page.getByLabel('Names and contact data, in days').fill('5')
  await getButton(page, 'Save retention periods').click()
  await page.getByText('Retention periods saved.').waitFor({ state: 'detached' })
  await page.locator('.field-error').waitFor()
  await checkSizes(page, 'privacy-invalid')
  await page.getByLabel('Names and contact data, in days').fill('30')
  await getButton(page, 'Save retention periods').click()
  await page.getByText('Retention periods saved.').waitFor()
  await page.getByText(/^1 person will be erased on \d+ \w+ \d{4}\.$/).waitFor()
  await checkSizes(page, 'privacy')

  await getButton(page, 'Start a legal hold').click()
  await getDialog(page).getByLabel('Reason').fill('Investigation 7')
  await getButton(page, 'Start the legal hold').click()
  await page.getByText('A legal hold is active: nothing is erased until it ends.').waitFor()
  await page.getByText('Investigation 7').waitFor()
  await getButton(page, 'End the legal hold').click()
  await getDialog(page).getByRole('button', { name: 'End the legal hold', exact: true }).click()
  await page.getByText('No legal hold.').waitFor()
})

test('the contacts of the notice are saved, and viewers can only read them', async (t) => {
  const app = await startSharedApp()
  const { partner } = await contactTestCandidate(app)
  const owner = await signInMember(app, partner.orgId, 'owner')
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const settingsPath = `/orgs/${partner.orgId}/privacy`
  await owner.put(settingsPath, { link_days: 9 })
  const ownerPage = await openConsolePage(t, app, { email: owner.email })
  await ownerPage.goto(`${app.url}/console/${partner.orgId}/test/privacy`)
  await ownerPage.getByLabel('Email address for complaints').fill('grievance')
  await getButton(ownerPage, 'Save privacy settings').click()
  await ownerPage.locator('.field-error').waitFor()
  await ownerPage.getByLabel('Email address for complaints').fill(' grievance@example.com ')
  await getButton(ownerPage, 'Save privacy settings').click()
  await ownerPage.getByText('Privacy settings saved.').waitFor()
  const { grievance_email, link_days } = (await owner.get(settingsPath)).body.data
  assert.deepEqual([grievance_email, link_days], ['grievance@example.com', 9])
  const viewerPage = await openConsolePage(t, app, { email: viewer.email })
  await viewerPage.goto(`${app.url}/console/${partner.orgId}/test/privacy`)
  await viewerPage.getByLabel('Names and contact data, in days').waitFor()
  assert.equal(await viewerPage.getByLabel('Email address for complaints').inputValue(), 'grievance@example.com')
  assert.equal(await viewerPage.getByRole('button', { name: /Save|legal hold/ }).count(), 0)
  assert.equal(await getNavLink(viewerPage, 'People').count(), 0)
})

test('an operator downloads the breach list, and exports and erases an organisation', async (t) => {
  const app = await startSharedApp()
  const { partner } = await contactTestCandidate(app, { name: 'Asha Verma' })
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/breach-list`)
  await page.getByLabel('Organisation ID').fill(partner.orgId)
  await checkSizes(page, 'breach-list')
  const breachList = page.waitForEvent('download')
  await getButton(page, 'Download the list as CSV').click()
  assert.match(await readFile(await (await breachList).path(), 'utf8'), /Asha Verma.*\+919810000001/)

  await page.goto(`${app.url}/console/operator/organisations`)
  const row = page.getByRole('row').filter({ hasText: partner.orgId })
  await row.getByRole('button', { name: 'Export or erase' }).click()
  await checkSizes(page, 'offboarding')
  const organisation = page.waitForEvent('download')
  await getButton(page, 'Download everything that is stored').click()
  assert.match(await readFile(await (await organisation).path(), 'utf8'), /Asha Verma/)
  const name = (await page
    .getByLabel(/^To confirm, enter the name: /)
    .evaluate((input) => (input as unknown as { labels: { textContent: string }[] }).labels[0]!.textContent))!.replace(
    'To confirm, enter the name: ',
    '',
  )
  await page.getByLabel('Reason, for the audit log').fill('End of contract 2026-11')
  await page.getByLabel(/^To confirm, enter the name: /).fill(name)
  await getButton(page, 'Erase organisation').click()
  await page.getByText('The organisation is erased. People erased: 1 of 1.').waitFor()
})

test('a download that needs a recent sign-in asks for a code first', async (t) => {
  const app = await startSharedApp()
  const page = await openConsolePage(t, app)
  await page.goto(`${app.url}/console/operator/breach-list`)
  await waitForHeading(page, 'Breach list')
  app.clock.advance(16 * 60_000)
  await getButton(page, 'Download the list as CSV').click()
  await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
})
