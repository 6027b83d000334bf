import type { ServerStatus, SignInOptions } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { MODE_NAMES } from '../shared/labels.ts'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { ageText, alertsFor } from './alerts.ts'

const POLL_INTERVAL_MS = 10_000

/** The state of the server: alerts with links to the pages where they are resolved, and key numbers. */
export default function OperatorStatus() {
  const { data: status, error } = useData<ServerStatus>('/operator/now', { pollMs: POLL_INTERVAL_MS })
  const signInOptions = useData<SignInOptions>('/sign-in')
  // Shown together, so that nothing moves.
  const data = signInOptions.loading && !signInOptions.data ? undefined : status
  const withoutEmailServer = signInOptions.data?.mails === 'kept'
  if (error) return <Notice kind="bad">{error.message}</Notice>
  const alerts = data && alertsFor(data)
  const failedCalls = data?.failed_calls ?? []
  const failingEndpoints = data?.failing_endpoints ?? []
  const figures: [string, number | undefined, string, string][] = [
    [t('Jobs failed'), data?.jobs.failed, '/operator/jobs', t('after the last retry')],
    [
      t('Jobs waiting'),
      data?.jobs.waiting,
      '/operator/jobs?state=waiting',
      data?.jobs.waiting
        ? t('the oldest for {age}', { age: ageText(data.jobs.oldest_seconds) })
        : t('all queues are empty'),
    ],
    [t('Emails failed'), data?.mails.failed_today, '/operator/mails?status=failed', t('in the last day')],
    [
      t('Emails waiting'),
      data?.mails.queued,
      '/operator/mails?status=queued',
      withoutEmailServer ? t('no email server') : t('to be sent'),
    ],
    [t('Keys in cooldown'), data?.resting_keys, '/operator/limits', t('because they exceeded rate limits')],
    [t('Skill requests'), data?.skill_requests, '/operator/skills', t('waiting for a decision')],
  ]
  return (
    <>
      <h1>{t('Status')}</h1>
      {!data && (
        <Notice kind="good">
          <span class="waiting">No alerts.</span>
        </Notice>
      )}
      {data && alerts?.length === 0 && (
        <Notice kind="good">
          {data.workers === 0
            ? t('No alerts. The partner API is on.')
            : t(
                data.workers === 1
                  ? 'No alerts. The partner API is on; {count} worker is running.'
                  : 'No alerts. The partner API is on; {count} workers are running.',
                { count: data.workers },
              )}
        </Notice>
      )}
      {alerts?.map(({ text, to, action, isTask }) => (
        <Notice key={text} kind={isTask ? 'wait' : 'bad'}>
          {text} {to && <Link to={to}>{action}</Link>}
        </Notice>
      ))}
      {data && withoutEmailServer && (
        <Notice kind="wait">
          {t('No email server is configured: emails are stored and not sent.')}{' '}
          <Link to="/operator/mails">{t('View emails')}</Link>
        </Notice>
      )}
      {failedCalls.length > 0 && (
        <section class="stack-tight">
          <h2>{t('API calls with server errors')}</h2>
          <Table
            caption={t('API calls with server errors, newest first')}
            rows={failedCalls}
            keyOf={({ request_id, at }) => request_id + at}
            empty={null}
            columns={[
              { name: t('When'), cell: ({ at }) => <Time at={at} /> },
              {
                name: t('Call'),
                cell: ({ method, route }) => (
                  <code>
                    {method} {route}
                  </code>
                ),
              },
              { name: t('Organisation'), cell: ({ org_name, mode }) => `${org_name}, ${MODE_NAMES[mode]}` },
              {
                name: t('Request log'),
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
      {failingEndpoints.length > 0 && (
        <section class="stack-tight">
          <h2>{t('Failing webhook endpoints')}</h2>
          <p class="soft">
            {t('Events for these endpoints are stored for 30 days and retried automatically. Contact the partner.')}
          </p>
          <Table
            caption={t('Failing endpoints, longest failing first')}
            rows={failingEndpoints}
            keyOf={({ webhook_id }) => webhook_id}
            empty={null}
            columns={[
              {
                name: t('Endpoint'),
                cell: ({ org_id, mode, webhook_id, url }) => (
                  <span class="long">
                    <Link to={`/${org_id}/${mode}/webhooks/${webhook_id}`}>{url}</Link>
                  </span>
                ),
              },
              { name: t('Organisation'), cell: ({ org_name, mode }) => `${org_name}, ${MODE_NAMES[mode]}` },
              { name: t('Since'), cell: ({ failing_since }) => <Time at={failing_since} /> },
            ]}
          />
        </section>
      )}
      {/* Shown together with the alerts above, so that it does not move. */}
      {data && (
        <ul class="figures">
          {figures.map(([name, value, to, hint]) => (
            <li key={name}>
              <Link class="card figure" to={to}>
                <span class="soft small">{name}</span>
                <strong>{value?.toLocaleString(displayLocale())}</strong>
                <span class="soft small">{hint}</span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
