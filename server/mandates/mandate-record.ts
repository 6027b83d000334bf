import { type Flow, questionsOf } from './flow.ts'
import type { Mandate } from './mandate-rows.ts'

/** What a write answers. */
export function mandateResult(mandate: Mandate, changed: boolean) {
  const { mandate_id, job_id, status, flow_version, methods, warnings } = mandate
  return { mandate_id, job_id, status, flow_version, methods, changed, warnings }
}

/** All but the questions that were prepared. */
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

/** The whole mandate, as `GET` and events show it; `questions` is null until they are prepared. */
export function mandateWithQuestions({ mandate, flow }: { mandate: Mandate; flow: string | null }) {
  return wholeMandate(mandate, flow === null ? null : (JSON.parse(flow) as Flow))
}

export function wholeMandate(mandate: Mandate, flow: Flow | null) {
  return { ...mandateRecord(mandate), questions: flow && questionsOf(flow) }
}
