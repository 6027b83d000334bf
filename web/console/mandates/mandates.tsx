import { useEffect, useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { MadeBy } from '../shared/created-via.tsx'
import { methodNames } from '../shared/labels.ts'
import { JobIdFilter } from '../shared/list-filters.tsx'
import type { Mandate, Page, Workflow } from '../shared/records.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

const STATUSES = ['preparing', 'ready', 'failed', 'archived']

export default function Mandates() {
  const place = usePlace()
  const { query } = useAddress()
  const filter = new URLSearchParams()
  for (const name of ['status', 'workflow_id', 'job_id']) {
    const value = query.get(name)
    if (value) filter.set(name, value)
  }
  const filtered = filter.toString() !== ''
  const [preparing, setPreparing] = useState(false)
  const list = useList<Mandate>(place.at(`/mandates?${filter}`), { every: preparing ? 2000 : undefined })
  const some = list.items?.some(({ status }) => status === 'preparing') ?? false
  useEffect(() => setPreparing(some), [some])
  const workflows = useData<Page<Workflow>>(place.at('/workflows?limit=100'))
  const workflowId = query.get('workflow_id') ?? ''
  const known = workflows.data?.items ?? []
  return (
    <>
      <div class="page-head">
        <h1>Mandates</h1>
        {place.may('recruiter') && (
          <Link class="button primary" to={place.go('/mandates/new')}>
            New mandate
          </Link>
        )}
      </div>
      <p class="soft">Jobs to be filled: what they need, and the questions that were written for them.</p>
      <div class="row filters">
        <label>
          Status
          <select
            value={query.get('status') ?? ''}
            onChange={(event) => setQuery({ status: event.currentTarget.value })}
          >
            <option value="">Every status</option>
            {STATUSES.map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
        </label>
        <label>
          Workflow
          <select value={workflowId} onChange={(event) => setQuery({ workflow_id: event.currentTarget.value })}>
            <option value="">Every workflow</option>
            {workflowId && !known.some(({ workflow_id }) => workflow_id === workflowId) && (
              <option value={workflowId}>{workflowId}</option>
            )}
            {known.map(({ workflow_id, name }) => (
              <option key={workflow_id} value={workflow_id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <JobIdFilter />
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Mandates, newest first"
        rows={list.items}
        keyOf={({ mandate_id }) => mandate_id}
        more={list.more}
        empty={
          filtered ? (
            <p class="soft">No mandate fits this filter.</p>
          ) : (
            <>
              <h2>No mandate yet</h2>
              <p class="soft">
                Describe a job and its skills; questions are written for it at once, to be read before anybody is asked.
              </p>
              {place.may('recruiter') && <Link to={place.go('/mandates/new')}>Describe a job</Link>}
            </>
          )
        }
        columns={[
          {
            name: 'Job',
            cell: ({ mandate_id, title, company_name }) => (
              <>
                <Link to={place.go(`/mandates/${mandate_id}`)}>{title}</Link>
                <br />
                <span class="soft small">{company_name}</span>
              </>
            ),
          },
          { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
          { name: 'Your id', cell: ({ job_id }) => job_id ?? '–' },
          { name: 'Asks for', cell: ({ methods }) => methodNames(methods) },
          { name: 'Skills', right: true, cell: ({ skills }) => skills.length },
          { name: 'Made by', cell: ({ created_via }) => <MadeBy via={created_via} /> },
          { name: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}
