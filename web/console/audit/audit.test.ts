import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkPage, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { signIn, signInMember } from '../../../test/support/console.ts'
import { aCandidate, createCampaignPartner } from '../../../test/support/partners.ts'

test('the audit log shows what the team did as sentences, and is filtered by action', async (t) => {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await partner.createCampaign(mandate_id, [aCandidate(1), aCandidate(2)])
  const owner = await signInMember(app, partner.orgId, 'owner')
  const orgPath = `/orgs/${partner.orgId}`
  const { items } = (await owner.get(`${orgPath}/test/recruiter-results`)).body.data
  const candidate_ids = items.map(({ candidate }: any) => candidate.candidate_id)
  const decide = (body: object) => owner.post(`${orgPath}/test/recruiter-results/decisions`, body)
  await decide({ candidate_ids, decision: 'shortlisted', note: 'Call after 6 pm' })
  await decide({ candidate_ids: candidate_ids.slice(1), decision: null })
  await owner.post(`${orgPath}/views`, { page: 'results', name: 'Shortlist', query: 'decision=shortlisted' })

  const operator = await signIn(app)
  await operator.get(`${orgPath}/test/campaigns/${items[0].campaign_id}`)
  await operator.get(`${orgPath}/audit`)

  const page = await openConsolePage(t, app, { email: owner.email })
  await page.goto(`${app.url}/console/${partner.orgId}/test/audit`)
  await waitForHeading(page, 'Audit log')
  await page.getByText('Saved a view').waitFor()
  await page.getByText('Viewed a campaign').waitFor()
  await page.getByText('Viewed the audit log').waitFor()
  await page.getByText('Marked 2 candidates as shortlisted and changed the note').waitFor()
  await page.getByText('Removed the decision on 1 candidate').waitFor()
  assert.equal(await page.getByText('6 pm').count(), 0)
  await checkPage(page, 'audit')
  await page.getByLabel('Action').selectOption('candidates')
  await page.getByText('Saved a view').waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 360, height: 800 })
  await checkPage(page, 'audit-360')
  await page.getByRole('button', { name: 'Filters (1)' }).click()
  await page.getByLabel('Action').selectOption('exports')
  await page.getByText('No entries match these filters.').waitFor()
})
