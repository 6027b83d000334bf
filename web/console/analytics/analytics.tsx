import './analytics.css'
import '../shared/forms.css'
import { Notice } from '../../ui/notice.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'
import { Pictures } from './charts.tsx'
import { AnalyticsFilters, overviewPath, useFilters } from './filters.tsx'
import { endsIn, type Overview } from './overview.ts'

/** How campaigns go, as pictures with their numbers. */
export default function Analytics() {
  const place = usePlace()
  const filters = useFilters()
  const waits = !filters.workflow_id && Boolean(filters.mandate_id ?? filters.campaign_id)
  const { data, refusal } = useData<Overview>(waits ? undefined : place.at(overviewPath(filters)), { every: 15_000 })
  const shown = data && { from: data.daily[0]!.date, to: data.daily.at(-1)!.date }
  return (
    <>
      <h1>Analytics</h1>
      <p class="soft">
        About the candidates enrolled in the period, as they stand now. Days are days in India; every number leads to
        the candidates that it was counted from.
      </p>
      <AnalyticsFilters filters={filters} shown={shown} refusal={refusal} />
      {refusal && <Notice kind="bad">{[refusal.message, ...refusal.details.map(told)].join(' ')}</Notice>}
      {data && data.funnel.enrolled === 0 && endsIn(data) === 0 ? (
        <Empty />
      ) : (
        <Pictures data={data} filters={filters} />
      )}
    </>
  )
}

function Empty() {
  const place = usePlace()
  return (
    <div class="empty card">
      <h2>Nobody was enrolled in this period</h2>
      <p class="soft">The pictures appear as soon as a campaign contacts its first candidate.</p>
      {place.may('recruiter') && (
        <Link to={place.go(place.mode === 'test' ? '/first-campaign' : '/campaigns/new')}>
          {place.mode === 'test' ? 'Run a first campaign with ten test candidates' : 'Make a campaign'}
        </Link>
      )}
    </div>
  )
}

function told({ path, message }: { path: string; message: string }): string {
  return `${path.replace('query.', '')} ${message}.`
}
