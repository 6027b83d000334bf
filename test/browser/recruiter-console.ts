import { grantCredits } from '../../server/campaigns/credits.ts'
import { startApp } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { runClock } from '../support/clock.ts'
import { signInMember } from '../support/console.ts'
import { campaignPartner, passTime, testNumber } from '../support/partners.ts'

/** Starts a server with a worker and an organisation. `at` returns the URL of a console page in test mode. */
export async function startRecruiterConsole(t: Cleanup, { credits = 200 } = {}) {
  const app = await startApp(t, { worker: true })
  runClock(t, app.clock)
  const { orgId } = await app.given.org()
  if (credits > 0)
    await app.context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, app.clock, credits))
  const at = (path: string) => `${app.url}/console/${orgId}/test${path}`
  return { app, orgId, at, scope: { orgId, mode: 'test' as const } }
}

/** Starts a server with a completed campaign, in which one of four candidates is qualified and interested. */
export async function startConsoleWithResults(t: Cleanup) {
  const app = await startApp(t)
  runClock(t, app.clock)
  const run = await campaignPartner(app)
  const { mandate_id } = await run.mandate()
  const created = await run.campaign(
    mandate_id,
    [1, 2, 4, 5].map((number) => testNumber(number)),
    { name: 'March intake' },
  )
  await passTime(app, 8000)
  const recruiter = await signInMember(app, run.orgId, 'recruiter')
  const campaignUrl = `${app.url}/console/${run.orgId}/test/campaigns/${created.campaign.campaign_id}`
  return { app, email: recruiter.email, campaignUrl }
}
