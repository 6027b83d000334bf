import type { PreparedQuestions, Result, ResultStatus } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { answerText } from './verdict-texts.ts'

interface Props {
  answers: NonNullable<Result['output']['enrichment']>
  status: ResultStatus
  /** The mandate's questions; undefined until they are loaded. */
  questions?: PreparedQuestions['enrichment'] | undefined
}

/** The questions with their answers, including unanswered questions. */
export function Answers({ answers, status, questions = [] }: Props) {
  if (Object.keys(answers).length === 0) {
    return <p class="soft small">{status === 'pending' ? t('No answers yet.') : t('No answers.')}</p>
  }
  const otherKeys = Object.keys(answers).filter((key) => !questions.some((question) => question.key === key))
  const rows = [...questions, ...otherKeys.map((key) => ({ key, text: undefined }))]
  return (
    <ul class="verdicts">
      {rows.map(({ key, text }, index) => {
        const answer = answers[key]
        return (
          <li key={key} class="answer-row">
            {text ? (
              <span>
                {text.en ?? Object.values(text)[0]} <code class="soft small">{key}</code>
              </span>
            ) : (
              <code>{key}</code>
            )}
            {answer ? (
              <span>
                {answerText(answer.answer)} {answer.knocked_out && <span class="badge bad">{t('knockout')}</span>}
              </span>
            ) : (
              <span class="soft">{missingText(rows.slice(index + 1))}</span>
            )}
          </li>
        )
      })}
    </ul>
  )

  function missingText(laterQuestions: { key: string }[]): string {
    if (laterQuestions.some(({ key }) => answers[key])) return t('skipped')
    if (status === 'pending') return t('not yet')
    if (Object.values(answers).some(({ knocked_out }) => knocked_out)) return t('not asked')
    return status === 'completed' ? t('skipped') : t('no answer')
  }
}
