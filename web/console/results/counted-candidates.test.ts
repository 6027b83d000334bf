import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { assertAccessible } from '../../../test/browser/axe.ts'
import { newPage } from '../../../test/browser/browser.ts'
import { shot } from '../../../test/browser/screenshots.ts'
import { listBehind } from '../../../test/support/analytics-drilldown.ts'
import { startApp } from '../../../test/support/app.ts'
import { aCandidate, campaigner, pass, player } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { memberOf, signInLink } from '../../../test/support/console.ts'
import { until } from '../../../test/support/until.ts'

/** A campaign of the ten test numbers, played to its end, and one of sixty who wait. */
async function start(t: TestContext) {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const run = await campaigner(app)
  const { mandate_id, workflow_id } = await run.mandate({
    name: 'Site hiring',
    channels: ['voice', 'sms'],
    languages: ['en', 'hi'],
    follow_ups: [{ after_hours: 24, channel: 'sms' }],
  })
  const waiting = Array.from({ length: 60 }, (_, number) => aCandidate(100 + number))
  await run.campaign(mandate_id, waiting)
  const ten = Array.from({ length: 10 }, (_, index) => player(index + 1, index === 3 ? { language: 'hi' } : {}))
  const { campaign } = await run.campaign(mandate_id, ten, { name: 'March intake' })
  await pass(app, 10_000)
  const viewer = await memberOf(app, run.orgId, 'viewer')
  const page = await newPage(t)
  await page.goto(await signInLink(app, viewer.email))
  await page.locator('nav').waitFor({ state: 'attached' })
  const at = (path: string) => `${app.url}/console/${run.orgId}/test${path}`
  return { ...run, page, at, workflow_id, campaign_id: campaign.campaign_id }
}

/** At a desk and on the smallest phone, by day and by night: nothing serious for axe, nothing that sticks out. */
async function look(page: Page, name: string, widths = [1280, 320], schemes: ('light' | 'dark')[] = ['light', 'dark']) {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 })
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme })
      await until(async () => (await page.locator('[aria-busy="true"]').count()) === 0)
      await page.evaluate('scrollTo(0, 0)') // what sticks to the window stands in the middle of a long picture otherwise
      await shot(page, `${name}-${width}-${colorScheme}`)
      await assertAccessible(page)
      assert.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `${name} sticks out`)
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.emulateMedia({ colorScheme: 'light' })
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor()
const summary = (page: Page) => page.getByRole('region', { name: 'What was counted' })
const peopleOn = async (page: Page) => (await column(page, 'Candidate')).sort()

/** What stands in a column, once the rows are there. */
async function column(page: Page, name: string) {
  const cells = page.locator(`tbody td[data-name=${name}]`)
  await cells.first().waitFor()
  return name === 'Candidate' ? cells.locator('a').allTextContents() : cells.allTextContents()
}
const peopleOf = (items: { name: string }[]) => items.map(({ name }) => name).sort()

test('a number leads to exactly those people, by keyboard too, and back with the filters kept', async (t) => {
  const { page, at, get, workflow_id, campaign_id } = await start(t)
  await page.goto(at(`/analytics?campaign_id=${campaign_id}`))
  await page.getByLabel('Workflow').waitFor()
  const responded = page.getByRole('link', { name: 'Responded: 8' })
  await responded.focus()
  await page.keyboard.press('Enter')
  await heading(page, 'Responded')
  await summary(page).getByText('8 candidates').waitFor()
  await summary(page)
    .getByText(/workflow Site hiring · .*campaign March intake/)
    .waitFor()
  const narrowed = `workflow_id=${workflow_id}&campaign_id=${campaign_id}`
  assert.deepEqual(await peopleOn(page), peopleOf(await listBehind(get, 'funnel.responded', narrowed)))
  // Why somebody is not qualified stands beside the name: nobody has to be opened to be told.
  const rowOf = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
  await rowOf('Person 1').getByText('Qualified', { exact: true }).waitFor()
  await rowOf('Person 1').getByText('3 of 3 skills').waitFor()
  await rowOf('Person 2').getByText('Knockout: Do you hold a wireman licence?').waitFor()
  await rowOf('Person 3').getByText('0 of 3 skills').waitFor()
  await rowOf('Person 5').getByText('refused consent').waitFor()
  await look(page, 'counted-people')
  await page.getByRole('link', { name: 'Person 9', exact: true }).click()
  await page.getByRole('heading', { name: /^Person 9/ }).waitFor()
  await page.getByRole('region', { name: 'Conversation' }).waitFor()
  await page.goBack()
  await heading(page, 'Responded')
  await page.getByRole('main').getByRole('link', { name: 'Analytics', exact: true }).click()
  await heading(page, 'Analytics')
  await page.getByRole('link', { name: 'Enrolled: 10', exact: true }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('campaign_id'), campaign_id)

  // Calls are counted, not people: the page tells how many of each.
  await page.getByRole('link', { name: 'Calls, placed: 10' }).click()
  await heading(page, 'Calls, placed')
  await summary(page).getByText('10 calls').waitFor()
  const calls = await column(page, 'Calls')
  assert.equal(
    calls.reduce((sum, text) => sum + Number(text), 0),
    10,
  )
  await look(page, 'counted-calls', [320], ['light'])
  await page.goBack()
  await page.getByRole('link', { name: /^Time on the phone: / }).click()
  await summary(page).getByText('in all').waitFor()
  assert.deepEqual(new Set(await column(page, 'Time')), new Set(['30 s']))
})

test('every number of the page has its list; a long one is read on; zeroes lead nowhere', async (t) => {
  const { page, at, get } = await start(t)
  await page.goto(at('/analytics'))
  await page.getByRole('link', { name: 'Enrolled: 70', exact: true }).waitFor()
  await page.getByText('The numbers of each day').click()
  await look(page, 'counted-numbers')
  const links = page.locator('.pictures a')
  const counted = await links.evaluateAll((all) =>
    all.map((link) => [
      new URL((link as unknown as { href: string }).href).searchParams.get('counted')!,
      link.textContent!,
    ]),
  )
  assert.equal(new Set(counted.map(([path]) => path)).size, counted.length)
  for (const [path, text] of counted) {
    if (path === 'calls.total_seconds') continue // shown as minutes
    const items = await listBehind(get, path!)
    const sum = items.reduce((total, { times }) => total + times, 0)
    assert.equal(Number(text!.split(': ').at(-1)), sum, path)
  }
  for (const part of ['funnel', 'channels', 'follow_ups', 'calls', 'drop_offs', 'languages', 'daily'])
    assert.ok(
      counted.some(([path]) => path!.startsWith(`${part}.`)),
      part,
    )
  assert.ok(!counted.some(([path]) => path === 'calls.busy'))

  const day = counted.find(([path]) => /^daily\..*\.enrolled$/.test(path!))!
  await page.getByRole('row').getByRole('link', { name: day[1]! }).click()
  await page.getByRole('heading', { name: /^Enrolled on/, level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Person 100', exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByRole('link', { name: 'Person 100', exact: true }).waitFor()
  assert.deepEqual(await peopleOn(page), peopleOf(await listBehind(get, 'funnel.enrolled')))

  await page.goto(at('/analytics/candidates?counted=calls.busy'))
  await page.getByRole('heading', { name: 'Nobody counts here' }).waitFor()
  await look(page, 'counted-nobody', [320], ['dark'])
  await page.getByRole('link', { name: 'Back to the analytics' }).click()
  await heading(page, 'Analytics')
  await page.goto(at('/analytics/candidates?counted=funnel.nothing'))
  await page.getByRole('alert').getByText('must be funnel.').waitFor()
})
