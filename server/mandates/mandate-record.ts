import { questionsOf, type StoredFlow } from './flow.ts'
import type { Mandate } from './mandate-rows.ts'

/** Builds the response to a request that creates or changes a mandate. */
export function mandateResult(mandate: Mandate, changed: boolean) {
  const { mandate_id, job_id, status, flow_version, methods, warnings } = mandate
  return { mandate_id, job_id, status, flow_version, methods, changed, warnings }
}

/** Builds the mandate record without the prepared questions. */
export function mandateRecord(mandate: Mandate) {
  const { body, created_via, failure, version, created_at, updated_at } = mandate
  return {
    ...mandateResult(mandate, false),
    ...body,
    created_via,
    failure,
    version,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

/** Builds the full mandate record from a flow in its stored form. */
export function fullMandateRecordFromJson({ mandate, flow }: { mandate: Mandate; flow: string | null }) {
  return fullMandateRecord(mandate, flow === null ? null : (JSON.parse(flow) as StoredFlow))
}

/** Builds the full mandate record for `GET` and events; `questions` is null until they are prepared. */
export function fullMandateRecord(mandate: Mandate, flow: StoredFlow | null) {
  return { ...mandateRecord(mandate), questions: flow && questionsOf(flow) }
}
