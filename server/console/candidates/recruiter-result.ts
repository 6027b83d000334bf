import type { ResultCandidacy } from '../../campaigns/candidacy.ts'
import { knockoutOf, resultRecord } from '../../results/record.ts'

const verdicts = ['qualified', 'not_qualified', 'undecided'] as const
export type CandidateVerdict = (typeof verdicts)[number]
export const verdictFilters = ['to_call', ...verdicts] as const
export type VerdictFilter = (typeof verdictFilters)[number]

/** Returns a result with the contact details of its candidate and the text of a knockout question. */
export function recruiterResult(candidacy: ResultCandidacy) {
  const { candidate, ...result } = resultRecord(candidacy)
  return {
    ...result,
    candidate: { ...candidate, phone: candidacy.phone, email: candidacy.email },
    knocked_out_by: 'enrichment' in result.output ? knockoutOf(candidacy) : null,
  }
}

export type RecruiterResult = ReturnType<typeof recruiterResult>

/** Returns the verdict of a completed result; null if the result is not completed. */
export function verdictOf({ status, output }: Pick<RecruiterResult, 'status' | 'output'>): CandidateVerdict | null {
  if (status !== 'completed') return null
  if (output.qualified === null) return 'undecided'
  return output.qualified ? 'qualified' : 'not_qualified'
}

/** Returns whether a recruiter should call the candidate, who is qualified and has not turned the job down. */
export function isToCall(result: Pick<RecruiterResult, 'status' | 'output'>): boolean {
  const { output } = result
  return verdictOf(result) === 'qualified' && !('interest' in output && output.interest === 'not_interested')
}
