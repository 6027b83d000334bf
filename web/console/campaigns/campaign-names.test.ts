import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consolePage, heading, look } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { campaigner, pass, player } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf } from '../../../test/support/console.ts'

test('campaigns without a name go by their job everywhere, and results by the words of the questions', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const run = await campaigner(app)
  const { mandate_id } = await run.mandate()
  const parts = [1, 2, 5].map((number) => player(number))
  const { campaign_id } = (await run.campaign(mandate_id, parts)).campaign
  const named = (await run.campaign(mandate_id, [player(4)], { name: 'March intake' })).campaign
  await pass(app, 8000)
  const viewer = await memberOf(app, run.orgId, 'viewer')
  const page = await consolePage(t, app, { email: viewer.email })
  const at = (path: string) => `${app.url}/console/${run.orgId}/test${path}`
  const toCall = page.getByRole('region', { name: 'To call' })
  await toCall.getByRole('row', { name: /Person 1 .* Electrician/ }).waitFor()

  await page.goto(at(`/mandates/${mandate_id}`))
  await page.getByText('yes or no, “no” ends it · licence').waitFor()

  await page.goto(at('/campaigns'))
  await page.getByRole('link', { name: 'March intake' }).waitFor()
  await page.getByRole('link', { name: 'Electrician', exact: true }).click()
  await heading(page, /^Electrician completed/)
  await page.getByRole('row', { name: /Person 5 ext-5 declined refused consent –/ }).waitFor()
  await page.getByRole('row', { name: /Person 1 ext-1 completed Qualified interested/ }).waitFor()
  await look(page, 'campaign-verdicts')
  await page.getByRole('link', { name: 'declined 1' }).click()
  await heading(page, 'Results')
  await page.getByRole('link', { name: 'Person 5' }).waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)
  const campaign = page.getByLabel('Campaign')
  await campaign.locator('option', { hasText: 'Electrician' }).waitFor({ state: 'attached' })
  assert.deepEqual(await campaign.locator('option').allTextContents(), [
    'Every campaign',
    'March intake',
    'Electrician',
  ])
  const verdict = page.getByLabel('Verdict')
  assert.deepEqual(await verdict.locator('option').allTextContents(), [
    'Every verdict',
    'To call',
    'Qualified',
    'Not qualified',
  ])

  await page.goto(at(`/campaigns/${campaign_id}`))
  await page.getByRole('link', { name: 'Not qualified' }).click()
  await heading(page, /^Person 2/)
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
  await look(page, 'result-knocked-out')

  // Two that are alike are told apart by their start.
  await run.campaign(mandate_id, [player(6)])
  await page.goto(at('/campaigns'))
  const alike = page.getByRole('link', { name: /^Electrician, \w+ \d+, / })
  await alike.nth(1).waitFor()
  assert.equal(await alike.count(), 2)
  await look(page, 'campaigns-alike')

  await page.goto(at(`/analytics/candidates?counted=funnel.enrolled&campaign_id=${named.campaign_id}`))
  await page
    .getByRole('row', { name: /Person 4 .* March intake completed Qualified 3 of 3 skills · not interested/ })
    .waitFor()
  await page.goto(at(`/analytics/candidates?counted=funnel.enrolled&campaign_id=${campaign_id}`))
  await page.getByRole('row', { name: /Person 5 .* Electrician declined refused consent –/ }).waitFor()
})
