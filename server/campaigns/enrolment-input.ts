import type { FastifyRequest } from 'fastify'
import type { Detail } from '../api/problem.ts'
import type { Context } from '../context.ts'
import { findMandate } from '../mandates/mandate-rows.ts'
import { getWorkflow } from '../workflows/workflows.ts'
import { findCampaign, startFault } from './campaigns.ts'
import { MOST_IN_CALL, rowFaults } from './enrolment.ts'
import { phoneFault } from './phone-number.ts'

/** What of a call that enrols depends on the key or the time, and is a matter of shape all the same. */
export function enrolmentShape({ clock }: Context, { caller, body }: FastifyRequest): Detail[] {
  const { starts_at, candidates } = fieldsOf(body)
  const details: Detail[] = []
  const fault = typeof starts_at === 'string' ? startFault(starts_at, clock.now()) : undefined
  if (fault) details.push({ path: 'starts_at', message: fault })
  const most = MOST_IN_CALL[caller.mode]
  // What nobody may send is said by the schema.
  if (caller.mode === 'test' && Array.isArray(candidates) && candidates.length > most)
    details.push({ path: 'candidates', message: `must have at most ${most} items with a TEST key` })
  if (Array.isArray(candidates)) {
    candidates.slice(0, MOST_IN_CALL.live).forEach((row, index) => {
      const message = phoneFault(fieldsOf(row).phone)
      if (message) details.push({ path: `candidates[${index}].phone`, message })
    })
  }
  return details
}

/** Rows that break a rule of the workflow are named together with those that break the schema. */
export async function rowsAgainstWorkflow({ db }: Context, request: FastifyRequest): Promise<Detail[]> {
  const { caller, body, params } = request
  const { mandate_id, candidates } = fieldsOf(body)
  if (!Array.isArray(candidates)) return []
  const { campaign_id } = fieldsOf(params)
  const owner =
    typeof campaign_id === 'string'
      ? await findCampaign(db.queries, caller, campaign_id)
      : typeof mandate_id === 'string'
        ? await findMandate(db.queries, caller, mandate_id)
        : undefined
  if (!owner) return []
  return rowFaults(
    candidates.slice(0, MOST_IN_CALL.live).map(fieldsOf),
    await getWorkflow(db.queries, caller, owner.workflow_id),
  )
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {}
}
