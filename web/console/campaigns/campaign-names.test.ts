import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'

test('campaigns without a name are shown with the title of their job, and results with the text of the questions', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const unnamedCandidates = [1, 2, 5].map((number) => aTestNumberCandidate(number))
  const { campaign_id } = (await partner.createCampaign(mandate_id, unnamedCandidates)).campaign
  const namedCampaign = (await partner.createCampaign(mandate_id, [aTestNumberCandidate(4)], { name: 'March intake' }))
    .campaign
  await passTime(app, 8000)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const page = await openConsolePage(t, app, { email: viewer.email })
  const pageUrl = (path: string) => `${app.url}/console/${partner.orgId}/test${path}`
  const toCall = page.getByRole('region', { name: 'To call' })
  await toCall.getByRole('row', { name: /Person 1 .* Electrician/ }).waitFor()

  await page.goto(pageUrl(`/mandates/${mandate_id}`))
  await page.getByText('yes or no, “no” disqualifies · licence').waitFor()

  await page.goto(pageUrl('/campaigns'))
  await page.getByRole('link', { name: 'March intake' }).waitFor()
  await page.getByRole('link', { name: 'Electrician', exact: true }).click()
  await waitForHeading(page, /^Electrician completed/)
  await page.getByRole('row', { name: /Person 5 ext-5 declined refused to answer –/ }).waitFor()
  await page
    .getByRole('row', {
      name: /Person 1 ext-1 completed Qualified 3 of 3 skills verified, at least 9\d % certain interested/,
    })
    .waitFor()
  await checkPage(page, 'campaign-verdicts')
  await page.getByRole('link', { name: 'declined 1' }).click()
  await waitForHeading(page, 'Results')
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)
  await page.getByRole('button', { name: 'Campaign Electrician' }).click()
  await page.getByRole('option', { name: /^March intake/ }).waitFor()
  await page.getByRole('option', { name: /^Electrician/ }).click()
  const verdict = page.getByLabel('Verdict')
  assert.deepEqual(await verdict.locator('option').allTextContents(), [
    'All verdicts',
    'To call',
    'Qualified',
    'Not qualified',
    'Undecided',
  ])

  await page.goto(pageUrl(`/campaigns/${campaign_id}`))
  await page.getByRole('link', { name: 'Not qualified' }).click()
  await waitForHeading(page, /^Person 2/)
  const answers = page.getByRole('region', { name: 'Answers and verdicts' })
  await answers
    .getByRole('listitem')
    .filter({ hasText: /Do you hold a wireman licence\? licence\s*no knockout/ })
    .waitFor()
  await answers
    .getByRole('listitem')
    .filter({ hasText: /When can you start\? notice\s*not asked/ })
    .waitFor()
  await page.getByRole('link', { name: 'Electrician', exact: true }).waitFor()
  await page.getByRole('link', { name: /^Electrician, / }).waitFor()
  await checkPage(page, 'result-knocked-out')

  // Campaigns with the same name are distinguished by their start, in the last column.
  await partner.createCampaign(mandate_id, [aTestNumberCandidate(6)])
  await page.goto(pageUrl('/campaigns'))
  const sameNameLinks = page.getByRole('link', { name: 'Electrician', exact: true })
  await sameNameLinks.nth(1).waitFor()
  assert.equal(await sameNameLinks.count(), 2)
  await checkPage(page, 'campaigns-same-name')

  await page.goto(pageUrl(`/analytics/candidates?counted=funnel.enrolled&campaign_id=${namedCampaign.campaign_id}`))
  await page
    .getByRole('row', {
      name: /Person 4 .* March intake completed Qualified 3 of 3 skills verified, .* certain Not interested/,
    })
    .waitFor()
  await page.goto(pageUrl(`/analytics/candidates?counted=funnel.enrolled&campaign_id=${campaign_id}`))
  await page.getByRole('row', { name: /Person 5 .* Electrician declined refused to answer –/ }).waitFor()
})
