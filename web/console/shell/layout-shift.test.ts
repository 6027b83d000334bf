import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueEmail } from '../../../server/mail/mail.ts'
import { openConsolePage } from '../../../test/browser/console-page.ts'
import { startApp } from '../../../test/support/app.ts'
import { runClock } from '../../../test/support/clock.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../../../test/support/partners.ts'
import { until } from '../../../test/support/until.ts'

/** A fifth of the threshold for a good score: https://web.dev/articles/cls. */
const MAX_LAYOUT_SHIFT = 0.02

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
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const fiveCandidates = [1, 2, 3, 5, 9].map((number) => aTestNumberCandidate(number))
  const { campaign } = await partner.createCampaign(mandate_id, fiveCandidates, { name: 'March intake' })
  await passTime(app, 8000)
  for (let number = 0; number < 12; number++) {
    const to = { address: `person-${number}@example.com` }
    const email = { kind: 'notice' as const, to, subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
    await context.db.transaction((tx) => queueEmail(tx, context, email))
    await partner.post('/skill-requests', { name: `Kite making ${number}` })
    app.clock.advance(6000)
  }
  await context.db.pool.query(
    `update pgboss.job set state = 'failed', output = '{"message": "the mail server is away"}'`,
  )
  const { orgId: emptyOrgId } = await app.fixtures.createOrg('Empty organisation')
  const [{ candidate_id, result_id }] = (await partner.get(`/campaigns/${campaign.campaign_id}/candidates`)).body.data
    .items
  const consolePath = `/console/${partner.orgId}/test`
  const paths = [
    consolePath,
    `${consolePath}/analytics`,
    `/console/${emptyOrgId}/test/analytics`,
    `${consolePath}/analytics/candidates?counted=funnel.enrolled`,
    `${consolePath}/results`,
    `${consolePath}/results?status=completed&campaign_id=${campaign.campaign_id}`,
    `${consolePath}/campaigns`,
    `${consolePath}/mandates`,
    `${consolePath}/workflows`,
    `${consolePath}/events`,
    `${consolePath}/requests`,
    `${consolePath}/audit`,
    `${consolePath}/results/${result_id}`,
    `${consolePath}/candidates/${candidate_id}`,
    `${consolePath}/phone/${candidate_id}`,
    '/console/operator/now',
    '/console/operator/jobs',
    '/console/operator/skills',
  ]
  const shiftSums: string[] = []
  for (const width of [1280, 360]) {
    const page = await openConsolePage(t, app, { width, height: 800 })
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
      shiftSums.push(`${sum.toFixed(3)} ${width} ${path.replace(/^\/console\/(ORG_\w+\/test)?/, '')}`)
      assert.ok(sum <= MAX_LAYOUT_SHIFT, `${path} at ${width}: ${sum} ${JSON.stringify(shifts)}`)
    }
  }
  t.diagnostic(`largest layout shifts: ${shiftSums.sort().reverse().slice(0, 3).join('; ')}`)
})
