import { useState } from 'preact/hooks'
import type { MandateQuestion, MandateQuestions } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { decimal, percent, QUALITY_TEXTS, SOURCE_NAMES } from '../questions/labels.ts'
import { languageName } from '../shared/labels.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

interface Props {
  mandateId: string
  skillId: string
  count: number | undefined
}

/** All questions about a skill that candidates of a mandate can be asked; loaded when the list is opened. */
export function MandateSkillQuestions({ mandateId, skillId, count }: Props) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details class="all-questions" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{t('All {count} questions: source, quality and use', { count })}</summary>
      {isOpen && <QuestionList mandateId={mandateId} skillId={skillId} />}
    </details>
  )
}

function QuestionList({ mandateId, skillId }: Omit<Props, 'count'>) {
  const context = useOrgContext()
  const path = context.apiPath(`/mandates/${mandateId}/questions`)
  const { data, error, set } = useData<MandateQuestions>(path)
  const [changing, setChanging] = useState<string>()
  const [changeError, setChangeError] = useState<ApiError>()
  if (error) return <Notice kind="bad">{error.message}</Notice>
  const skill = data?.skills.find(({ skill_id }) => skill_id === skillId)
  const excludedCount = skill?.items.filter(({ excluded }) => excluded).length ?? 0
  return (
    <div class="stack">
      {skill && (
        <p class="small">
          {t('Source: {source}. Languages: {languages}.', {
            source: SOURCE_NAMES[skill.source],
            languages: skill.languages.map((language) => languageName(language)).join(', '),
          })}{' '}
          {excludedCount > 0 && `${t('{count} excluded from this job.', { count: excludedCount })} `}
          <Link to={context.pagePath(`/questions/${skillId}`)}>{t('Statistics of these questions')}</Link>
        </p>
      )}
      {changeError && <Notice kind="bad">{changeError.message}</Notice>}
      <Table
        caption={skill ? t('All questions about {skill}', { skill: skill.name }) : t('All questions about the skill')}
        rows={skill?.items}
        keyOf={({ item_id }) => item_id}
        empty={<p class="soft">{t('No questions.')}</p>}
        columns={[
          {
            name: t('Question'),
            cell: ({ item_id, stem }) => (
              <div class="question-stem">
                <Link to={context.pagePath(`/questions/${skillId}/${item_id}`)}>{stem ?? item_id}</Link>
              </div>
            ),
          },
          { name: t('Quality'), cell: (question) => <Quality question={question} /> },
          {
            name: t('Languages'),
            cell: ({ languages }) => <span title={languages.map(languageName).join(', ')}>{languages.join(', ')}</span>,
          },
          {
            name: t('Use'),
            cell: ({ status, excluded }) => <Badge state={excluded ? 'excluded' : status} />,
          },
          ...(data?.may_change
            ? [
                {
                  name: t('Change'),
                  cell: (question: MandateQuestion) =>
                    question.status === 'retired' ? (
                      '–'
                    ) : (
                      <button
                        type="button"
                        class="plain flush"
                        aria-disabled={changing !== undefined}
                        aria-label={`${question.excluded ? t('Ask again') : t('Do not ask')}: ${question.stem ?? question.item_id}`}
                        onClick={() => void change(question)}
                      >
                        {question.excluded ? t('Ask again') : t('Do not ask')}
                      </button>
                    ),
                },
              ]
            : []),
        ]}
      />
      {data?.may_change && (
        <p class="soft small">
          {t(
            '“Do not ask” excludes the question from this job. Within a minute, candidates are asked another question about the same skill instead. At least {min} questions must remain in each language.',
            { min: skill?.min_questions },
          )}
        </p>
      )}
    </div>
  )

  async function change({ item_id, excluded }: MandateQuestion) {
    if (changing !== undefined) return
    setChanging(item_id)
    const action = excluded ? 'include' : 'exclude'
    const response = await api<MandateQuestions>(`${path}/${item_id}/${action}`, { method: 'POST' })
    setChanging(undefined)
    setChangeError(response.ok ? undefined : response.error)
    if (response.ok) set(response.data)
  }
}

/** The quality of a question, from the responses to it. */
function Quality({ question: { quality, responses, correct_share, discrimination } }: { question: MandateQuestion }) {
  return (
    <>
      {QUALITY_TEXTS[quality]}
      {responses > 0 && (
        <div class="soft small">
          {t('{responses} responses, {correctShare} correct, discrimination {discrimination}', {
            responses: responses.toLocaleString(displayLocale()),
            correctShare: percent(correct_share),
            discrimination: decimal(discrimination),
          })}
        </div>
      )}
    </>
  )
}
