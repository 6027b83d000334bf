import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueEmail } from '../../../server/mail/mail.ts'
import { consolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { campaignPartner, passTime, testNumber } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

/** Half of the threshold for a good score: https://web.dev/articles/cls. */
const MAX_LAYOUT_SHIFT = 0.05

/** Records the layout shifts that the browser reports without user input. */
const RECORD_SHIFTS = `
  window.shifts = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) shifts.push({ value, elements: sources.map(({ node }) => node?.className || node?.nodeName).join(', ') })
  }).observe({ type: 'layout-shift', buffered: true })`

test('pages do not shift while their parts load, on desktop and on a phone', async (t) => {
  const app = await startApp(t)
  runClock(t, app.clock)
  const { context } = app
  const run = await campaignPartner(app)
  const { mandate_id } = await run.mandate()
  const five = [1, 2, 3, 5, 9].map((number) => testNumber(number))
  const { campaign } = await run.campaign(mandate_id, five, { name: 'March intake' })
  await passTime(app, 8000)
  for (let number = 0; number < 12; number++) {
    const to = { address: `person-${number}@example.com` }
    const email = { kind: 'notice' as const, to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
    await context.db.transaction((tx) => queueEmail(tx, context, email))
    await run.post('/skill-requests', { name: `Kite making ${number}` })
    app.clock.advance(6000)
  }
  await context.db.pool.query(
    `update pgboss.job set state = 'failed', output = '{"message": "the mail server is away"}'`,
  )
  const { orgId: emptyOrgId } = await app.given.org('Empty organisation')
  const [{ candidate_id, result_id }] = (await run.get(`/campaigns/${campaign.campaign_id}/candidates`)).body.data.items
  const at = `/console/${run.orgId}/test`
  const paths = [
    at,
    `${at}/analytics`,
    `/console/${emptyOrgId}/test/analytics`,
    `${at}/analytics/candidates?counted=funnel.enrolled`,
    `${at}/results/${result_id}`,
    `${at}/candidates/${candidate_id}`,
    `${at}/phone/${candidate_id}`,
    '/console/operator/now',
    '/console/operator/jobs',
    '/console/operator/skills',
  ]
  const sums: string[] = []
  for (const width of [1280, 360]) {
    const page = await consolePage(t, app, { width, height: 800 })
    await page.addInitScript(RECORD_SHIFTS)
    for (const path of paths) {
      await page.goto(app.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await until(async () => (await page.locator('[aria-busy="true"], .waiting').count()) === 0)
      // Late content shifts late, and the browser reports it one frame later.
      await page.evaluate(
        'new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 50)), 200))',
      )
      const shifts = (await page.evaluate('shifts')) as { value: number; elements: string }[]
      const sum = shifts.reduce((total, { value }) => total + value, 0)
      sums.push(`${sum.toFixed(3)} ${width} ${path.replace(/^\/console\/(ORG_\w+\/test)?/, '')}`)
      assert.ok(sum <= MAX_LAYOUT_SHIFT, `${path} at ${width}: ${sum} ${JSON.stringify(shifts)}`)
    }
  }
  t.diagnostic(`largest layout shifts: ${sums.sort().reverse().slice(0, 3).join('; ')}`)
})
