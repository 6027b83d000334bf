import { useState } from 'preact/hooks'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api } from '../shell/api.ts'
import { type Loaded, useData, useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { ageText } from './alerts.ts'

interface Queue {
  queue: string
  waiting: number
  active: number
  failed: number
  oldest_seconds: number
}

interface Job {
  job_id: string
  queue: string
  state: 'failed' | 'waiting' | 'active'
  about: string[]
  attempts: number
  retry_limit: number
  error: string | null
  created_at: string
  start_after: string
  completed_at: string | null
}

/** Work that waits, runs or has failed. */
export default function OperatorJobs() {
  const { query } = useAddress()
  const state = query.get('state') ?? 'failed'
  const queue = query.get('queue') ?? ''
  const queues = useData<{ items: Queue[] }>('/operator/queues', { every: 5000 })
  const jobs = useList<Job>(`/operator/jobs?state=${state}${queue ? `&queue=${encodeURIComponent(queue)}` : ''}`, {
    every: 5000,
  })
  const [said, setSaid] = useState<{ kind: 'good' | 'bad'; text: string }>()
  return (
    <>
      <h1>Jobs</h1>
      <p class="soft">What is done beside the calls: preparing mandates, sending mails, keeping order.</p>
      {said && <Notice kind={said.kind}>{said.text}</Notice>}
      <div class="row filters">
        <label>
          State
          <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            <option value="failed">Failed</option>
            <option value="waiting">Waiting</option>
            <option value="active">Running</option>
          </select>
        </label>
        <label>
          Queue
          <select value={queue} onChange={(event) => setQuery({ queue: event.currentTarget.value })}>
            <option value="">Every queue</option>
            {queue && !queues.data?.items.some((each) => each.queue === queue) && <option>{queue}</option>}
            {queues.data?.items.map((each) => (
              <option key={each.queue}>{each.queue}</option>
            ))}
          </select>
        </label>
      </div>
      {jobs.refusal && <Notice kind="bad">{jobs.refusal.message}</Notice>}
      <Table
        caption={`Jobs: ${state}`}
        rows={jobs.items}
        keyOf={({ job_id }) => job_id}
        more={jobs.more}
        empty={
          <p class="soft">
            {state === 'failed' ? 'No job has failed.' : state === 'waiting' ? 'Nothing waits.' : 'Nothing runs now.'}
          </p>
        }
        columns={[
          { name: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Queue', cell: ({ queue: name }) => <code>{name}</code> },
          { name: 'About', cell: ({ about }) => (about.length > 0 ? <code>{about.join(', ')}</code> : '–') },
          { name: 'State', cell: ({ state: at }) => <Badge state={at} /> },
          {
            name: 'Tries',
            right: true,
            cell: ({ attempts, retry_limit }) => `${attempts} of ${retry_limit + 1}`,
          },
          ...(state === 'waiting'
            ? [{ name: 'Due', cell: ({ start_after }: Job) => <Time at={start_after} /> }]
            : [{ name: 'Error', cell: ({ error }: Job) => error ?? '–' }]),
          ...(state === 'failed'
            ? [
                {
                  name: 'Again',
                  cell: (job: Job) => (
                    <button
                      type="button"
                      class="plain flush"
                      aria-label={`Try again: ${job.queue}`}
                      onClick={() => void retry(job)}
                    >
                      Try again
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {/* Below a list of any length: it comes when the list is there, and does not jump. */}
      {(jobs.items || jobs.refusal) && <Queues queues={queues} />}
    </>
  )

  async function retry({ queue: name, job_id }: Job) {
    const answer = await api(`/operator/jobs/${name}/${job_id}/retry`, { method: 'POST' })
    setSaid(
      answer.ok
        ? { kind: 'good', text: `The job of ${name} is tried again.` }
        : { kind: 'bad', text: answer.refusal.message },
    )
    await Promise.all([jobs.reload(), queues.reload()])
  }
}

function Queues({ queues }: { queues: Loaded<{ items: Queue[] }> }) {
  const busy = queues.data?.items.filter(({ waiting, active, failed }) => waiting + active + failed > 0)
  const idle = (queues.data?.items.length ?? 0) - (busy?.length ?? 0)
  return (
    <section class="stack-tight">
      <h2>Queues</h2>
      {queues.refusal && <Notice kind="bad">{queues.refusal.message}</Notice>}
      <Table
        caption="Queues"
        rows={busy}
        keyOf={({ queue: name }) => name}
        empty={<p class="soft">All {queues.data?.items.length} queues are empty.</p>}
        columns={[
          { name: 'Queue', cell: ({ queue: name }) => <code>{name}</code> },
          { name: 'Waiting', right: true, cell: (each) => <Count of={each} state="waiting" /> },
          { name: 'Running', right: true, cell: (each) => <Count of={each} state="active" /> },
          { name: 'Failed', right: true, cell: (each) => <Count of={each} state="failed" /> },
          { name: 'Oldest waits', right: true, cell: ({ oldest_seconds }) => ageText(oldest_seconds) },
        ]}
      />
      {busy && busy.length > 0 && <p class="soft small">{idle} more are empty.</p>}
    </section>
  )
}

function Count({ of, state }: { of: Queue; state: 'waiting' | 'active' | 'failed' }) {
  const count = of[state]
  if (count === 0) return <span class="soft">0</span>
  return (
    <button
      type="button"
      class="plain flush"
      aria-label={`${count} ${state} in ${of.queue}`}
      onClick={() => setQuery({ state, queue: of.queue })}
    >
      {count.toLocaleString()}
    </button>
  )
}
