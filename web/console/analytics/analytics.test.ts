import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { DAY } from '../../../server/platform/clock.ts'
import { checkPage, consolePage, nav, waitForHeading } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { signInLink } from '../../../test/support/console.ts'
import { campaignPartner, passTime, testNumber } from '../../../test/support/partners.ts'

/** Returns the milliseconds from the click on a navigation link to the page's heading, measured in the page. */
async function measureNavigation(page: Page, link: string, title: string): Promise<number> {
  await page.evaluate(`{
    const started = {}
    addEventListener('click', () => (started.at = performance.now()), { once: true, capture: true })
    window.routed = new Promise((done, fail) => {
      setTimeout(() => fail(new Error('no ${title}, but ' + document.querySelector('main').textContent.slice(0, 200))), 8000)
      const watch = new MutationObserver(() => {
        if (!started.at || document.querySelector('h1')?.textContent !== ${JSON.stringify(title)}) return
        watch.disconnect()
        requestAnimationFrame(() => done(performance.now() - started.at))
      })
      watch.observe(document.body, { childList: true, subtree: true, characterData: true })
    })
    0 // not the promise, which evaluate would wait for
  }`)
  await nav(page, link).click()
  return (await page.evaluate('window.routed')) as number
}

test('the charts show the numbers of the campaign, and the numbers link to its candidates', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const run = await campaignPartner(app)
  const page = await consolePage(t, app)
  const at = `${app.url}/console/${run.orgId}/test`
  await page.goto(`${at}/analytics`)
  await page.getByText('No candidates were enrolled in this period').waitFor()
  await checkPage(page, 'analytics-empty')

  const { mandate_id, workflow_id } = await run.mandate({
    channels: ['whatsapp', 'voice'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'voice' }],
  })
  const ten = Array.from({ length: 10 }, (_, index) => testNumber(index + 1, index === 3 ? { language: 'hi' } : {}))
  await run.campaign(mandate_id, ten.slice(0, 4), { name: 'A first try' })
  await passTime(app, 10_000)
  app.clock.advance(2 * DAY)
  const { campaign_id } = (await run.campaign(mandate_id, ten, { name: 'March intake' })).campaign
  await passTime(app, 10_000)

  await page.goto(await signInLink(app)) // the session has expired after 12 hours without a request
  await waitForHeading(page, 'Acme Staffing')
  await page.goto(`${at}/analytics`)
  const funnel = page.getByRole('region', { name: 'Funnel' })
  await funnel.getByRole('link', { name: 'Enrolled: 14' }).waitFor()
  const { completed } = (await run.get('/analytics/overview')).body.data.funnel
  await funnel.getByRole('link', { name: `Completed: ${completed}` }).waitFor()
  await checkPage(page, 'analytics')
  const plot = (await page
    .getByRole('img', { name: /^Day by day|day/i })
    .first()
    .boundingBox())!
  for (const label of await page.locator('.days-axis span').all()) {
    const box = (await label.boundingBox())!
    assert.ok(box.x + box.width < plot.x, 'the axis labels are outside of the chart')
  }
  await page.getByText('Numbers per day').click()
  await page.getByRole('row', { name: /2026-03-13/ }).waitFor()
  await page.getByLabel('Workflow').selectOption(workflow_id)
  await page.getByLabel('Mandate').selectOption(mandate_id)
  await page.getByLabel('Campaign').selectOption({ label: 'March intake' })
  await funnel.getByRole('link', { name: 'Enrolled: 10' }).waitFor()
  await page.getByLabel('From').fill('2026-03-14')
  await page.getByRole('alert').waitFor() // the API's message: after the last day
  await page.getByLabel('From').fill('2026-03-13')
  await funnel.getByRole('link', { name: 'Completed: 5' }).click()
  await waitForHeading(page, 'Completed')
  const address = new URL(page.url())
  assert.equal(address.searchParams.get('campaign_id'), campaign_id)
  assert.equal(address.searchParams.get('counted'), 'funnel.completed')

  const times: number[] = []
  for (const [link, title] of [
    ['Events', 'Events'],
    ['Webhooks', 'Webhooks'],
    ['Request log', 'Request log'],
    ['Team', 'Team'],
    ['Analytics', 'Analytics'],
    ['Events', 'Events'],
    ['Webhooks', 'Webhooks'],
  ]) {
    times.push(await measureNavigation(page, link!, title!))
  }
  t.diagnostic(`route changes: ${times.map((time) => Math.round(time)).join(', ')} ms`)

  await page.goto(`${at}/analytics?campaign_id=${campaign_id}`)
  await funnel.getByRole('link', { name: 'Enrolled: 10' }).waitFor()
  assert.equal(await page.getByLabel('Workflow').inputValue(), workflow_id)
})
