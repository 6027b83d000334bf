import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkPage, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInMember } from '../../../test/support/console.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { answerWithoutVerdict } from '../../../test/support/undecided-candidate.ts'

/** Starts an app with a qualified, a knocked-out, a failed, a declined and an undecided candidate. */
async function startWithVerdicts(t: TestContext) {
  const app = await startApp(t)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate({ languages: ['en', 'hi'] })
  const candidates = [1, 2, 3, 5].map((number) => aTestNumberCandidate(number, { language: 'en' }))
  const { campaign } = await partner.createCampaign(mandate_id, [...candidates, aCandidate(7, { language: 'en' })])
  await passTime(app, 8000)
  const { body } = await partner.get(`/results?campaign_id=${campaign.campaign_id}`)
  const resultOf = (id: string) => body.data.items.find((item: any) => item.candidate.external_candidate_id === id)
  await answerWithoutVerdict(app, partner.orgId, resultOf('ext-7').candidate.candidate_id)
  runClock(t, app.clock)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const page = await openConsolePage(t, app, { email: viewer.email })
  const pageUrl = (path: string) => `${app.url}/console/${partner.orgId}/test${path}`
  return { app, page, pageUrl, partner, mandate_id, campaign_id: campaign.campaign_id, resultOf }
}

/** Checks the page on desktop and on the smallest phone, in light and dark mode. */
async function checkEverySize(page: Page, name: string) {
  for (const width of [1280, 320]) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await checkPage(page, `${name}-${width}-${colorScheme}`)
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

test('lists and results show verdicts with their evidence and reasons', async (t) => {
  const { page, pageUrl, campaign_id, resultOf } = await startWithVerdicts(t)
  const KNOCKOUT = 'nswered no to “Do you hold a wireman licence?”'
  const [firstSkill] = resultOf('ext-1').output.skills
  for (const path of [`/results?campaign_id=${campaign_id}`, `/campaigns/${campaign_id}`]) {
    await page.goto(pageUrl(path))
    await rowOf(page, 'Person 1')
      .getByText(/^3 of 3 skills verified, at least 9\d % certain$/)
      .waitFor()
    await rowOf(page, 'Person 2').getByText(`A${KNOCKOUT}`).waitFor()
    await rowOf(page, 'Person 3')
      .getByText(new RegExp(`^${firstSkill.name} not verified \\(0 of \\d correct, 9\\d % certain\\)$`))
      .waitFor()
    await rowOf(page, 'Person 7').getByText('Undecided', { exact: true }).waitFor()
    await rowOf(page, 'Person 7')
      .getByText(new RegExp(`^${firstSkill.name} inconclusive \\(\\d of 8 correct\\)$`))
      .waitFor()
    await rowOf(page, 'Person 5').getByRole('cell', { name: '–' }).first().waitFor()
    await checkEverySize(page, path.startsWith('/results') ? 'verdicts-results' : 'verdicts-campaign')
  }
  await page.goto(pageUrl(`/results?campaign_id=${campaign_id}`))
  await page.getByLabel('Verdict').selectOption('Undecided')
  await rowOf(page, 'Person 1').waitFor({ state: 'detached' })
  await rowOf(page, 'Person 7').waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1)

  await page.getByRole('link', { name: 'Person 7' }).click()
  const verdicts = page.getByRole('region', { name: 'Answers and verdicts' })
  await verdicts.getByText(new RegExp(`^Undecided: ${firstSkill.name} inconclusive; `)).waitFor()
  const firstItem = verdicts.getByRole('listitem').first()
  await firstItem.getByText(/^Not enough evidence \(\d of 8 correct\)$/).waitFor()
  await firstItem.getByText('Public questions, asked in English, median time 12 s').waitFor()
  await verdicts.getByText('Ask the candidate about it yourself').waitFor()
  await checkEverySize(page, 'verdicts-undecided')

  await page.goto(pageUrl(`/results/${resultOf('ext-2').result_id}`))
  await verdicts.getByText(`Not qualified: a${KNOCKOUT}`).waitFor()
  await page.goto(pageUrl(`/candidates/${resultOf('ext-1').candidate.candidate_id}`))
  const result = page.getByRole('region', { name: 'Result' })
  await result
    .getByText(/^(\d) of \1 correct, 9\d % certain$/)
    .first()
    .waitFor()
  await checkEverySize(page, 'verdicts-candidate')

  await page.goto(pageUrl('/'))
  await page
    .getByRole('region', { name: 'To call' })
    .getByRole('row', { name: /Person 1 .*3 of 3 skills verified, at least 9\d % certain/ })
    .waitFor()
  await checkEverySize(page, 'verdicts-start')
  await page.goto(pageUrl(`/analytics/candidates?counted=funnel.completed&campaign_id=${campaign_id}`))
  await rowOf(page, 'Person 2').getByText(`A${KNOCKOUT}`).waitFor()
  await rowOf(page, 'Person 7').getByText('Undecided', { exact: true }).waitFor()
  await page.goto(pageUrl(`/analytics/candidates?counted=funnel.qualified&campaign_id=${campaign_id}`))
  await rowOf(page, 'Person 1').waitFor()
  assert.equal(await page.getByRole('link', { name: /^Person/ }).count(), 1, 'undecided candidates are not counted')
})

test('a mandate shows where its skill questions come from, how many are asked, and examples', async (t) => {
  const { page, pageUrl, mandate_id } = await startWithVerdicts(t)
  await page.goto(pageUrl(`/mandates/${mandate_id}`))
  await waitForHeading(page, /^Electrician/)
  const questions = page.getByRole('region', { name: 'Prepared questions' })
  await questions
    .getByText(/^4 to 8 questions per candidate, drawn from \d+ public questions\. Each candidate gets other questions/)
    .first()
    .waitFor()
  assert.equal(await questions.getByRole('heading', { name: 'Examples' }).count(), 3)
  await checkEverySize(page, 'verdicts-mandate')
})
