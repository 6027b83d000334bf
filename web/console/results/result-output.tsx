import { Badge } from '../../ui/badge.tsx'
import { reasonText } from '../shared/labels.ts'
import type { PreparedQuestions, Result } from '../shared/records.ts'
import { Answers } from './answers.tsx'

/** What came of a candidate in a word: the status, and why. */
export function Outcome({ result }: { result: Pick<Result, 'status' | 'reason'> }) {
  return (
    <span>
      <Badge state={result.status} /> {result.reason && <span class="soft small">{reasonText(result.reason)}</span>}
    </span>
  )
}

/** There is a verdict on those who completed, and on nobody else: who was never asked has not failed. */
export function verdictOn({ status, output }: Pick<Result, 'status' | 'output'>): boolean | null {
  return status === 'completed' ? output.qualified : null
}

export function Qualified({ qualified }: { qualified: boolean | null }) {
  if (qualified === null) return <span class="soft">–</span>
  return qualified ? <span class="good-text whole">Qualified</span> : <span class="bad-text whole">Not qualified</span>
}

export function interestText(interest: Result['output']['interest']): string {
  return interest === undefined || interest === null ? '–' : interest.replaceAll('_', ' ')
}

const VERDICTS = { verified: 'verified', not_verified: 'not verified', not_asked: 'not asked' } as const

interface OutputProps {
  result: Pick<Result, 'status' | 'reason' | 'output'>
  /** What the mandate asks, where it is at hand. */
  questions?: PreparedQuestions['enrichment'] | undefined
}

/** Answers and verdicts, as far as there are any. */
export function ResultOutput({ result, questions }: OutputProps) {
  const { status, reason, output } = result
  return (
    <div class="result-output stack">
      <dl class="facts">
        <div>
          <dt>Verdict</dt>
          <dd>{reason ? `None: ${reasonText(reason)}` : <Qualified qualified={verdictOn(result)} />}</dd>
        </div>
        {output.interest !== undefined && (
          <div>
            <dt>This job</dt>
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
                    {VERDICTS[verdict]}
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
