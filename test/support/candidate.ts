import { randomUUID } from 'node:crypto'
import { findCandidacy } from '../../server/campaigns/candidacy.ts'
import { candidatePageUrl } from '../../server/campaigns/candidate-page/links.ts'
import { contactNow } from '../../server/campaigns/contact/engine.ts'
import type { ConversationState } from '../../server/conversation/state.ts'
import type { MandateInput } from '../../server/mandates/schema.ts'
import { KEY } from '../../server/measurement/form.ts'
import type { WorkflowInput } from '../../server/workflows/schema.ts'
import type { TestApp } from './app.ts'
import { aCandidate, type CampaignPartner, createCampaignPartner } from './partners.ts'

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

/** Returns the index of the right option of the current question, or undefined if it is not about a skill. No API returns it. */
export function keyIndex({ point, skills }: ConversationState): number | undefined {
  return point.at === 'skills' ? skills[point.skill]![point.item]!.options.indexOf(KEY) : undefined
}

/** Returns calls to the API of the candidate page. A reply is to the question that was last received, unless it is sent again. */
export function candidatePage(url: string, token: string) {
  let step = 1
  const call = async (path: string, body?: object) => {
    const response = await fetch(`${url}/api/v1/candidate/${token}${path}`, {
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const responseBody: any = await response.json()
    if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(responseBody)}`)
    step = responseBody.data.step
    return responseBody.data
  }
  return {
    view: () => call(''),
    reply: (content: { value: string } | { text: string }, id: { step?: number; client_id?: string } = {}) =>
      call('/reply', { step, client_id: randomUUID(), ...content, ...id }),
  }
}

/** Enrols candidates in a new campaign and sends the first messages. Returns the page, the candidacy and the result of each. */
export async function inviteCandidates(
  app: TestApp,
  partner: CampaignPartner,
  mandateId: string,
  candidates: { external_candidate_id: string }[],
) {
  const { queries } = app.context.db
  const { campaign } = await partner.createCampaign(mandateId, candidates)
  await contactNow(app.context)
  const rows = await queries
    .selectFrom('candidates')
    .innerJoin('candidate_progress', 'candidate_progress.candidate_id', 'candidates.candidate_id')
    .select(['candidates.candidate_id', 'result_id', 'external_candidate_id'])
    .where('candidates.campaign_id', '=', campaign.campaign_id)
    .execute()
  return Promise.all(
    candidates.map(async ({ external_candidate_id: externalId }) => {
      const { candidate_id, result_id } = rows.find((row) => row.external_candidate_id === externalId)!
      const getCandidacy = async () => (await findCandidacy(queries, candidate_id))!
      const token = candidatePageUrl(app.context, await getCandidacy())
        .split('/')
        .pop()!
      return {
        candidateId: candidate_id,
        token,
        page: candidatePage(app.url, token),
        getCandidacy,
        getResult: async () => (await partner.get(`/results/${result_id}`)).body.data,
      }
    }),
  )
}
