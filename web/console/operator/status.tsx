import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { ageText, type Now, troublesOf } from './alerts.ts'

/** What needs the operator, on one screen; each thing leads to where it is mended. */
export default function OperatorNow() {
  const { data, refusal } = useData<Now>('/operator/now', { every: 10_000 })
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  const troubles = data && troublesOf(data)
  const calls = data?.failed_calls ?? []
  const failing = data?.failing_endpoints ?? []
  const figures: [string, number | undefined, string, string][] = [
    ['Jobs failed', data?.jobs.failed, '/operator/jobs', 'given up after their last try'],
    [
      'Jobs waiting',
      data?.jobs.waiting,
      '/operator/jobs?state=waiting',
      data?.jobs.waiting ? `the oldest for ${ageText(data.jobs.oldest_seconds)}` : 'the queues are empty',
    ],
    ['Mails failed', data?.mails.failed_today, '/operator/mails?status=failed', 'in the last day'],
    ['Mails waiting', data?.mails.queued, '/operator/mails?status=queued', 'to be sent'],
    ['Keys resting', data?.resting_keys, '/operator/limits', 'called too often'],
    ['Skill requests', data?.skill_requests, '/operator/skills', 'to be decided'],
  ]
  return (
    <>
      <h1>Now</h1>
      {!data && (
        <Notice kind="good">
          <span class="waiting">Nothing needs you.</span>
        </Notice>
      )}
      {data && troubles?.length === 0 && (
        <Notice kind="good">
          Nothing needs you. The partner API is on
          {data.organisations_off > 0 && `, but for ${data.organisations_off} switched off by hand`}
          {data.workers > 0 && `; ${data.workers === 1 ? 'a worker runs' : `${data.workers} workers run`}`}.
        </Notice>
      )}
      {troubles?.map(({ text, to, action }) => (
        <Notice key={text} kind="bad">
          {text} {to && <Link to={to}>{action}</Link>}
        </Notice>
      ))}
      {calls.length > 0 && (
        <section class="stack-tight">
          <h2>Calls that failed on our side</h2>
          <Table
            caption="Calls that failed on our side, newest first"
            rows={calls}
            keyOf={({ request_id, at }) => request_id + at}
            empty={null}
            columns={[
              { name: 'When', cell: ({ at }) => <Time at={at} /> },
              {
                name: 'Call',
                cell: ({ method, route }) => (
                  <code>
                    {method} {route}
                  </code>
                ),
              },
              { name: 'Of', cell: ({ org_name, mode }) => `${org_name}, ${mode}` },
              {
                name: 'In the request log',
                cell: ({ org_id, mode, request_id }) => (
                  <Link to={`/${org_id}/${mode}/requests?request_id=${encodeURIComponent(request_id)}`}>
                    <code>{request_id}</code>
                  </Link>
                ),
              },
            ]}
          />
        </section>
      )}
      {failing.length > 0 && (
        <section class="stack-tight">
          <h2>Endpoints that take nothing</h2>
          <p class="soft">Their events are kept for 30 days and sent again by themselves. Tell the partner.</p>
          <Table
            caption="Failing endpoints, the longest first"
            rows={failing}
            keyOf={({ webhook_id }) => webhook_id}
            empty={null}
            columns={[
              {
                name: 'Endpoint',
                cell: ({ org_id, mode, webhook_id, url }) => (
                  <span class="long">
                    <Link to={`/${org_id}/${mode}/webhooks/${webhook_id}`}>{url}</Link>
                  </span>
                ),
              },
              { name: 'Of', cell: ({ org_name, mode }) => `${org_name}, ${mode}` },
              { name: 'Since', cell: ({ failing_since }) => <Time at={failing_since} /> },
            ]}
          />
        </section>
      )}
      {/* Below however many troubles there are: it comes with them, and does not jump. */}
      {data && (
        <ul class="figures">
          {figures.map(([name, value, to, hint]) => (
            <li key={name}>
              <Link class="card figure" to={to}>
                <span class="soft small">{name}</span>
                <strong>{value?.toLocaleString()}</strong>
                <span class="soft small">{hint}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
