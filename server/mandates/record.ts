import { type Flow, questionsOf } from './flow.ts'
import type { Mandate } from './mandates.ts'

/** What a write answers. */
export function mandateResult(mandate: Mandate, changed: boolean) {
  const { mandate_id, job_id, status, flow_version, methods, warnings } = mandate
  return { mandate_id, job_id, status, flow_version, methods, changed, warnings }
}

/** The whole mandate, as events carry it. */
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

/** The same with the questions that were prepared, null where they are not. */
export function mandateWithQuestions({ mandate, flow }: { mandate: Mandate; flow: string | null }) {
  return { ...mandateRecord(mandate), questions: flow === null ? null : questionsOf(JSON.parse(flow) as Flow) }
}
