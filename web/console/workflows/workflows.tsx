import type { Workflow } from '../../api-types/partner.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { CreatedVia } from '../shared/created-via.tsx'
import { CHANNEL_NAMES, languageName, methodNames } from '../shared/labels.ts'
import { ListCount, listQueryString, SearchFilter, SelectFilter } from '../shared/list-filters.tsx'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const PAGE_SIZE = 50
const SORTS = [
  ['updated', 'Updated last'],
  ['name', 'Name'],
] as const

export default function Workflows() {
  const context = useOrgContext()
  const { query } = useAddress()
  const status = query.get('status') ?? 'active'
  const filter = listQueryString(query, ['q', 'sort'], PAGE_SIZE) + (status === 'all' ? '' : `&status=${status}`)
  const list = useList<Workflow>(context.apiPath(`/lists/workflows?${filter}`))
  const isFiltered = Boolean(query.get('q')) || status === 'archived'
  return (
    <>
      <div class="page-head">
        <h1>Workflows</h1>
        {context.can('recruiter') && (
          <Link class="button primary" to={context.pagePath('/workflows/new')}>
            New workflow
          </Link>
        )}
      </div>
      <p class="soft">
        A workflow sets how candidates are contacted: channels, languages, follow-ups and types of questions.
      </p>
      <div class="row filters">
        <SearchFilter label="Search" placeholder="Name or ID" />
        <label>
          Status
          <select
            value={status}
            onChange={(event) => {
              const selectedStatus = event.currentTarget.value
              setQuery({ status: selectedStatus === 'active' ? undefined : selectedStatus })
            }}
          >
            <option value="active">Active</option>
            <option value="archived">Archived</option>
            <option value="all">All</option>
          </select>
        </label>
        <SelectFilter name="sort" label="Sort" allLabel="Newest first" options={SORTS} />
      </div>
      <ListCount list={list} nouns={['workflow', 'workflows']} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Workflows"
        rows={list.items}
        keyOf={({ workflow_id }) => workflow_id}
        loadMore={list.more}
        loading={list.loading}
        empty={
          !isFiltered ? (
            <>
              <h2>No workflows yet</h2>
              <p class="soft">
                Every job needs a workflow, which sets how candidates are contacted. You can use one workflow for many
                jobs.
              </p>
              {context.can('recruiter') && <Link to={context.pagePath('/workflows/new')}>Create a workflow</Link>}
            </>
          ) : (
            <p class="soft">No workflows match these filters.</p>
          )
        }
        columns={[
          {
            name: 'Name',
            cell: ({ workflow_id, name }) => <Link to={context.pagePath(`/workflows/${workflow_id}`)}>{name}</Link>,
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Questions', cell: ({ default_methods }) => methodNames(default_methods) },
          { name: 'Channels', cell: ({ channels }) => channels.map((each) => CHANNEL_NAMES[each]).join(', ') },
          { name: 'Languages', cell: ({ languages }) => languages.map(languageName).join(', ') },
          { name: 'Mandates', right: true, cell: ({ mandates }) => mandates },
          { name: 'Source', cell: ({ created_via }) => <CreatedVia via={created_via} /> },
          { name: 'Updated', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}
