import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, consolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { campaignPartner, passTime, testNumber } from '../../../test/support/partners.ts'

test('campaigns without a name are shown with the title of their job, and results with the text of the questions', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const run = await campaignPartner(app)
  const { mandate_id } = await run.mandate()
  const parts = [1, 2, 5].map((number) => testNumber(number))
  const { campaign_id } = (await run.campaign(mandate_id, parts)).campaign
  const named = (await run.campaign(mandate_id, [testNumber(4)], { name: 'March intake' })).campaign
  await passTime(app, 8000)
  const viewer = await signInMember(app, run.orgId, 'viewer')
  const page = await consolePage(t, app, { email: viewer.email })
  const at = (path: string) => `${app.url}/console/${run.orgId}/test${path}`
  const toCall = page.getByRole('region', { name: 'To call' })
  await toCall.getByRole('row', { name: /Person 1 .* Electrician/ }).waitFor()

  await page.goto(at(`/mandates/${mandate_id}`))
  await page.getByText('yes or no, “no” disqualifies · licence').waitFor()

  await page.goto(at('/campaigns'))
  await page.getByRole('link', { name: 'March intake' }).waitFor()
  await page.getByRole('link', { name: 'Electrician', exact: true }).click()
  await waitForHeading(page, /^Electrician completed/)
  await page.getByRole('row', { name: /Person 5 ext-5 declined did not consent –/ }).waitFor()
  await page.getByRole('row', { name: /Person 1 ext-1 completed Qualified interested/ }).waitFor()
  await checkPage(page, 'campaign-verdicts')
  await page.getByRole('link', { name: 'declined 1' }).click()
  await waitForHeading(page, 'Results')
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)
  const campaign = page.getByLabel('Campaign')
  await campaign.locator('option', { hasText: 'Electrician' }).waitFor({ state: 'attached' })
  assert.deepEqual(await campaign.locator('option').allTextContents(), ['All campaigns', 'March intake', 'Electrician'])
  const verdict = page.getByLabel('Verdict')
  assert.deepEqual(await verdict.locator('option').allTextContents(), [
    'All verdicts',
    'To call',
    'Qualified',
    'Not qualified',
  ])

  await page.goto(at(`/campaigns/${campaign_id}`))
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

  // Campaigns with the same name are distinguished by their start.
  await run.campaign(mandate_id, [testNumber(6)])
  await page.goto(at('/campaigns'))
  const sameName = page.getByRole('link', { name: /^Electrician, \w+ \d+, / })
  await sameName.nth(1).waitFor()
  assert.equal(await sameName.count(), 2)
  await checkPage(page, 'campaigns-same-name')

  await page.goto(at(`/analytics/candidates?counted=funnel.enrolled&campaign_id=${named.campaign_id}`))
  await page
    .getByRole('row', { name: /Person 4 .* March intake completed Qualified 3 of 3 skills · not interested/ })
    .waitFor()
  await page.goto(at(`/analytics/candidates?counted=funnel.enrolled&campaign_id=${campaign_id}`))
  await page.getByRole('row', { name: /Person 5 .* Electrician declined did not consent –/ }).waitFor()
})
