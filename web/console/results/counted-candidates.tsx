import type { ComponentChildren } from 'preact'
import type { AnalyticsOverview, Campaign, CountedCandidate, Mandate, Workflow } from '../../api-types/partner.ts'
import { richText } from '../../translations/rich-text.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type Filters, overviewPath, useFilters, withQuery } from '../analytics/filters.tsx'
import { dayText, durationText, type NumberLabel, numberAt, numberLabel } from '../analytics/numbers.ts'
import { campaignName, useCampaignNames } from '../campaigns/campaign-names.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, useAddress } from '../shell/router.tsx'
import { type OrgContext, useOrgContext } from '../shell/session.ts'
import { Outcome } from './result-output.tsx'
import { Qualified, VerdictSummary } from './verdict.tsx'
import './counted-candidates.css'

const POLL_INTERVAL_MS = 15_000
const NO_CAMPAIGNS: Campaign[] = []

/** Lists the candidates that a number on the analytics page counts. */
export default function CountedCandidates() {
  const context = useOrgContext()
  const filters = useFilters()
  const countedPath = useAddress().query.get('counted') ?? ''
  const label = numberLabel(countedPath)
  const path = withQuery('/analytics/candidates', { counted: countedPath, ...filters, limit: '50' })
  const list = useList<CountedCandidate>(context.apiPath(path), { pollMs: POLL_INTERVAL_MS })
  const isUnknown = list.error?.details.some(({ path: field }) => field.endsWith('counted')) ?? false
  const nameOf = useCampaignNames(
    NO_CAMPAIGNS,
    list.items?.map(({ campaign_id }) => campaign_id),
  )
  const overview = useData<AnalyticsOverview>(context.apiPath(overviewPath(filters)), { pollMs: POLL_INTERVAL_MS })
  const analyticsPath = context.pagePath(withQuery('/analytics', filters))
  return (
    <>
      <p>
        <Link to={analyticsPath}>{t('Analytics')}</Link>
      </p>
      <h1>{label.name || t('Candidates')}</h1>
      {isUnknown ? (
        <p class="soft">
          {t('This address names no number. Click a number on the page Analytics to list its candidates.')}
        </p>
      ) : (
        <Summary label={label} counted={countedPath} overview={overview.data} filters={filters} />
      )}
      {list.error && !isUnknown && <Notice kind="bad">{list.error.message}</Notice>}
      {!list.error && (
        <Table
          caption={t('{name}: candidates, newest campaign first', { name: label.name })}
          rows={list.items}
          keyOf={({ candidate_id }) => candidate_id}
          loadMore={list.more}
          loading={list.loading && list.items !== undefined}
          empty={
            <>
              <h2>{t('No candidates')}</h2>
              <p class="soft">{t('This number is zero for the selected period and filters.')}</p>
              <Link to={analyticsPath}>{t('Back to analytics')}</Link>
            </>
          }
          columns={columnsFor(context, label, nameOf)}
        />
      )}
    </>
  )
}

function columnsFor(
  context: OrgContext,
  { unit }: NumberLabel,
  nameOf: (campaignId: string) => string,
): Column<CountedCandidate>[] {
  const timesColumn: Column<CountedCandidate> = {
    name: unit === 'seconds' ? t('Time') : unit === 'calls' ? t('Calls') : t('Messages'),
    right: true,
    cell: ({ times }) => (unit === 'seconds' ? durationText(times) : times.toLocaleString(displayLocale())),
  }
  return [
    {
      name: t('Candidate'),
      cell: ({ candidate_id, name, external_candidate_id }) => (
        <>
          <Link to={context.pagePath(`/candidates/${candidate_id}`)}>{name}</Link>
          <br />
          <span class="soft small">{external_candidate_id}</span>
        </>
      ),
    },
    {
      name: t('Campaign'),
      cell: ({ campaign_id }) => <Link to={context.pagePath(`/campaigns/${campaign_id}`)}>{nameOf(campaign_id)}</Link>,
    },
    { name: t('Status'), cell: (counted) => <Outcome result={counted} /> },
    ...(unit === 'candidates' ? [] : [timesColumn]),
    {
      name: t('Verdict'),
      cell: (counted) =>
        counted.status !== 'completed' ? (
          '–'
        ) : (
          <>
            <Link to={context.pagePath(`/results/${counted.result_id}`)}>
              <Qualified status={counted.status} qualified={counted.qualified} />
            </Link>
            <VerdictSummary verdict={counted} />
            {counted.interest === 'not_interested' && <div class="soft small">{t('Not interested')}</div>}
          </>
        ),
    },
  ]
}

interface SummaryProps {
  label: NumberLabel
  counted: string
  overview: AnalyticsOverview | undefined
  filters: Filters
}

/** A number of the analytics page with its definition, period and filters. */
function Summary({ label: { description, unit }, counted, overview, filters }: SummaryProps) {
  const value = overview && (numberAt(overview, counted) ?? 0)
  return (
    <section class="card counted-summary" aria-label={t('Summary')} aria-busy={value === undefined}>
      <p class="counted-number">
        {value === undefined ? (
          <span class="waiting">
            <strong>00</strong> {unit}
          </span>
        ) : (
          countedText(unit, value)
        )}
      </p>
      <p>{description}</p>
      <p class="soft small">
        {overview ? periodText(counted, overview) : <span class="waiting">Candidates enrolled in this period</span>}
        <FilterNames filters={filters} />
      </p>
    </section>
  )
}

function countedText(unit: NumberLabel['unit'], value: number): ComponentChildren {
  if (unit === 'seconds') return richText('{time} in total', { time: <strong>{durationText(value)}</strong> })
  const count = <strong>{value.toLocaleString(displayLocale())}</strong>
  const isSingle = value === 1
  if (unit === 'messages') return richText(isSingle ? '{count} message' : '{count} messages', { count })
  if (unit === 'calls') return richText(isSingle ? '{count} call' : '{count} calls', { count })
  return richText(isSingle ? '{count} candidate' : '{count} candidates', { count })
}

function periodText(counted: string, { daily }: AnalyticsOverview): string {
  if (counted.startsWith('daily.')) return t('The day from 00:00 to 24:00, Indian time')
  const [from, to] = [daily[0]!.date, daily.at(-1)!.date]
  if (from === to) return t('Candidates enrolled on {from}, Indian time', { from: dayText(from) })
  return t('Candidates enrolled from {from} to {to}, Indian time', { from: dayText(from), to: dayText(to) })
}

/** The names of the workflow, mandate and campaign that the analytics are filtered by. */
function FilterNames({ filters: { workflow_id, mandate_id, campaign_id } }: { filters: Filters }) {
  const context = useOrgContext()
  const workflow = useData<Workflow>(workflow_id && context.apiPath(`/workflows/${workflow_id}`)).data
  const mandate = useData<Mandate>(mandate_id && context.apiPath(`/mandates/${mandate_id}`)).data
  const campaign = useData<Campaign>(campaign_id && context.apiPath(`/campaigns/${campaign_id}`)).data
  const campaignMandate = useData<Mandate>(campaign && context.apiPath(`/mandates/${campaign.mandate_id}`)).data
  const filterNames = [
    workflow && t('workflow {name}', { name: workflow.name }),
    mandate && t('job {name}', { name: mandate.title }),
    campaign && t('campaign {name}', { name: campaignName(campaign, campaignMandate) }),
  ].filter(Boolean)
  return <>{filterNames.map((name) => ` · ${name}`)}</>
}
