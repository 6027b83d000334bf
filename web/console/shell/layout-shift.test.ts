import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueMail } from '../../../server/mail/mail.ts'
import { consolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { campaigner, pass, player } from '../../../test/support/campaigns.ts'
import { keepTime } from '../../../test/support/clock.ts'
import { until } from '../../../test/support/until.ts'

/** Half of what counts as good: https://web.dev/articles/cls. */
const MOST = 0.05

/** Sums up what the browser itself sees moving while nobody touches anything. */
const WATCH = `
  window.moved = []
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) moved.push({ value, what: sources.map(({ node }) => node?.className || node?.nodeName).join(', ') })
  }).observe({ type: 'layout-shift', buffered: true })`

test('pages whose parts come one after the other do not jump, at a desk and on a phone', async (t) => {
  const app = await startApp(t)
  keepTime(t, app.clock)
  const { context } = app
  const run = await campaigner(app)
  const { mandate_id } = await run.mandate()
  const five = [1, 2, 3, 5, 9].map((number) => player(number))
  const { campaign } = await run.campaign(mandate_id, five, { name: 'March intake' })
  await pass(app, 8000)
  for (let number = 0; number < 12; number++) {
    const to = { address: `person-${number}@example.com` }
    const mail = { kind: 'notice' as const, to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
    await context.db.transaction((tx) => queueMail(tx, context, mail))
    await run.post('/skill-requests', { name: `Kite making ${number}` })
    app.clock.advance(6000)
  }
  await context.db.pool.query(
    `update pgboss.job set state = 'failed', output = '{"message": "the mail server is away"}'`,
  )
  const { orgId: quiet } = await app.given.org('Nobody yet')
  const [{ candidate_id, result_id }] = (await run.get(`/campaigns/${campaign.campaign_id}/candidates`)).body.data.items
  const at = `/console/${run.orgId}/test`
  const paths = [
    at,
    `${at}/analytics`,
    `/console/${quiet}/test/analytics`,
    `${at}/analytics/candidates?counted=funnel.enrolled`,
    `${at}/results/${result_id}`,
    `${at}/candidates/${candidate_id}`,
    `${at}/phone/${candidate_id}`,
    '/console/operator/now',
    '/console/operator/jobs',
    '/console/operator/skills',
  ]
  const seen: string[] = []
  for (const width of [1280, 360]) {
    const page = await consolePage(t, app, { width, height: 800 })
    await page.addInitScript(WATCH)
    for (const path of paths) {
      await page.goto(app.url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await until(async () => (await page.locator('[aria-busy="true"], .waiting').count()) === 0)
      // What comes late moves late, and is told a frame after.
      await page.evaluate(
        'new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done, 50)), 200))',
      )
      const moved = (await page.evaluate('moved')) as { value: number; what: string }[]
      const sum = moved.reduce((total, { value }) => total + value, 0)
      seen.push(`${sum.toFixed(3)} ${width} ${path.replace(/^\/console\/(ORG_\w+\/test)?/, '')}`)
      assert.ok(sum <= MOST, `${path} at ${width}: ${sum} ${JSON.stringify(moved)}`)
    }
  }
  t.diagnostic(`the most: ${seen.sort().reverse().slice(0, 3).join('; ')}`)
})
