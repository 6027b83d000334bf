import type { Mandate, PreparedQuestions, Result } from '../shared/records.ts'
import { useData } from '../shell/loading.ts'
import { usePlace } from '../shell/session.ts'

/** The job of a result, and what it asked; a mandate that was changed since asks other questions now. */
export function useJob(result: Pick<Result, 'mandate_id' | 'flow_version'> | undefined): {
  mandate: Mandate | undefined
  questions: PreparedQuestions['enrichment'] | undefined
  /** Whether the answers can be shown under their questions: earlier they would move when the questions come. */
  ready: boolean
} {
  const place = usePlace()
  const { data: mandate, refusal } = useData<Mandate>(result && place.at(`/mandates/${result.mandate_id}`))
  const same = mandate?.flow_version === result?.flow_version
  const ready = mandate !== undefined || refusal !== undefined
  return { mandate, questions: same ? mandate?.questions?.enrichment : undefined, ready }
}
