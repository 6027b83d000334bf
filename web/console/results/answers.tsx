import type { PreparedQuestions, Result, ResultStatus } from '../shared/records.ts'

interface Props {
  answers: NonNullable<Result['output']['enrichment']>
  status: ResultStatus
  /** What the mandate asks, where it is at hand. */
  questions?: PreparedQuestions['enrichment'] | undefined
}

/** What was answered, under the words of the question; and what was not. */
export function Answers({ answers, status, questions = [] }: Props) {
  if (Object.keys(answers).length === 0) {
    return <p class="soft small">{status === 'pending' ? 'None yet.' : 'None.'}</p>
  }
  const others = Object.keys(answers).filter((key) => !questions.some((question) => question.key === key))
  const rows = [...questions, ...others.map((key) => ({ key, text: undefined }))]
  return (
    <ul class="verdicts">
      {rows.map(({ key, text }, index) => {
        const given = answers[key]
        return (
          <li key={key} class="row between">
            {text ? (
              <span>
                {text.en ?? Object.values(text)[0]} <code class="soft small">{key}</code>
              </span>
            ) : (
              <code>{key}</code>
            )}
            {given ? (
              <span class="given">
                {given.answer} {given.knocked_out && <span class="badge bad">knockout</span>}
              </span>
            ) : (
              <span class="given soft">{missing(rows.slice(index + 1))}</span>
            )}
          </li>
        )
      })}
    </ul>
  )

  function missing(after: { key: string }[]): string {
    if (after.some(({ key }) => answers[key])) return 'skipped'
    if (status === 'pending') return 'not yet'
    if (Object.values(answers).some(({ knocked_out }) => knocked_out)) return 'not asked'
    return status === 'completed' ? 'skipped' : 'no answer'
  }
}
