import type { FastifyRequest } from 'fastify'
import type { Detail } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { findMandate } from '../mandates/mandate-rows.ts'
import { getWorkflow } from '../workflows/workflows.ts'
import { findCampaign, startsAtError } from './campaigns.ts'
import { candidateRuleErrors, consentErrors, findDeclaredConsent, MAX_CANDIDATES_PER_REQUEST } from './enrolment.ts'
import { phoneError } from './phone-number.ts'
import { TEST_ONLY_MESSAGE } from './test-scripts.ts'

/** Returns validation errors that depend on the key or the time, which the schema cannot express. */
export function enrolmentInputErrors({ clock }: Pick<Context, 'clock'>, { caller, body }: FastifyRequest): Detail[] {
  const { starts_at, test_clock_id, candidates } = fieldsOfObject(body)
  const details: Detail[] = []
  // With a test clock, `createCampaign` compares the start with the time of that clock.
  const message =
    typeof starts_at === 'string' && test_clock_id === undefined ? startsAtError(starts_at, clock.now()) : undefined
  if (message) details.push({ path: 'starts_at', message })
  const { scale } = caller.key.limits
  const limit = MAX_CANDIDATES_PER_REQUEST[scale]
  // The schema enforces the LIVE limit.
  if (scale === 'test' && Array.isArray(candidates) && candidates.length > limit)
    details.push({ path: 'candidates', message: `must have at most ${limit} items with a TEST key` })
  if (Array.isArray(candidates)) {
    candidates.slice(0, MAX_CANDIDATES_PER_REQUEST.live).forEach((row, index) => {
      const { phone, test_script } = fieldsOfObject(row)
      const message = phoneError(phone)
      if (message) details.push({ path: `candidates[${index}].phone`, message })
      if (test_script !== undefined && caller.mode !== 'test')
        details.push({ path: `candidates[${index}].test_script`, message: TEST_ONLY_MESSAGE })
    })
  }
  return details
}

/** Returns violations of the workflow's rules and missing consents, to be reported together with schema errors. */
export async function enrolmentRuleErrors(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  request: FastifyRequest,
): Promise<Detail[]> {
  const { caller, body, params } = request
  const { mandate_id, candidates } = fieldsOfObject(body)
  if (!Array.isArray(candidates)) return []
  const { campaign_id } = fieldsOfObject(params)
  const target =
    typeof campaign_id === 'string'
      ? await findCampaign(db.queries, caller, campaign_id)
      : typeof mandate_id === 'string'
        ? await findMandate(db.queries, caller, mandate_id)
        : undefined
  if (!target) return []
  const rows = candidates.slice(0, MAX_CANDIDATES_PER_REQUEST.live).map(fieldsOfObject)
  return [
    ...candidateRuleErrors(rows, await getWorkflow(db.queries, caller, target.workflow_id)),
    ...consentErrors(caller, rows, await findDeclaredConsent(db.queries, caller), clock.now()),
  ]
}

function fieldsOfObject(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}
}
