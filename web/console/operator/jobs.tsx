import { useState } from 'preact/hooks'
import type { DeadLetter, JobQueue, JobQueueList, QueuedJob } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Badge, stateText } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { api } from '../shell/api.ts'
import { type Loaded, useData, useList } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { ageText } from './alerts.ts'

const POLL_INTERVAL_MS = 5000

/** Background jobs that are waiting, running or failed. */
export default function OperatorJobs() {
  const { query } = useAddress()
  const state = query.get('state') ?? 'failed'
  const queue = query.get('queue') ?? ''
  const queues = useData<JobQueueList>('/operator/queues', { pollMs: POLL_INTERVAL_MS })
  const jobs = useList<QueuedJob>(
    `/operator/jobs?state=${state}${queue ? `&queue=${encodeURIComponent(queue)}` : ''}`,
    {
      pollMs: POLL_INTERVAL_MS,
    },
  )
  const [notice, setNotice] = useState<PageNotice>()
  return (
    <>
      <h1>{t('Background jobs')}</h1>
      <p class="soft">
        {t('Preparation of questions, emails, maintenance and other work that does not happen during a request.')}
      </p>
      {notice && <Notice kind={notice.kind}>{notice.text}</Notice>}
      <div class="row filters">
        <label>
          {t('State##job')}
          <select value={state} onChange={(event) => setQuery({ state: event.currentTarget.value })}>
            <option value="failed">{t('Failed')}</option>
            <option value="waiting">{t('Waiting')}</option>
            <option value="active">{t('Running')}</option>
          </select>
        </label>
        <label>
          {t('Queue')}
          <select value={queue} onChange={(event) => setQuery({ queue: event.currentTarget.value })}>
            <option value="">{t('All queues')}</option>
            {queue && !queues.data?.items.some((each) => each.queue === queue) && <option>{queue}</option>}
            {queues.data?.items.map((each) => (
              <option key={each.queue}>{each.queue}</option>
            ))}
          </select>
        </label>
      </div>
      {jobs.error && <Notice kind="bad">{jobs.error.message}</Notice>}
      <Table
        caption={t('Jobs: {state}', { state: stateText(state) })}
        rows={jobs.items}
        keyOf={({ job_id }) => job_id}
        loadMore={jobs.more}
        empty={
          <p class="soft">
            {state === 'failed'
              ? t('No failed jobs.')
              : state === 'waiting'
                ? t('No waiting jobs.')
                : t('No running jobs.')}
          </p>
        }
        columns={[
          { name: t('Created'), cell: ({ created_at }) => <Time at={created_at} /> },
          { name: t('Queue'), cell: ({ queue: name }) => <code>{name}</code> },
          { name: t('About'), cell: ({ about }) => (about.length > 0 ? <code>{about.join(', ')}</code> : '–') },
          { name: t('State##job'), cell: ({ state: current }) => <Badge state={current} /> },
          {
            name: t('Attempts'),
            right: true,
            cell: ({ attempts, retry_limit }) =>
              t('{attempts} of {maxAttempts}', { attempts, maxAttempts: retry_limit + 1 }),
          },
          ...(state === 'waiting'
            ? [{ name: t('Due'), cell: ({ start_after }: QueuedJob) => <Time at={start_after} /> }]
            : [{ name: t('Error'), cell: ({ error }: QueuedJob) => error ?? '–' }]),
          ...(state === 'failed'
            ? [
                {
                  name: t('Actions'),
                  cell: (job: QueuedJob) => (
                    <button
                      type="button"
                      class="plain flush"
                      aria-label={t('Retry: {name}', { name: job.queue })}
                      onClick={() => void retry(job)}
                    >
                      {t('Retry')}
                    </button>
                  ),
                },
              ]
            : []),
        ]}
      />
      {/* Shown after the list above has loaded, so that it does not move. */}
      {(jobs.items || jobs.error) && <Queues queues={queues} />}
      {(jobs.items || jobs.error) && <DeadLetters onNotice={setNotice} />}
    </>
  )

  async function retry({ queue: name, job_id }: QueuedJob) {
    const response = await api(`/operator/jobs/${name}/${job_id}/retry`, { method: 'POST' })
    setNotice(
      response.ok
        ? { kind: 'good', text: t('Job queued again: {name}.', { name }) }
        : { kind: 'bad', text: response.error.message },
    )
    await Promise.all([jobs.reload(), queues.reload()])
  }
}

interface PageNotice {
  kind: 'good' | 'bad'
  text: string
}

/** Rows that cannot be processed. Hidden if there are none. */
function DeadLetters({ onNotice }: { onNotice: (notice: PageNotice) => void }) {
  const letters = useList<DeadLetter>('/operator/dead-letters', { pollMs: POLL_INTERVAL_MS })
  if (!letters.error && !letters.items?.length) return null
  return (
    <section class="stack-tight">
      <h2>{t('Rows that cannot be processed')}</h2>
      <p class="soft">
        {t(
          'Each of these rows failed when it was processed alone; the others are not affected. Retry a row after the cause is fixed, or discard it: a discarded contact ends with the result “failed”.',
        )}
      </p>
      {letters.error && <Notice kind="bad">{letters.error.message}</Notice>}
      <Table
        caption={t('Rows that cannot be processed')}
        rows={letters.items}
        keyOf={({ queue, subject_id }) => `${queue} ${subject_id}`}
        loadMore={letters.more}
        empty={<p class="soft">{t('No such rows.')}</p>}
        columns={[
          { name: t('Since'), cell: ({ first_failed_at }) => <Time at={first_failed_at} /> },
          { name: t('Queue'), cell: ({ queue }) => <code>{queue}</code> },
          { name: t('Row'), cell: ({ subject_id }) => <code>{subject_id}</code> },
          { name: t('Organisation'), cell: ({ org_id }) => (org_id ? <code>{org_id}</code> : '–') },
          { name: t('Attempts'), right: true, cell: ({ attempts }) => attempts },
          { name: t('Next retry'), cell: ({ retry_at }) => (retry_at ? <Time at={retry_at} /> : t('none')) },
          { name: t('Error'), cell: ({ error }) => error },
          {
            name: t('Actions'),
            cell: (letter) => (
              <span class="row">
                {(['retry', 'discard'] as const).map((action) => (
                  <button
                    key={action}
                    type="button"
                    class="plain flush"
                    aria-label={
                      action === 'retry'
                        ? t('Retry: {name}', { name: letter.subject_id })
                        : t('Discard: {name}', { name: letter.subject_id })
                    }
                    onClick={() => void apply(action, letter)}
                  >
                    {ACTION_LABELS[action]}
                  </button>
                ))}
              </span>
            ),
          },
        ]}
      />
    </section>
  )

  async function apply(action: 'retry' | 'discard', { queue, subject_id }: DeadLetter) {
    const response = await api(`/operator/dead-letters/${queue}/${encodeURIComponent(subject_id)}/${action}`, {
      method: 'POST',
    })
    onNotice(
      response.ok
        ? {
            kind: 'good',
            text: t(action === 'retry' ? 'Retry scheduled: {name}.' : 'Discarded: {name}.', { name: subject_id }),
          }
        : { kind: 'bad', text: response.error.message },
    )
    await letters.reload()
  }
}

const ACTION_LABELS = { retry: t('Retry'), discard: t('Discard') }

function Queues({ queues }: { queues: Loaded<JobQueueList> }) {
  const busyQueues = queues.data?.items.filter(({ waiting, active, failed }) => waiting + active + failed > 0)
  const idleQueueCount = (queues.data?.items.length ?? 0) - (busyQueues?.length ?? 0)
  return (
    <section class="stack-tight">
      <h2>{t('Queues')}</h2>
      {queues.error && <Notice kind="bad">{queues.error.message}</Notice>}
      <Table
        caption={t('Queues')}
        rows={busyQueues}
        keyOf={({ queue: name }) => name}
        empty={<p class="soft">{t('All {count} queues are empty.', { count: queues.data?.items.length })}</p>}
        columns={[
          { name: t('Queue'), cell: ({ queue: name }) => <code>{name}</code> },
          { name: t('Waiting'), right: true, cell: (each) => <Count queue={each} state="waiting" /> },
          { name: t('Running'), right: true, cell: (each) => <Count queue={each} state="active" /> },
          { name: t('Failed'), right: true, cell: (each) => <Count queue={each} state="failed" /> },
          { name: t('Oldest waiting'), right: true, cell: ({ oldest_seconds }) => ageText(oldest_seconds) },
        ]}
      />
      {busyQueues && busyQueues.length > 0 && (
        <p class="soft small">
          {t(idleQueueCount === 1 ? '{count} more queue is empty.' : '{count} more queues are empty.', {
            count: idleQueueCount,
          })}
        </p>
      )}
    </section>
  )
}

function Count({ queue, state }: { queue: JobQueue; state: 'waiting' | 'active' | 'failed' }) {
  const count = queue[state]
  if (count === 0) return <span class="soft">0</span>
  return (
    <button
      type="button"
      class="plain flush"
      aria-label={t('{count} {state} in {queue}', { count, state: stateText(state), queue: queue.queue })}
      onClick={() => setQuery({ state, queue: queue.queue })}
    >
      {count.toLocaleString(displayLocale())}
    </button>
  )
}
