import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useCampaignNames } from '../campaigns/campaign-names.ts'
import { Call } from '../results/call.tsx'
import { useData } from '../shell/loading.ts'
import '../campaigns/campaigns.css'
import { Progress } from '../campaigns/progress.tsx'
import type { Campaign, Page, Person } from '../shared/records.ts'
import { Link } from '../shell/router.tsx'
import { type Role, usePlace } from '../shell/session.ts'

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
      {data && (data.candidates.total === 0 ? <FirstSteps /> : <Work />)}
    </>
  )
}

/** What a recruiter comes for: whom to call, and how far the campaigns are. */
function Work() {
  const place = usePlace()
  const people = useData<Page<Person>>(place.at('/people?verdict=to_call&limit=5'), { every: 30_000 })
  const campaigns = useData<Page<Campaign>>(place.at('/campaigns?limit=5'), { every: 15_000 })
  const nameOf = useCampaignNames(
    campaigns.data?.items,
    people.data?.items.map(({ campaign_id }) => campaign_id),
  )
  return (
    <>
      <section class="stack-tight" aria-label="To call">
        <div class="row between">
          <h2>To call</h2>
          <Link to={place.go('/results?verdict=to_call')}>All to call</Link>
        </div>
        <Table
          caption="The latest who qualified and did not turn the job down"
          rows={people.data?.items}
          keyOf={({ result_id }) => result_id}
          empty={
            <p class="soft">Nobody yet. Who qualifies and does not turn the job down stands here, with the number.</p>
          }
          columns={[
            {
              name: 'Candidate',
              cell: ({ result_id, candidate }) => <Link to={place.go(`/results/${result_id}`)}>{candidate.name}</Link>,
            },
            { name: 'Call', cell: ({ candidate: { phone, email } }) => <Call phone={phone} email={email} /> },
            {
              name: 'Campaign',
              cell: ({ campaign_id }) => <Link to={place.go(`/campaigns/${campaign_id}`)}>{nameOf(campaign_id)}</Link>,
            },
            { name: 'Since', cell: ({ completed_at }) => <Time at={completed_at} /> },
          ]}
        />
      </section>
      {/* Below a list of any length: it comes when the list is there, and does not jump. */}
      {(people.data || people.refusal) && <LatestCampaigns campaigns={campaigns.data?.items} nameOf={nameOf} />}
    </>
  )
}

interface LatestProps {
  campaigns: Campaign[] | undefined
  nameOf: (campaignId: string) => string
}

function LatestCampaigns({ campaigns, nameOf }: LatestProps) {
  const place = usePlace()
  return (
    <section class="stack-tight" aria-label="Latest campaigns">
      <div class="row between">
        <h2>Latest campaigns</h2>
        <Link to={place.go('/campaigns')}>All campaigns</Link>
      </div>
      <Table
        caption="The latest campaigns"
        rows={campaigns}
        keyOf={({ campaign_id }) => campaign_id}
        empty={<p class="soft">No campaign yet.</p>}
        columns={[
          {
            name: 'Campaign',
            cell: ({ campaign_id }) => <Link to={place.go(`/campaigns/${campaign_id}`)}>{nameOf(campaign_id)}</Link>,
          },
          { name: 'Status', cell: ({ status }) => <Badge state={status} /> },
          {
            name: 'Progress',
            cell: ({ counts }) => (
              <span class="progress-cell">
                <Progress counts={counts} />
                <span class="soft small">
                  {(counts.candidates - counts.pending).toLocaleString()} of {counts.candidates.toLocaleString()}
                </span>
              </span>
            ),
          },
          { name: 'Starts', cell: ({ starts_at }) => <Time at={starts_at} /> },
        ]}
      />
    </section>
  )
}

function FirstSteps() {
  const place = usePlace()
  const steps: [Role, string, string, string, string][] = [
    [
      'viewer',
      'See it work',
      'Ten test candidates play their parts, from consent to result. Two minutes, in TEST.',
      `/${place.org.org_id}/test/first-campaign`,
      'Run a first campaign',
    ],
    [
      'recruiter',
      'Make it yours',
      'Choose channels, languages and follow-ups; then describe a job.',
      place.go('/workflows/new'),
      'Make a workflow',
    ],
    [
      'owner',
      'Connect your system',
      'Make a key, send a mandate, receive results as webhooks.',
      place.go('/keys'),
      'Make a key',
    ],
  ]
  return (
    <section class="stack-tight" aria-label="First steps">
      <h2>Nothing has happened here yet</h2>
      <ol class="figures first-steps">
        {steps
          .filter(([role]) => place.may(role))
          .map(([, title, text, to, action]) => (
            <li key={title} class="card stack-tight">
              <h3>{title}</h3>
              <p class="soft">{text}</p>
              <Link class="button" to={to}>
                {action}
              </Link>
            </li>
          ))}
      </ol>
    </section>
  )
}
