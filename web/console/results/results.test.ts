import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import {
  checkPage,
  chooseAction,
  getButton,
  getDialog,
  openConsolePage,
  waitForHeading,
} from '../../../test/browser/console-page.ts'
import { startConsoleWithResults } from '../../../test/browser/recruiter-console.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { contactTestCandidate, readLink } from '../../../test/support/your-data.ts'

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
  await page.getByRole('row', { name: /Person 4 .*Qualified Not interested 3 of 3 skills/ }).waitFor()
  await checkPage(page, 'results-newest-first')
  await page.setViewportSize({ width: 1280, height: 800 })
  assert.equal(await page.getByRole('region', { name: 'Candidates' }).count(), 0, 'the list does not scroll sideways')
  for (const element of await page.locator('td time, .contact-lines .whole').all())
    assert.ok((await element.boundingBox())!.height < 32, `${await element.textContent()} is on one line`)
  for (const row of await page.getByRole('table', { name: 'Candidates' }).getByRole('row').all())
    assert.ok((await row.boundingBox())!.height < 60, `${await row.textContent()} has two lines at most`)
  await page.setViewportSize({ width: 360, height: 800 })
  await checkPage(page, 'results-360')
  await page.setViewportSize({ width: 1280, height: 800 })

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
  await page.getByRole('link', { name: 'To call', exact: true }).click()
  await page.getByRole('link', { name: 'Person 4' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Person 1' }).click()
  await waitForHeading(page, 'Person 1 Qualified')
  await page.goto(campaignUrl)
  await page.getByRole('row', { name: /Person 4 .*Qualified Not interested 3 of 3 skills/ }).waitFor()
  await page.getByRole('link', { name: 'View candidates to call' }).click()
  await page.getByRole('cell', { name: '+919990000001' }).waitFor()
})

test("a recruiter revokes a candidate's link, and the audit log shows it", async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { partner, campaign, candidateId, link } = await contactTestCandidate(app)
  const { orgId } = partner
  const openedPage = async (url: string) => (await fetch(app.url + new URL(url, app.url).pathname)).status
  const viewer = await signInMember(app, orgId, 'viewer')
  const path = `/campaigns/${campaign.campaign_id}/candidates/${candidateId}/revoke-link`
  assert.equal((await viewer.post(`/orgs/${orgId}/test${path}`, {})).status, 403)
  assert.equal(await openedPage(link), 200)

  const owner = await signInMember(app, orgId, 'owner')
  const page = await openConsolePage(t, app, { email: owner.email })
  await page.goto(`${app.url}/console/${orgId}/test/candidates/${candidateId}`)
  await chooseAction(page, 'Revoke link')
  await getDialog(page).getByText('The links in all earlier messages stop working immediately').waitFor()
  await checkPage(page, 'revoke-link')
  await getDialog(page).getByRole('button', { name: 'Revoke link' }).click()
  await page.getByText('The link was revoked and does not work any more.').waitFor()
  assert.equal(await openedPage(link), 404)
  const newLink = await readLink(app, candidateId)
  await getButton(page, 'More').click()
  await page
    .locator(`a[href$="${new URL(newLink, app.url).pathname}"]`)
    .first()
    .waitFor()
  await page.keyboard.press('Escape')
  assert.equal(await openedPage(newLink), 200)
  await page.setViewportSize({ width: 360, height: 640 })
  await checkPage(page, 'link-revoked-360')
  const topOf = async (region: string) => (await page.getByRole('region', { name: region }).boundingBox())!.y
  assert.ok((await topOf('Result')) < (await topOf('Conversation')), 'the result is above the conversation')
  await page.goto(`${app.url}/console/${orgId}/test/audit`)
  await page.getByText("Revoked a candidate's link in campaign").waitFor()
})
