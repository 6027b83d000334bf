import type { ListedCampaign } from '../../api-types/console.ts'
import type { CreditBalance } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
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
import { Progress, ProgressLegend } from './progress.tsx'
import { CAMPAIGN_STATUS_NAMES } from './status-names.ts'

const POLL_INTERVAL_MS = 4000
const PAGE_SIZE = 50
const SORTS = [
  ['oldest', t('Oldest first')],
  ['name', t('Name')],
  ['pending', t('Most candidates in progress')],
  ['candidates', t('Most candidates')],
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
        <h1>{t('Campaigns')}</h1>
        <div class="row">
          <span class="soft small">
            {credits.data ? (
              t('{balance} credits left', { balance: credits.data.balance.toLocaleString(displayLocale()) })
            ) : (
              <span class="waiting">000 credits left</span>
            )}
          </span>
          {context.can('recruiter') && (
            <Link class="button primary" to={context.pagePath('/campaigns/new')}>
              {t('New campaign')}
            </Link>
          )}
        </div>
      </div>
      <SavedViews page="campaigns" />
      <div class="row filters">
        <SearchFilter label={t('Search')} placeholder={t('Name, job, company or ID')} />
        <SelectFilter
          name="status"
          label={t('Status')}
          allLabel={t('All statuses')}
          options={Object.entries(CAMPAIGN_STATUS_NAMES)}
        />
        <SelectFilter name="sort" label={t('Sort')} allLabel={t('Newest first')} options={SORTS} />
      </div>
      <ListCount list={list} nouns={[t('campaign'), t('campaigns')]} />
      {list.error && <Notice kind="bad">{list.error.message}</Notice>}
      <Table
        caption={t('Campaigns')}
        rows={list.items}
        keyOf={({ campaign_id }) => campaign_id}
        loadMore={list.more}
        empty={
          !isFiltered ? (
            <>
              <h2>{t('No campaigns yet')}</h2>
              <p class="soft">
                {t('A campaign contacts candidates for a job and collects their answers.')}
                {context.mode === 'test' && ` ${t('In test mode, no real people are contacted.')}`}
              </p>
              {context.can('recruiter') && (
                <p class="row centred">
                  {context.mode === 'test' && (
                    <Link to={context.pagePath('/first-campaign')}>
                      {t('Run a first campaign with test candidates')}
                    </Link>
                  )}
                  <Link to={context.pagePath('/campaigns/new')}>{t('Start a campaign with your candidates')}</Link>
                </p>
              )}
            </>
          ) : (
            <p class="soft">{t('No campaigns match these filters.')}</p>
          )
        }
        columns={[
          {
            name: t('Campaign'),
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
          { name: t('Status'), cell: ({ status: state }) => <Badge state={state} /> },
          {
            name: t('Progress'),
            cell: ({ counts }) => (
              <span class="progress-cell">
                <Progress counts={counts} />
                <span class="soft small">
                  {t('{done} of {total}', {
                    done: (counts.candidates - counts.pending).toLocaleString(displayLocale()),
                    total: counts.candidates.toLocaleString(displayLocale()),
                  })}
                </span>
              </span>
            ),
          },
          {
            name: t('Completed'),
            right: true,
            aside: true,
            cell: ({ counts }) => counts.completed.toLocaleString(displayLocale()),
          },
          { name: t('Source'), aside: true, cell: ({ created_via }) => <CreatedVia via={created_via} /> },
          { name: t('Starts'), cell: ({ starts_at }) => <Time at={starts_at} /> },
        ]}
      />
      {list.items && list.items.length > 0 && <ProgressLegend />}
    </>
  )
}
