import type { QuestionItem, QuestionsOfSkill } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { useData } from '../shell/loading.ts'
import { Link, type Params } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { decimal, percent, REASON_NAMES, SOURCE_NAMES, seconds } from './labels.ts'
import './questions.css'

const MIN_ACTIVE_ITEMS = 12

/** The questions of one skill with their statistics. */
export default function SkillQuestions({ params }: { params: Params }) {
  const context = useOrgContext()
  const { data, error } = useData<QuestionsOfSkill>(context.apiPath(`/questions/${params.skill_id}`))
  if (error) return <Notice kind="bad">{error.message}</Notice>
  const hasResponses = data?.items.some(({ responses }) => responses > 0)
  return (
    <>
      <p>
        <Link to={context.pagePath('/questions')}>{t('Questions')}</Link>
      </p>
      <div class="page-head">
        <h1 class={data ? '' : 'waiting'}>{data?.name ?? t('Skill')}</h1>
        {context.can('owner') && (
          <Link class="button" to={context.pagePath(`/questions/${params.skill_id}/new`)}>
            {t('Add your own question')}
          </Link>
        )}
      </div>
      {data && !hasResponses && (
        <p class="soft">
          {t(
            'No LIVE responses yet. Numbers appear within an hour after the first candidates or students have answered these questions in LIVE. Responses in TEST do not count.',
          )}
        </p>
      )}
      {data?.sources
        .filter(({ enough }) => !enough)
        .map(({ source, active }) => (
          <Notice key={source} kind="wait">
            {t(
              active === 1
                ? '{source}: {active} active question. A skill needs {min} to be verified with them.'
                : '{source}: {active} active questions. A skill needs {min} to be verified with them.',
              { source: SOURCE_NAMES[source], active, min: MIN_ACTIVE_ITEMS },
            )}
          </Notice>
        ))}
      {data ? (
        data.sources.map(({ source }) => (
          <section key={source} class="stack" aria-label={SOURCE_NAMES[source]}>
            <h2>{SOURCE_NAMES[source]}</h2>
            <ItemTable
              items={data.items.filter((item) => item.source === source)}
              skillId={data.skill_id}
              caption={SOURCE_NAMES[source]}
            />
          </section>
        ))
      ) : (
        <ItemTable items={undefined} skillId={params.skill_id!} caption={t('Questions')} />
      )}
    </>
  )
}

interface ItemTableProps {
  items: QuestionItem[] | undefined
  skillId: string
  caption: string
}

function ItemTable({ items, skillId, caption }: ItemTableProps) {
  const context = useOrgContext()
  return (
    <Table
      caption={caption}
      rows={items}
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
        {
          name: t('Status'),
          cell: ({ status, retirement_reason }) => (
            <>
              <Badge state={status} />
              {retirement_reason && <div class="soft small">{REASON_NAMES[retirement_reason]}</div>}
            </>
          ),
        },
        {
          name: t('Responses'),
          right: true,
          cell: ({ responses }) => (responses ? responses.toLocaleString(displayLocale()) : '–'),
        },
        { name: t('Correct'), right: true, cell: ({ correct_share }) => percent(correct_share) },
        { name: t('Discrimination'), right: true, cell: ({ discrimination }) => decimal(discrimination) },
        { name: t('Difficulty'), right: true, cell: ({ difficulty }) => decimal(difficulty) },
        { name: t('Median time'), right: true, cell: ({ median_seconds }) => seconds(median_seconds) },
      ]}
    />
  )
}
