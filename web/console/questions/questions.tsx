import type { QuestionSkill } from '../../api-types/console.ts'
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
        <h1>Questions</h1>
        <a
          class="button"
          href={`/console/api${context.apiPath('/export/responses.csv')}`}
          download={`responses-${context.mode}.csv`}
        >
          Export responses
        </a>
      </div>
      <QuestionTabs current="/questions" />
      <p class="soft">
        The questions of each skill and how people respond to them. Statistics are computed every hour from LIVE
        responses; those of the built-in bank include all organisations of this deployment. The export contains the{' '}
        {context.mode.toUpperCase()} responses of your organisation, without people.
      </p>
      <div class="row filters">
        <label>
          Skill
          <input
            type="search"
            value={search}
            placeholder="Part of the name"
            onChange={(event) => setQuery({ search: event.currentTarget.value.trim() })}
          />
        </label>
        <label>
          Source
          <select value={source} onChange={(event) => setQuery({ source: event.currentTarget.value })}>
            <option value="">All sources</option>
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
        caption="Skills with questions"
        rows={list.items?.flatMap(({ sources, ...skill }) => sources.map((each) => ({ ...skill, ...each })))}
        keyOf={(row) => `${row.skill_id} ${row.source}`}
        loadMore={list.more}
        loading={list.loading}
        empty={
          search || source ? (
            <p class="soft">No skill with questions matches these filters.</p>
          ) : (
            <p class="soft">This deployment has no questions.</p>
          )
        }
        columns={[
          {
            name: 'Skill',
            cell: ({ skill_id, name }) => <Link to={context.pagePath(`/questions/${skill_id}`)}>{name}</Link>,
          },
          { name: 'Source', cell: (row) => SOURCE_NAMES[row.source] },
          {
            name: 'Active',
            right: true,
            cell: ({ active, enough }) =>
              enough ? (
                active
              ) : (
                <>
                  {active} <span class="badge bad">too few</span>
                </>
              ),
          },
          { name: 'Pilot', right: true, cell: ({ pilot }) => pilot || '–' },
          { name: 'Retired', right: true, cell: ({ retired }) => retired || '–' },
          { name: 'Responses', right: true, cell: ({ responses }) => (responses ? responses.toLocaleString() : '–') },
        ]}
      />
    </>
  )
}
