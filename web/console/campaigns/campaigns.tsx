import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData, useList } from '../shell/loading.ts'
import { useCampaignNames } from './campaign-names.ts'
import './campaigns.css'
import { MadeBy } from '../shared/created-via.tsx'
import { NoneFits } from '../shared/list-filters.tsx'
import type { Campaign } from '../shared/records.ts'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { Progress } from './progress.tsx'

const STATUSES = ['running', 'scheduled', 'paused', 'completed', 'archived']

export default function Campaigns() {
  const place = usePlace()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const q = query.get('q') ?? ''
  const list = useList<Campaign>(place.at('/campaigns?limit=100'), { every: 4000 })
  const credits = useData<{ balance: number }>(place.at('/credits'))
  const nameOf = useCampaignNames(list.items)
  const shown = list.items?.filter(
    (campaign) =>
      (!status || campaign.status === status) &&
      `${nameOf(campaign.campaign_id)} ${campaign.job_id ?? ''} ${campaign.campaign_id}`
        .toLowerCase()
        .includes(q.toLowerCase()),
  )
  return (
    <>
      <div class="page-head">
        <h1>Campaigns</h1>
        <div class="row">
          <span class="soft small">
            {credits.data ? (
              `${credits.data.balance.toLocaleString()} credits left`
            ) : (
              <span class="waiting">000 credits left</span>
            )}
          </span>
          {place.may('recruiter') && (
            <Link class="button primary" to={place.go('/campaigns/new')}>
              New campaign
            </Link>
          )}
        </div>
      </div>
      <div class="row filters">
        <label>
          Name or id
          <input type="search" value={q} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
        </label>
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">Every status</option>
            {STATUSES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      <Table
        caption="Campaigns, newest first"
        rows={shown}
        keyOf={({ campaign_id }) => campaign_id}
        more={list.more}
        empty={
          list.items?.length === 0 ? (
            <>
              <h2>No campaign yet</h2>
              <p class="soft">
                A campaign contacts candidates for a job, and brings back what they answered.
                {place.mode === 'test' && ' In TEST nobody real is contacted.'}
              </p>
              {place.may('recruiter') && (
                <p class="row centred">
                  {place.mode === 'test' && (
                    <Link to={place.go('/first-campaign')}>See one at work in two minutes</Link>
                  )}
                  <Link to={place.go('/campaigns/new')}>Start one with your candidates</Link>
                </p>
              )}
            </>
          ) : (
            <NoneFits what="campaign" more={list.more} />
          )
        }
        columns={[
          {
            name: 'Campaign',
            cell: ({ campaign_id, job_id }) => (
              <>
                <Link to={place.go(`/campaigns/${campaign_id}`)}>{nameOf(campaign_id)}</Link>
                {job_id && (
                  <>
                    <br />
                    <span class="soft small">{job_id}</span>
                  </>
                )}
              </>
            ),
          },
          { name: 'Status', cell: ({ status: state }) => <Badge state={state} /> },
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
          { name: 'Completed', right: true, cell: ({ counts }) => counts.completed.toLocaleString() },
          { name: 'Made by', cell: ({ created_via }) => <MadeBy via={created_via} /> },
          { name: 'Starts', cell: ({ starts_at }) => <Time at={starts_at} /> },
        ]}
      />
    </>
  )
}
