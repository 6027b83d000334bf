import type { Mandate, PreparedQuestions, Result } from '../../api-types/partner.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

/** Loads the mandate of a result. Returns its questions only if they have not changed since the candidate was asked. */
export function useResultMandate(result: Pick<Result, 'mandate_id' | 'flow_version'> | undefined): {
  mandate: Mandate | undefined
  questions: PreparedQuestions['enrichment'] | undefined
  /** True when loading has finished. Answers are shown only then, so that they do not move. */
  ready: boolean
} {
  const context = useOrgContext()
  const { data: mandate, error } = useData<Mandate>(result && context.apiPath(`/mandates/${result.mandate_id}`))
  const sameVersion = mandate?.flow_version === result?.flow_version
  const ready = mandate !== undefined || error !== undefined
  return { mandate, questions: sameVersion ? mandate?.questions?.enrichment : undefined, ready }
}
