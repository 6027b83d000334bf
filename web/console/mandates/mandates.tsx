import { useEffect, useState } from 'preact/hooks'
import type { Mandate, WorkflowList } from '../../api-types/partner.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { CreatedVia } from '../shared/created-via.tsx'
import { methodNames } from '../shared/labels.ts'
import { JobIdFilter } from '../shared/list-filters.tsx'
import { useData, useList } from '../shell/loading.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const POLL_INTERVAL_MS = 2000
const STATUSES = ['preparing', 'ready', 'failed', 'archived']

export default function Mandates() {
  const context = useOrgContext()
  const { query } = useAddress()
  const filter = new URLSearchParams()
  for (const name of ['status', 'workflow_id', 'job_id']) {
    const value = query.get(name)
    if (value) filter.set(name, value)
  }
  const isFiltered = filter.toString() !== ''
  const [preparing, setPreparing] = useState(false)
  const list = useList<Mandate>(context.apiPath(`/mandates?${filter}`), {
    pollMs: preparing ? POLL_INTERVAL_MS : undefined,
  })
  const hasPreparing = list.items?.some(({ status }) => status === 'preparing') ?? false
  useEffect(() => setPreparing(hasPreparing), [hasPreparing])
  const workflows = useData<WorkflowList>(context.apiPath('/workflows?limit=100'))
  const workflowId = query.get('workflow_id') ?? ''
  const loadedWorkflows = workflows.data?.items ?? []
  return (
    <>
      <div class="page-head">
        <h1>Mandates</h1>
        {context.can('recruiter') && (
          <Link class="button primary" to={context.pagePath('/mandates/new')}>
            New mandate
          </Link>
        )}
      </div>
      <p class="soft">A mandate is a job to fill: its requirements and the questions for its candidates.</p>
      <div class="row filters">
        <label>
          Status
          <select
            value={query.get('status') ?? ''}
            onChange={(event) => setQuery({ status: event.currentTarget.value })}
          >
            <option value="">All statuses</option>
            {STATUSES.map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
        </label>
        <label>
          Workflow
          <select value={workflowId} onChange={(event) => setQuery({ workflow_id: event.currentTarget.value })}>
            <option value="">All workflows</option>
            {workflowId && !loadedWorkflows.some(({ workflow_id }) => workflow_id === workflowId) && (
              <option value={workflowId}>{workflowId}</option>
            )}
            {loadedWorkflows.map(({ workflow_id, name }) => (
              <option key={workflow_id} value={workflow_id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <JobIdFilter />
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Mandates, newest first"
        rows={list.items}
        keyOf={({ mandate_id }) => mandate_id}
        loadMore={list.more}
        empty={
          isFiltered ? (
            <p class="soft">No mandates match these filters.</p>
          ) : (
            <>
              <h2>No mandates yet</h2>
              <p class="soft">
                Describe a job and its skills. We write the questions, and you can review them before any candidate is
                contacted.
              </p>
              {context.can('recruiter') && <Link to={context.pagePath('/mandates/new')}>Create a mandate</Link>}
            </>
          )
        }
        columns={[
          {
            name: 'Job',
            cell: ({ mandate_id, title, company_name }) => (
              <>
                <Link to={context.pagePath(`/mandates/${mandate_id}`)}>{title}</Link>
                <br />
                <span class="soft small">{company_name}</span>
              </>
            ),
          },
          { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
          { name: 'Your job ID', cell: ({ job_id }) => job_id ?? '–' },
          { name: 'Questions', cell: ({ methods }) => methodNames(methods) },
          { name: 'Skills', right: true, cell: ({ skills }) => skills.length },
          { name: 'Source', cell: ({ created_via }) => <CreatedVia via={created_via} /> },
          { name: 'Updated', cell: ({ updated_at }) => <Time at={updated_at} /> },
        ]}
      />
    </>
  )
}
