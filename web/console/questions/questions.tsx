import type { QuestionSkill } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { SOURCE_NAMES } from './labels.ts'
import { QuestionTabs } from './question-tabs.tsx'

/** All skills with questions, and how many questions of each source there are. */
export default function Questions() {
  const context = useOrgContext()
  const { query } = useAddress()
  const search = query.get('search') ?? ''
  const source = query.get('source') ?? ''
  const filter = new URLSearchParams({ limit: '50' })
  if (search) filter.set('search', search)
  if (source) filter.set('source', source)
  const list = useList<QuestionSkill>(context.apiPath(`/questions?${filter}`))
  return (
    <>
      <div class="page-head">
        <h1>{t('Questions')}</h1>
        <a
          class="button"
          href={`/console/api${context.apiPath('/export/responses.csv')}`}
          download={`responses-${context.mode}.csv`}
        >
          {t('Export responses')}
        </a>
      </div>
      <QuestionTabs current="/questions" />
      <p class="soft">
        {t(
          'The questions of each skill and how people respond to them. Statistics are computed every hour from LIVE responses; those of the built-in bank include all organisations of this deployment. The export contains the {mode} responses of your organisation, without people.',
          { mode: context.mode.toUpperCase() },
        )}
      </p>
      <div class="row filters">
        <label>
          {t('Skill')}
          <input
            type="search"
            value={search}
            placeholder={t('Part of the name')}
            onChange={(event) => setQuery({ search: event.currentTarget.value.trim() })}
          />
        </label>
        <label>
          {t('Source')}
          <select value={source} onChange={(event) => setQuery({ source: event.currentTarget.value })}>
            <option value="">{t('All sources')}</option>
            {Object.entries(SOURCE_NAMES).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Skills with questions')}
        rows={list.items?.flatMap(({ sources, ...skill }) => sources.map((each) => ({ ...skill, ...each })))}
        keyOf={(row) => `${row.skill_id} ${row.source}`}
        loadMore={list.more}
        loading={list.loading}
        empty={
          search || source ? (
            <p class="soft">{t('No skill with questions matches these filters.')}</p>
          ) : (
            <p class="soft">{t('This deployment has no questions.')}</p>
          )
        }
        columns={[
          {
            name: t('Skill'),
            cell: ({ skill_id, name }) => <Link to={context.pagePath(`/questions/${skill_id}`)}>{name}</Link>,
          },
          { name: t('Source'), cell: (row) => SOURCE_NAMES[row.source] },
          {
            name: t('Active'),
            right: true,
            cell: ({ active, enough }) =>
              enough ? (
                active
              ) : (
                <>
                  <span class="badge bad">{t('too few')}</span> {active}
                </>
              ),
          },
          { name: t('Pilot'), right: true, cell: ({ pilot }) => pilot || '–' },
          { name: t('Retired'), right: true, cell: ({ retired }) => retired || '–' },
          {
            name: t('Responses'),
            right: true,
            cell: ({ responses }) => (responses ? responses.toLocaleString(displayLocale()) : '–'),
          },
        ]}
      />
    </>
  )
}
