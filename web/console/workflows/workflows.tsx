import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { MadeBy } from '../shared/created-via.tsx'
import { CHANNELS, languageName, methodNames } from '../shared/labels.ts'
import { NoneFits } from '../shared/list-filters.tsx'
import type { Workflow } from '../shared/records.ts'
import { useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

export default function Workflows() {
  const place = usePlace()
  const { query } = useAddress()
  const q = query.get('q') ?? ''
  const status = query.get('status') ?? 'active'
  const list = useList<Workflow>(place.at('/workflows?limit=100'))
  const shown = list.items?.filter(
    (workflow) =>
      (status === 'all' || workflow.status === status) && workflow.name.toLowerCase().includes(q.toLowerCase()),
  )
  return (
    <>
      <div class="page-head">
        <h1>Workflows</h1>
        {place.may('recruiter') && (
          <Link class="button primary" to={place.go('/workflows/new')}>
            New workflow
          </Link>
        )}
      </div>
      <p class="soft">
        How candidates are contacted: channels in the order to try, languages, follow-ups, and what is asked.
      </p>
      <div class="row filters">
        <label>
          Name
          <input type="search" value={q} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
        </label>
        <label>
          Status
          <select
            value={status}
            onChange={(event) => {
              const chosen = event.currentTarget.value
              setQuery({ status: chosen === 'active' ? undefined : chosen })
            }}
          >
            <option value="active">Active</option>
            <option value="archived">Archived</option>
            <option value="all">All</option>
          </select>
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Workflows, newest first"
        rows={shown}
        keyOf={({ workflow_id }) => workflow_id}
        more={list.more}
        loading={list.loading}
        empty={
          list.items?.length === 0 ? (
            <>
              <h2>No workflow yet</h2>
              <p class="soft">A workflow says how people are reached. Every job needs one; one can serve many jobs.</p>
              {place.may('recruiter') && <Link to={place.go('/workflows/new')}>Make the first one</Link>}
            </>
          ) : (
            <NoneFits what="workflow" more={list.more} />
          )
        }
        columns={[
          {
            name: 'Name',
            cell: ({ workflow_id, name }) => <Link to={place.go(`/workflows/${workflow_id}`)}>{name}</Link>,
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
          { name: 'Asks for', cell: ({ default_methods }) => methodNames(default_methods) },
          { name: 'Channels', cell: ({ channels }) => channels.map((each) => CHANNELS[each]).join(', ') },
          { name: 'Languages', cell: ({ languages }) => languages.map(languageName).join(', ') },
          { name: 'Mandates', right: true, cell: ({ mandates }) => mandates },
          { name: 'Made by', cell: ({ created_via }) => <MadeBy via={created_via} /> },
          { name: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}
