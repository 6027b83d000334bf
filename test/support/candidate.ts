import { findCandidacy } from '../../server/campaigns/candidacy.ts'
import { candidatePageUrl } from '../../server/campaigns/candidate-page/links.ts'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import type { MandateInput } from '../../server/mandates/schema.ts'
import type { WorkflowInput } from '../../server/workflows/schema.ts'
import type { TestApp } from './app.ts'
import { aCandidate, createCampaignPartner } from './partners.ts'

export interface InvitationOptions {
  workflow?: Partial<WorkflowInput>
  mandate?: Partial<MandateInput>
  candidate?: object
}

/** Enrols a candidate, sends the first message, and returns the link to the candidate page in it. */
export async function inviteCandidate(app: TestApp, { workflow, mandate, candidate }: InvitationOptions = {}) {
  const { queries } = app.context.db
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate(workflow, mandate)
  const { campaign } = await partner.createCampaign(mandate_id, [aCandidate(1, { name: 'Asha Verma', ...candidate })])
  await contactNow(app.context)
  const { candidate_id } = await queries
    .selectFrom('candidates')
    .select('candidate_id')
    .where('campaign_id', '=', campaign.campaign_id)
    .executeTakeFirstOrThrow()
  const getCandidacy = async () => (await findCandidacy(queries, candidate_id))!
  const link = candidatePageUrl(app.context, await getCandidacy())
  return {
    link,
    token: link.split('/').pop()!,
    campaign_id: campaign.campaign_id as string,
    partner,
    getCandidacy,
  }
}
