import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from '../../../test/browser/axe.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { saveScreenshot } from '../../../test/browser/screenshots.ts'
import { listCountedCandidates } from '../../../test/support/analytics-drilldown.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { createTestSignInLink, signInMember } from '../../../test/support/console.ts'
import { aCandidate, aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

/** Starts an app with a finished campaign of the ten test numbers, and one with sixty pending candidates. */
async function startWithCampaigns(t: TestContext) {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const { mandate_id, workflow_id } = await partner.createMandate({
    name: 'Site hiring',
    channels: ['voice', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  })
  const pendingCandidates = Array.from({ length: 60 }, (_, number) => aCandidate(100 + number))
  await partner.createCampaign(mandate_id, pendingCandidates)
  const tenCandidates = Array.from({ length: 10 }, (_, index) =>
    aTestNumberCandidate(index + 1, index === 3 ? { language: 'hi' } : {}),
  )
  const { campaign } = await partner.createCampaign(mandate_id, tenCandidates, { name: 'March intake' })
  await passTime(app, 10_000)
  const viewer = await signInMember(app, partner.orgId, 'viewer')
  const page = await newPage(t)
  await page.goto(await createTestSignInLink(app, viewer.email))
  await page.locator('nav').waitFor({ state: 'attached' })
  const pageUrl = (path: string) => `${app.url}/console/${partner.orgId}/test${path}`
  return { ...partner, page, pageUrl, workflow_id, campaign_id: campaign.campaign_id }
}

/** Checks accessibility and horizontal overflow on desktop and the smallest phone, in light and dark mode. */
async function checkPageSizes(
  page: Page,
  name: string,
  widths = [1280, 320],
  schemes: ('light' | 'dark')[] = ['light', 'dark'],
) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme })
      await until(async () => (await page.locator('[aria-busy="true"]').count()) === 0)
      await page.evaluate('scrollTo(0, 0)') // sticky elements would otherwise be in the middle of the screenshot
      await saveScreenshot(page, `${name}-${width}-${colorScheme}`)
      await assertAccessible(page)
      assert.ok(
        await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        `${name} does not scroll horizontally`,
      )
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}

const waitForHeading = (page: Page, name: string) =>
  page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
const summaryRegion = (page: Page) => page.getByRole('region', { name: 'Summary' })
const candidateNamesOn = async (page: Page) => (await columnTexts(page, 'Candidate')).sort()

/** Returns the texts of a column after the rows have loaded. */
async function columnTexts(page: Page, name: string) {
  const cells = page.locator(`tbody td[data-name=${name}]`)
  await cells.first().waitFor()
  return name === 'Candidate' ? cells.locator('a').allTextContents() : cells.allTextContents()
}
const sortedNames = (items: { name: string }[]) => items.map(({ name }) => name).sort()

test('a number links to the candidates it counts, also by keyboard, and back with the same filters', async (t) => {
  const { page, pageUrl, get, workflow_id, campaign_id } = await startWithCampaigns(t)
  await page.goto(pageUrl(`/analytics?campaign_id=${campaign_id}`))
  await page.getByRole('button', { name: 'Workflow Site hiring' }).waitFor()
  const respondedLink = page.getByRole('link', { name: 'Responded: 8' })
  await respondedLink.focus()
  await page.keyboard.press('Enter')
  await waitForHeading(page, 'Responded')
  await summaryRegion(page).getByText('8 candidates').waitFor()
  await summaryRegion(page)
    .getByText(/workflow Site hiring · .*campaign March intake/)
    .waitFor()
  const filters = `workflow_id=${workflow_id}&campaign_id=${campaign_id}`
  assert.deepEqual(
    await candidateNamesOn(page),
    sortedNames(await listCountedCandidates(get, 'funnel.responded', filters)),
  )
  // The reason for a verdict is shown in the list.
  const rowOf = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
  await rowOf('Person 1').getByText('Qualified', { exact: true }).waitFor()
  await rowOf('Person 1').getByText('3 of 3 skills verified').waitFor()
  await rowOf('Person 2').getByText('Answered no to “Do you hold a wireman licence?”').waitFor()
  await rowOf('Person 3')
    .getByText(/^House wiring not verified \(0 of \d correct/)
    .waitFor()
  await rowOf('Person 5').getByText('refused to answer').waitFor()
  await checkPageSizes(page, 'counted-people')
  await page.getByRole('link', { name: 'Person 9', exact: true }).click()
  await page.getByRole('heading', { name: /^Person 9/ }).waitFor()
  await page.getByRole('region', { name: 'Conversation' }).waitFor()
  await page.goBack()
  await waitForHeading(page, 'Responded')
  await page.getByRole('main').getByRole('link', { name: 'Analytics', exact: true }).click()
  await waitForHeading(page, 'Analytics')
  await page.getByRole('link', { name: 'Enrolled: 10', exact: true }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('campaign_id'), campaign_id)

  // This number counts calls, so the list shows the number of calls per candidate.
  await page.getByRole('link', { name: 'Calls, placed: 10' }).click()
  await waitForHeading(page, 'Calls, placed')
  await summaryRegion(page).getByText('10 calls').waitFor()
  const callCounts = await columnTexts(page, 'Calls')
  assert.equal(
    callCounts.reduce((sum, text) => sum + Number(text), 0),
    10,
  )
  await checkPageSizes(page, 'counted-calls', [320], ['light'])
  await page.goBack()
  await page.getByRole('link', { name: /^Call time: / }).click()
  await summaryRegion(page).getByText('in total').waitFor()
  assert.deepEqual(new Set(await columnTexts(page, 'Time')), new Set(['30 s']))
})

test('every number links to its list, long lists have more pages, and zeros are not links', async (t) => {
  const { page, pageUrl, get } = await startWithCampaigns(t)
  await page.goto(pageUrl('/analytics'))
  await page.getByRole('link', { name: 'Enrolled: 70', exact: true }).waitFor()
  await page.getByText('Numbers per day').click()
  await checkPageSizes(page, 'counted-numbers')
  const links = page.locator('.charts a')
  const countedNumbers = await links.evaluateAll((all) =>
    all.map((link) => [
      new URL((link as unknown as { href: string }).href).searchParams.get('counted')!,
      link.textContent!,
    ]),
  )
  assert.equal(new Set(countedNumbers.map(([path]) => path)).size, countedNumbers.length)
  for (const [path, text] of countedNumbers) {
    if (path === 'calls.total_seconds') continue // shown in minutes
    const items = await listCountedCandidates(get, path!)
    const timesTotal = items.reduce((total, { times }) => total + times, 0)
    assert.equal(Number(text!.split(': ').at(-1)), timesTotal, path)
  }
  for (const part of ['funnel', 'channels', 'follow_ups', 'calls', 'drop_offs', 'languages', 'daily'])
    assert.ok(
      countedNumbers.some(([path]) => path!.startsWith(`${part}.`)),
      part,
    )
  assert.ok(!countedNumbers.some(([path]) => path === 'calls.busy'))

  const day = countedNumbers.find(([path]) => /^daily\..*\.enrolled$/.test(path!))!
  await page.getByRole('row').getByRole('link', { name: day[1]! }).click()
  await page.getByRole('heading', { name: /^Enrolled on/, level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Person 100', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('link', { name: 'Person 100', exact: true }).waitFor()
  assert.deepEqual(await candidateNamesOn(page), sortedNames(await listCountedCandidates(get, 'funnel.enrolled')))

  await page.goto(pageUrl('/analytics/candidates?counted=calls.busy'))
  await page.getByRole('heading', { name: 'No candidates' }).waitFor()
  await checkPageSizes(page, 'counted-no-candidates', [320], ['dark'])
  await page.getByRole('link', { name: 'Back to analytics' }).click()
  await waitForHeading(page, 'Analytics')
  for (const query of ['', '?counted=funnel.nothing']) {
    await page.goto(pageUrl(`/analytics/candidates${query}`))
    await page.getByText(/^This address names no number/).waitFor()
    assert.equal(await page.getByText('must be').count(), 0, 'the error of the API is not shown')
  }
})
