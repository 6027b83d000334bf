import { Notice } from '../../ui/notice.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { type Filters, overviewPath, useFilters, withQuery } from '../analytics/filters.tsx'
import { dayText, durationText, type NumberWords, numberAt, numberWords } from '../analytics/numbers.ts'
import type { Overview } from '../analytics/overview.ts'
import { campaignName, useCampaignNames } from '../campaigns/campaign-names.ts'
import type { Campaign, CountedCandidate, Mandate, Workflow } from '../shared/records.ts'
import { useData, useList } from '../shell/loading.ts'
import { Link, useAddress } from '../shell/router.tsx'
import { type Place, usePlace } from '../shell/session.ts'
import { Outcome, Qualified } from './result-output.tsx'
import './counted-candidates.css'

const EVERY = 15_000
const NONE: Campaign[] = []

/** Whom a number of the analytics was counted from. */
export default function CountedCandidates() {
  const place = usePlace()
  const filters = useFilters()
  const counted = useAddress().query.get('counted') ?? ''
  const words = numberWords(counted)
  const path = withQuery('/analytics/candidates', { counted, ...filters, limit: '50' })
  const list = useList<CountedCandidate>(place.at(path), { every: EVERY })
  const nameOf = useCampaignNames(
    NONE,
    list.items?.map(({ campaign_id }) => campaign_id),
  )
  const overview = useData<Overview>(place.at(overviewPath(filters)), { every: EVERY })
  const analytics = place.go(withQuery('/analytics', filters))
  return (
    <>
      <p>
        <Link to={analytics}>Analytics</Link>
      </p>
      <h1>{words.name}</h1>
      <Summary words={words} counted={counted} overview={overview.data} filters={filters} />
      {list.refusal && <Notice kind="bad">{list.refusal.message}</Notice>}
      {!list.refusal && (
        <Table
          caption={`${words.name}: candidates of the newest campaign first`}
          rows={list.items}
          keyOf={({ candidate_id }) => candidate_id}
          more={list.more}
          loading={list.loading && list.items !== undefined}
          empty={
            <>
              <h2>Nobody counts here</h2>
              <p class="soft">In this period, and with these filters, the number is zero.</p>
              <Link to={analytics}>Back to the analytics</Link>
            </>
          }
          columns={columnsOf(place, words, nameOf)}
        />
      )}
    </>
  )
}

function columnsOf(
  place: Place,
  { unit }: NumberWords,
  nameOf: (campaignId: string) => string,
): Column<CountedCandidate>[] {
  const times: Column<CountedCandidate> = {
    name: unit === 'seconds' ? 'Time' : `${unit[0]!.toUpperCase()}${unit.slice(1)}`,
    right: true,
    cell: ({ times }) => (unit === 'seconds' ? durationText(times) : times.toLocaleString()),
  }
  return [
    {
      name: 'Candidate',
      cell: ({ candidate_id, name, external_candidate_id }) => (
        <>
          <Link to={place.go(`/candidates/${candidate_id}`)}>{name}</Link>
          <br />
          <span class="soft small">{external_candidate_id}</span>
        </>
      ),
    },
    {
      name: 'Campaign',
      cell: ({ campaign_id }) => <Link to={place.go(`/campaigns/${campaign_id}`)}>{nameOf(campaign_id)}</Link>,
    },
    { name: 'Status', cell: (counted) => <Outcome result={counted} /> },
    ...(unit === 'candidates' ? [] : [times]),
    {
      name: 'Verdict',
      cell: (counted) =>
        counted.status !== 'completed' ? (
          '–'
        ) : (
          <>
            <Link to={place.go(`/results/${counted.result_id}`)}>
              <Qualified qualified={counted.qualified} />
            </Link>
            <div class="soft small">{whyText(counted)}</div>
          </>
        ),
    },
  ]
}

/** What the verdict rests on: what spoke against the candidate, else what was shown. */
function whyText({ knocked_out_by, skills = [], interest }: CountedCandidate): string {
  const failed = skills.filter(({ verdict }) => verdict === 'not_verified').map(({ name }) => name)
  const verified = skills.filter(({ verdict }) => verdict === 'verified').length
  return [
    knocked_out_by && `Knockout: ${knocked_out_by.question}`,
    failed.length > 0 && failed.length < skills.length && `Not verified: ${failed.join(', ')}`,
    !knocked_out_by && skills.length > 0 && `${verified} of ${skills.length} skills`,
    interest === 'not_interested' && 'not interested',
  ]
    .filter(Boolean)
    .join(' · ')
}

interface SummaryProps {
  words: NumberWords
  counted: string
  overview: Overview | undefined
  filters: Filters
}

/** The number, what it says, and of which days, workflow, mandate and campaign. */
function Summary({ words: { about, unit }, counted, overview, filters }: SummaryProps) {
  const value = overview && (numberAt(overview, counted) ?? 0)
  return (
    <section class="card counted-summary" aria-label="What was counted" aria-busy={value === undefined}>
      <p class="counted-number">
        {value === undefined ? (
          <span class="waiting">
            <strong>00</strong> {unit}
          </span>
        ) : (
          <>
            <strong>{unit === 'seconds' ? durationText(value) : value.toLocaleString()}</strong>{' '}
            {unit === 'seconds' ? 'in all' : value === 1 ? unit.slice(0, -1) : unit}
          </>
        )}
      </p>
      <p>{about}</p>
      <p class="soft small">
        {overview ? periodText(counted, overview) : <span class="waiting">Of those enrolled in these days</span>}
        <Narrowed filters={filters} />
      </p>
    </section>
  )
}

function periodText(counted: string, { daily }: Overview): string {
  if (counted.startsWith('daily.')) return 'One day in India'
  const [from, to] = [daily[0]!.date, daily.at(-1)!.date]
  if (from === to) return `Of those enrolled on ${dayText(from)}, a day in India`
  return `Of those enrolled from ${dayText(from)} to ${dayText(to)}, days in India`
}

/** The names of what the analytics are narrowed to. */
function Narrowed({ filters: { workflow_id, mandate_id, campaign_id } }: { filters: Filters }) {
  const place = usePlace()
  const workflow = useData<Workflow>(workflow_id && place.at(`/workflows/${workflow_id}`)).data
  const mandate = useData<Mandate>(mandate_id && place.at(`/mandates/${mandate_id}`)).data
  const campaign = useData<Campaign>(campaign_id && place.at(`/campaigns/${campaign_id}`)).data
  const ofCampaign = useData<Mandate>(campaign && place.at(`/mandates/${campaign.mandate_id}`)).data
  const names = [
    workflow && `workflow ${workflow.name}`,
    mandate && `mandate ${mandate.title}`,
    campaign && `campaign ${campaignName(campaign, ofCampaign)}`,
  ].filter(Boolean)
  return <>{names.map((name) => ` · ${name}`)}</>
}
