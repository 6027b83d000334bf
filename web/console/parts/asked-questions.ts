import { useData } from '../loading.ts'
import { usePlace } from '../session.ts'
import type { Mandate, PreparedQuestions, Result } from './records.ts'

/** The job of a result, and what it asked; a mandate that was changed since asks other questions now. */
export function useJob(result: Pick<Result, 'mandate_id' | 'flow_version'> | undefined): {
  mandate: Mandate | undefined
  questions: PreparedQuestions['enrichment'] | undefined
} {
  const place = usePlace()
  const mandate = useData<Mandate>(result && place.at(`/mandates/${result.mandate_id}`)).data
  const same = mandate?.flow_version === result?.flow_version
  return { mandate, questions: same ? mandate?.questions?.enrichment : undefined }
}
