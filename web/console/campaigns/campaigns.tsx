import type { ListedCampaign } from '../../api-types/console.ts'
import type { CreditBalance } from '../../api-types/partner.ts'
import { Badge } from '../../ui/badge.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useData, useList } from '../shell/loading.ts'
import './campaigns.css'
import { CreatedVia } from '../shared/created-via.tsx'
import { ListCount, listQueryString, SearchFilter, SelectFilter } from '../shared/list-filters.tsx'
import { SavedViews } from '../shared/saved-views.tsx'
import { Link, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { Progress } from './progress.tsx'

const POLL_INTERVAL_MS = 4000
const PAGE_SIZE = 50
const STATUSES = ['running', 'scheduled', 'paused', 'completed', 'archived'].map((status) => [status, status] as const)
const SORTS = [
  ['oldest', 'Oldest first'],
  ['name', 'Name'],
  ['pending', 'Most candidates in progress'],
  ['candidates', 'Most candidates'],
] as const
const FILTER_NAMES = ['q', 'status', 'mandate_id'] as const

export default function Campaigns() {
  const context = useOrgContext()
  const { query } = useAddress()
  const isFiltered = FILTER_NAMES.some((name) => query.get(name))
  const path = `/lists/campaigns?${listQueryString(query, [...FILTER_NAMES, 'sort'], PAGE_SIZE)}`
  const list = useList<ListedCampaign>(context.apiPath(path), { pollMs: POLL_INTERVAL_MS })
  const credits = useData<CreditBalance>(context.apiPath('/credits'))
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
      <SavedViews page="campaigns" />
      <div class="row filters">
        <SearchFilter label="Search" placeholder="Name, job, company or ID" />
        <SelectFilter name="status" label="Status" allLabel="All statuses" options={STATUSES} />
        <SelectFilter name="sort" label="Sort" allLabel="Newest first" options={SORTS} />
      </div>
      <ListCount list={list} nouns={['campaign', 'campaigns']} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption="Campaigns"
        rows={list.items}
        keyOf={({ campaign_id }) => campaign_id}
        loadMore={list.more}
        empty={
          !isFiltered ? (
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
            <p class="soft">No campaigns match these filters.</p>
          )
        }
        columns={[
          {
            name: 'Campaign',
            cell: ({ campaign_id, display_name, job_title, company_name, job_id }) => (
              <>
                <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{display_name}</Link>
                <div class="soft small">
                  {[display_name === job_title ? undefined : job_title, company_name, job_id]
                    .filter(Boolean)
                    .join(' · ')}
                </div>
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
