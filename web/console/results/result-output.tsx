import type { PreparedQuestions, Result } from '../../api-types/partner.ts'
import { Badge } from '../../ui/badge.tsx'
import { reasonText } from '../shared/labels.ts'
import { Answers } from './answers.tsx'

/** The status of a result, and its reason. */
export function Outcome({ result }: { result: Pick<Result, 'status' | 'reason'> }) {
  return (
    <span>
      <Badge state={result.status} /> {result.reason && <span class="soft small">{reasonText(result.reason)}</span>}
    </span>
  )
}

/** Returns the verdict of a completed result. Other results have none: the candidate has not failed. */
export function verdictOf({ status, output }: Pick<Result, 'status' | 'output'>): boolean | null {
  return status === 'completed' ? output.qualified : null
}

export function Qualified({ qualified }: { qualified: boolean | null }) {
  if (qualified === null) return <span class="soft">–</span>
  return qualified ? <span class="good-text whole">Qualified</span> : <span class="bad-text whole">Not qualified</span>
}

export function interestText(interest: Result['output']['interest']): string {
  return interest === undefined || interest === null ? '–' : interest.replaceAll('_', ' ')
}

const VERDICT_TEXTS = { verified: 'verified', not_verified: 'not verified', not_asked: 'not asked' } as const

interface OutputProps {
  result: Pick<Result, 'status' | 'reason' | 'output'>
  /** The mandate's questions; undefined until they are loaded. */
  questions?: PreparedQuestions['enrichment'] | undefined
}

/** The answers and verdicts of a result. */
export function ResultOutput({ result, questions }: OutputProps) {
  const { status, reason, output } = result
  return (
    <div class="result-output stack">
      <dl class="description-list">
        <div>
          <dt>Verdict</dt>
          <dd>{reason ? `None: ${reasonText(reason)}` : <Qualified qualified={verdictOf(result)} />}</dd>
        </div>
        {output.interest !== undefined && (
          <div>
            <dt>Interest</dt>
            <dd>{interestText(output.interest)}</dd>
          </div>
        )}
      </dl>
      {output.skills && output.skills.length > 0 && (
        <div class="stack-tight">
          <h3>Skills</h3>
          <ul class="verdicts">
            {output.skills.map(({ skill_id, name, verdict, correct, asked }) => (
              <li key={skill_id} class="row between">
                <span>{name}</span>
                <span>
                  {asked > 0 && (
                    <span class="soft small">
                      {correct} of {asked}{' '}
                    </span>
                  )}
                  <span
                    class={`badge ${verdict === 'verified' ? 'good' : verdict === 'not_verified' ? 'bad' : 'quiet'}`}
                  >
                    {VERDICT_TEXTS[verdict]}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {output.enrichment && (
        <div class="stack-tight">
          <h3>Answers</h3>
          <Answers answers={output.enrichment} status={status} questions={questions} />
        </div>
      )}
    </div>
  )
}
