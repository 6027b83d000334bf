import { grantCredits } from '../../server/campaigns/credits.ts'
import { type StartAppOptions, startApp } from '../support/app.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { runClock } from '../support/clock.ts'
import { signInMember } from '../support/console.ts'
import { aTestNumberCandidate, createCampaignPartner, passTime } from '../support/partners.ts'

/** Starts a server with background jobs and an organisation. `consoleUrl` returns the URL of a console page in TEST mode. */
export async function startRecruiterConsole(
  t: Cleanup,
  { credits = 200, config = {} }: { credits?: number; config?: NonNullable<StartAppOptions['config']> } = {},
) {
  const app = await startApp(t, { worker: true, config })
  runClock(t, app.clock)
  const { orgId } = await app.fixtures.createOrg()
  if (credits > 0)
    await app.context.db.transaction((tx) => grantCredits(tx, { orgId, mode: 'test' }, app.clock, credits))
  const consoleUrl = (path: string) => `${app.url}/console/${orgId}/test${path}`
  return { app, orgId, consoleUrl, scope: { orgId, mode: 'test' as const } }
}

/** Starts a server with a completed campaign, in which one of four candidates is qualified and interested. */
export async function startConsoleWithResults(t: Cleanup) {
  const app = await startApp(t)
  runClock(t, app.clock)
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  const createdCampaign = await partner.createCampaign(
    mandate_id,
    [1, 2, 4, 5].map((number) => aTestNumberCandidate(number)),
    { name: 'March intake' },
  )
  await passTime(app, 8000)
  const recruiter = await signInMember(app, partner.orgId, 'recruiter')
  const campaignUrl = `${app.url}/console/${partner.orgId}/test/campaigns/${createdCampaign.campaign.campaign_id}`
  return { app, email: recruiter.email, campaignUrl }
}
