import { Notice } from '../../ui/notice.tsx'
import { useData } from '../loading.ts'
import { Link } from '../router.tsx'
import { usePlace } from '../session.ts'

interface Summary {
  workflows: number
  mandates: { preparing: number; ready: number; failed: number }
  campaigns: { scheduled: number; running: number; paused: number; completed: number }
  candidates: { total: number; pending: number; completed: number; declined: number; failed: number }
  credits: number
  webhooks: { enabled: number; failing: number; disabled: number }
  members: number
  keys: number
}

/** Where things stand, and what to do next. */
export default function Start() {
  const place = usePlace()
  const { data, refusal } = useData<Summary>(place.at('/summary'), { every: 15_000 })
  if (refusal) return <Notice kind="bad">{refusal.message}</Notice>
  const figures: [string, number | undefined, string, string][] = [
    ['Mandates ready', data?.mandates.ready, '/mandates', 'jobs whose questions are written'],
    ['Campaigns running', data?.campaigns.running, '/campaigns', 'candidates are being contacted'],
    ['Candidates waiting', data?.candidates.pending, '/results?status=pending', 'have not finished yet'],
    ['Completed', data?.candidates.completed, '/results?status=completed', 'candidates who finished'],
    ['Credits', data?.credits, '/campaigns', 'one is spent a candidate'],
  ]
  return (
    <>
      <div class="page-head">
        <h1>{place.org.name}</h1>
        {place.may('recruiter') && (
          <span class="row">
            {place.mode === 'test' && <Link to={place.go('/first-campaign')}>Run a first campaign</Link>}
            <Link class="button primary" to={place.go('/campaigns/new')}>
              New campaign
            </Link>
          </span>
        )}
      </div>
      {data && data.mandates.failed > 0 && (
        <Notice kind="bad">
          {data.mandates.failed} {data.mandates.failed === 1 ? 'mandate' : 'mandates'} could not be prepared.{' '}
          <Link to={place.go('/mandates?status=failed')}>See why</Link>
        </Notice>
      )}
      {data && data.webhooks.failing > 0 && (
        <Notice kind="bad">
          {data.webhooks.failing} webhook {data.webhooks.failing === 1 ? 'endpoint fails' : 'endpoints fail'}; events
          wait. <Link to={place.go('/webhooks')}>Look at the attempts</Link>
        </Notice>
      )}
      <ul class="figures">
        {figures.map(([name, value, to, hint]) => (
          <li key={name}>
            <Link class="card figure" to={place.go(to)}>
              <span class="soft small">{name}</span>
              <strong>{value === undefined ? <span class="waiting">00</span> : value.toLocaleString()}</strong>
              <span class="soft small">{hint}</span>
            </Link>
          </li>
        ))}
      </ul>
      {data && data.candidates.total === 0 && <FirstSteps />}
    </>
  )
}

function FirstSteps() {
  const place = usePlace()
  const steps: [string, string, string, string][] = [
    [
      'See it work',
      'Ten test candidates play their parts, from consent to result. Two minutes.',
      '/first-campaign',
      'Run a first campaign',
    ],
    [
      'Make it yours',
      'Choose channels, languages and follow-ups; then describe a job.',
      '/workflows/new',
      'Make a workflow',
    ],
    ['Connect your system', 'Make a key, send a mandate, receive results as webhooks.', '/keys', 'Make a key'],
  ]
  return (
    <section class="stack-tight" aria-label="First steps">
      <h2>Nothing has happened here yet</h2>
      <ol class="figures first-steps">
        {steps.map(([title, text, to, action]) => (
          <li key={title} class="card stack-tight">
            <h3>{title}</h3>
            <p class="soft">{text}</p>
            <Link class="button" to={place.go(to)}>
              {action}
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}
