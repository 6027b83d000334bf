import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { DAY } from '../../../server/platform/clock.ts'
import { checkPage, getNavLink, openConsolePage, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { createTestSignInLink } from '../../../test/support/console.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'

/** Long, because a busy machine must not fail the test. */
const NAVIGATION_TIMEOUT_MS = 40_000

/** Returns the milliseconds from the click on a navigation link to the page's heading, measured in the page. */
async function measureNavigation(page: Page, link: string, title: string): Promise<number> {
  await page.evaluate(`{
    const started = {}
    addEventListener('click', () => (started.at = performance.now()), { once: true, capture: true })
    window.routed = new Promise((done, fail) => {
      setTimeout(() => fail(new Error('no ${title}, but ' + document.querySelector('main').textContent.slice(0, 200))), ${NAVIGATION_TIMEOUT_MS})
      const watch = new MutationObserver(() => {
        if (!started.at || document.querySelector('h1')?.textContent !== ${JSON.stringify(title)}) return
        watch.disconnect()
        requestAnimationFrame(() => done(performance.now() - started.at))
      })
      watch.observe(document.body, { childList: true, subtree: true, characterData: true })
    })
    0 // not the promise, which evaluate would wait for
  }`)
  await getNavLink(page, link).click()
  return (await page.evaluate('window.routed')) as number
}

test('the charts show the numbers of the campaign, and the numbers link to its candidates', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const page = await openConsolePage(t, app)
  const consoleUrl = `${app.url}/console/${partner.orgId}/test`
  await page.goto(`${consoleUrl}/analytics`)
  await page.getByText('No candidates were enrolled in this period').waitFor()
  await checkPage(page, 'analytics-empty')

  const { mandate_id } = await partner.createMandate({
    channels: ['whatsapp', 'voice'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'voice' }],
  })
  const tenCandidates = Array.from({ length: 10 }, (_, index) =>
    aTestNumberCandidate(index + 1, index === 3 ? { language: 'hi' } : {}),
  )
  await partner.createCampaign(mandate_id, tenCandidates.slice(0, 4), { name: 'A first try' })
  await passTime(app, 10_000)
  app.clock.advance(2 * DAY)
  const { campaign_id } = (await partner.createCampaign(mandate_id, tenCandidates, { name: 'March intake' })).campaign
  await passTime(app, 10_000)

  await page.goto(await createTestSignInLink(app)) // the session has expired after 12 hours without a request
  await waitForHeading(page, 'Acme Staffing')
  await page.goto(`${consoleUrl}/analytics`)
  const funnel = page.getByRole('region', { name: 'Funnel' })
  await funnel.getByRole('link', { name: 'Enrolled: 14' }).waitFor()
  const { completed } = (await partner.get('/analytics/overview')).body.data.funnel
  await funnel.getByRole('link', { name: `Completed: ${completed}` }).waitFor()
  await checkPage(page, 'analytics')
  const { calls } = (await partner.get('/analytics/overview')).body.data
  assert.ok(calls.placed > 0)
  assert.deepEqual(
    (await page.getByRole('region', { name: 'Calls' }).getByRole('listitem').allInnerTexts()).map((text) =>
      text.replaceAll(/\s+/g, ' ').trim(),
    ),
    [
      `Answered Calls, answered: ${calls.answered}`,
      `Not answered Calls, not answered: ${calls.no_answer}`,
      'Busy 0',
      `Failed Calls, failed: ${calls.failed}`,
    ],
  )
  const plot = (await page
    .getByRole('img', { name: /^Day by day|day/i })
    .first()
    .boundingBox())!
  for (const label of await page.locator('.days-axis span').all()) {
    const labelBox = (await label.boundingBox())!
    assert.ok(labelBox.x + labelBox.width < plot.x, 'the axis labels are outside of the chart')
  }
  await page.getByText('Numbers per day').click()
  await page.getByRole('row', { name: /2026-03-13/ }).waitFor()
  for (const [label, name] of [
    ['Workflow', /./],
    ['Job', /^Electrician/],
    ['Campaign', /^March intake/],
  ] as const) {
    await page.getByRole('combobox', { name: label, exact: true }).click()
    await page
      .getByRole('listbox', { name: `Results: ${label}` })
      .getByRole('option', { name })
      .first()
      .click()
  }
  await funnel.getByRole('link', { name: 'Enrolled: 10' }).waitFor()
  await page.getByLabel('From').fill('2026-03-14')
  await page.getByRole('alert').waitFor() // the API's message: after the last day
  const from = page.locator('label').filter({ has: page.getByLabel('From') })
  await from.locator('.bad-text').waitFor() // the same message at the field
  assert.equal(await page.getByLabel('From').getAttribute('aria-invalid'), 'true')
  assert.equal(await page.getByLabel('To', { exact: true }).getAttribute('aria-invalid'), 'false')
  await page.getByLabel('From').fill('2026-03-13')
  await funnel.getByRole('link', { name: 'Completed: 5' }).click()
  await waitForHeading(page, 'Completed')
  const address = new URL(page.url())
  assert.equal(address.searchParams.get('campaign_id'), campaign_id)
  assert.equal(address.searchParams.get('counted'), 'funnel.completed')

  const navigationTimesMs: number[] = []
  for (const [link, title] of [
    ['Events', 'Events'],
    ['Webhooks', 'Webhooks'],
    ['Request log', 'Request log'],
    ['Team', 'Team'],
    ['Analytics', 'Analytics'],
    ['Events', 'Events'],
    ['Webhooks', 'Webhooks'],
  ]) {
    navigationTimesMs.push(await measureNavigation(page, link!, title!))
  }
  t.diagnostic(`route changes: ${navigationTimesMs.map((time) => Math.round(time)).join(', ')} ms`)

  await page.goto(`${consoleUrl}/analytics?campaign_id=${campaign_id}`)
  await funnel.getByRole('link', { name: 'Enrolled: 10' }).waitFor()
  await page.getByRole('button', { name: /^Workflow / }).waitFor()

  // More people are enrolled on this day than results have arrived.
  await partner.createCampaign(mandate_id, tenCandidates, { name: 'Latest intake' })
  await page.goto(`${consoleUrl}/analytics`)
  await funnel.getByRole('link', { name: 'Enrolled: 24' }).waitFor()
  const points = (await page.locator('.days-plot polyline').getAttribute('points'))!
  const heights = points.split(' ').map((point) => Number(point.split(',')[1]))
  assert.ok(
    heights.every((height) => height >= 0 && height <= 100),
    `the line is inside the chart: ${heights}`,
  )
})
