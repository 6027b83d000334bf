import type { Campaign, CreditBalance } from '../../api-types/partner.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData, useList } from '../shell/loading.ts'
import { useCampaignNames } from './campaign-names.ts'
import './campaigns.css'
import { CreatedVia } from '../shared/created-via.tsx'
import { NoMatches } from '../shared/list-filters.tsx'
import { Link, setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { Progress } from './progress.tsx'

const POLL_INTERVAL_MS = 4000
const STATUSES = ['running', 'scheduled', 'paused', 'completed', 'archived']

export default function Campaigns() {
  const context = useOrgContext()
  const { query } = useAddress()
  const status = query.get('status') ?? ''
  const search = query.get('q') ?? ''
  const list = useList<Campaign>(context.apiPath('/campaigns?limit=100'), { pollMs: POLL_INTERVAL_MS })
  const credits = useData<CreditBalance>(context.apiPath('/credits'))
  const nameOf = useCampaignNames(list.items)
  const matchingCampaigns = list.items?.filter(
    (campaign) =>
      (!status || campaign.status === status) &&
      `${nameOf(campaign.campaign_id)} ${campaign.job_id ?? ''} ${campaign.campaign_id}`
        .toLowerCase()
        .includes(search.toLowerCase()),
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
          {context.can('recruiter') && (
            <Link class="button primary" to={context.pagePath('/campaigns/new')}>
              New campaign
            </Link>
          )}
        </div>
      </div>
      <div class="row filters">
        <label>
          Name or ID
          <input type="search" value={search} onInput={(event) => setQuery({ q: event.currentTarget.value })} />
        </label>
        <label>
          Status
          <select value={status} onChange={(event) => setQuery({ status: event.currentTarget.value })}>
            <option value="">All statuses</option>
            {STATUSES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </div>
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Campaigns, newest first"
        rows={matchingCampaigns}
        keyOf={({ campaign_id }) => campaign_id}
        loadMore={list.more}
        empty={
          list.items?.length === 0 ? (
            <>
              <h2>No campaigns yet</h2>
              <p class="soft">
                A campaign contacts candidates for a job and collects their answers.
                {context.mode === 'test' && ' In test mode, no real people are contacted.'}
              </p>
              {context.can('recruiter') && (
                <p class="row centred">
                  {context.mode === 'test' && (
                    <Link to={context.pagePath('/first-campaign')}>Run a first campaign with test candidates</Link>
                  )}
                  <Link to={context.pagePath('/campaigns/new')}>Start a campaign with your candidates</Link>
                </p>
              )}
            </>
          ) : (
            <NoMatches noun="campaign" more={list.more} />
          )
        }
        columns={[
          {
            name: 'Campaign',
            cell: ({ campaign_id, job_id }) => (
              <>
                <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{nameOf(campaign_id)}</Link>
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
          { name: 'Source', cell: ({ created_via }) => <CreatedVia via={created_via} /> },
          { name: 'Starts', cell: ({ starts_at }) => <Time at={starts_at} /> },
        ]}
      />
    </>
  )
}
