import { Badge } from '../../ui/badge.tsx'
import type { Result } from './records.ts'
import { reasonText } from './words.ts'

/** What came of a candidate in a word: the status, and why. */
export function Outcome({ result }: { result: Pick<Result, 'status' | 'reason'> }) {
  return (
    <span>
      <Badge state={result.status} /> {result.reason && <span class="soft small">{reasonText(result.reason)}</span>}
    </span>
  )
}

export function Qualified({ qualified }: { qualified: boolean | null }) {
  if (qualified === null) return <span class="soft">–</span>
  return qualified ? <span class="good-text whole">Qualified</span> : <span class="bad-text whole">Not qualified</span>
}

export function interestText(interest: Result['output']['interest']): string {
  return interest === undefined || interest === null ? '–' : interest.replaceAll('_', ' ')
}

const VERDICTS = { verified: 'verified', not_verified: 'not verified', not_asked: 'not asked' } as const

/** Answers and verdicts, as far as there are any. */
export function ResultOutput({ output }: { output: Result['output'] }) {
  const answers = Object.entries(output.enrichment ?? {})
  return (
    <div class="result-output stack">
      <dl class="facts">
        <div>
          <dt>Verdict</dt>
          <dd>
            <Qualified qualified={output.qualified} />
          </dd>
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
          {answers.length === 0 ? (
            <p class="soft small">None yet.</p>
          ) : (
            <ul class="verdicts">
              {answers.map(([key, { answer, knocked_out }]) => (
                <li key={key} class="row between">
                  <code>{key}</code>
                  <span>
                    {answer} {knocked_out && <span class="badge bad">knockout</span>}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </div>
  )
}
