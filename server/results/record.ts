import { describeEvidence } from '../../sdk/verdict-texts.ts'
import type { ResultCandidacy } from '../campaigns/candidacy.ts'
import { inLanguage } from '../conversation/flow.ts'
import { isQualified, qualificationReasons, verdictsOf } from '../conversation/verdicts.ts'
import { findCredentialLinks } from '../credentials/credentials.ts'
import type { Queries } from '../platform/database/database.ts'

/** Builds a result for responses and events. */
export function resultRecord(candidacy: ResultCandidacy) {
  const { candidate_id, external_candidate_id, name, metadata } = candidacy
  return {
    result_id: candidacy.result_id,
    campaign_id: candidacy.campaign_id,
    mandate_id: candidacy.mandate_id,
    job_id: candidacy.job_id,
    candidate: { candidate_id, external_candidate_id, name, metadata },
    status: candidacy.status,
    reason: candidacy.reason,
    output: resultOutput(candidacy),
    flow_version: candidacy.flow_version,
    version: candidacy.version,
    created_at: candidacy.created_at.toISOString(),
    started_at: candidacy.started_at?.toISOString() ?? null,
    completed_at: candidacy.completed_at?.toISOString() ?? null,
    updated_at: candidacy.updated_at.toISOString(),
  }
}

/** Builds results with the credentials that the candidates have. */
export async function recordsWithCredentials(queries: Queries, candidacies: ResultCandidacy[]) {
  const links = await findCredentialLinks(
    queries,
    'candidate',
    candidacies.filter(({ status }) => status === 'completed').map(({ candidate_id }) => candidate_id),
  )
  return candidacies.map((candidacy) => {
    const record = resultRecord(candidacy)
    const credentials = links.get(candidacy.candidate_id)?.map(({ credentialId, skillId, url }) => ({
      skill_id: skillId,
      credential_id: credentialId,
      credential_url: url,
    }))
    return credentials ? { ...record, output: { ...record.output, credentials } } : record
  })
}

/** Builds the output of a result: the answers and verdicts of the enabled methods. */
export function resultOutput({
  state,
  flow,
  channel,
  status,
}: Pick<ResultCandidacy, 'state' | 'flow' | 'channel' | 'status'>) {
  const hasMethod = (method: (typeof flow.methods)[number]) => flow.methods.includes(method)
  return {
    qualified: status === 'completed' ? isQualified(state, flow) : null,
    reasons: status === 'completed' ? qualificationReasons(state, flow) : [],
    ...(hasMethod('data_enrichment') ? { enrichment: enrichmentOf({ state, flow }) } : {}),
    ...(hasMethod('skill_verification') ? { skills: skillsOf({ state, flow }) } : {}),
    ...(hasMethod('interest_collection') ? { interest: interestOf(state.interest) } : {}),
    language: state.language,
    channel,
  }
}

/** Returns the verdicts with their evidence in words. */
function skillsOf({ state, flow }: Pick<ResultCandidacy, 'state' | 'flow'>) {
  return verdictsOf(state, flow).map((verdict) => ({ ...verdict, summary: describeEvidence(verdict) }))
}

/** Returns the question to which the candidate gave a knockout answer, in English if available, and the answer. */
export function knockoutOf({ state, flow }: Pick<ResultCandidacy, 'state' | 'flow'>) {
  const index = state.enrichment.findIndex(
    (answer, question) => answer !== null && answer === flow.enrichment[question]!.knockout,
  )
  if (index < 0) return null
  const { key, text } = flow.enrichment[index]!
  return { key, question: inLanguage(text, 'en'), answer: state.enrichment[index]! }
}

/** Returns the answers by the partner's keys, without unasked and skipped questions. */
function enrichmentOf({ state, flow }: Pick<ResultCandidacy, 'state' | 'flow'>) {
  return Object.fromEntries(
    state.enrichment.flatMap((answer, index) => {
      const { key, type, knockout } = flow.enrichment[index]!
      return answer === null
        ? []
        : [[key, { type, answer, knocked_out: knockout !== undefined && knockout === answer }]]
    }),
  )
}

function interestOf(interest: boolean | null) {
  return interest === null ? null : interest ? ('interested' as const) : ('not_interested' as const)
}
