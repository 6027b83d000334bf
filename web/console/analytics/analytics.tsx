import type { AnalyticsOverview } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import './analytics.css'
import '../shared/forms.css'
import { Notice } from '../../ui/notice.tsx'
import { useData } from '../shell/loading.ts'
import { Link } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'
import { Charts } from './charts.tsx'
import { AnalyticsFilters, overviewPath, useFilters } from './filters.tsx'
import { resultCount } from './overview.ts'

const POLL_INTERVAL_MS = 15_000

/** Charts and numbers about campaigns. */
export default function Analytics() {
  const context = useOrgContext()
  const filters = useFilters()
  const resolvingWorkflow = !filters.workflow_id && Boolean(filters.mandate_id ?? filters.campaign_id)
  const { data, error } = useData<AnalyticsOverview>(
    resolvingWorkflow ? undefined : context.apiPath(overviewPath(filters)),
    {
      pollMs: POLL_INTERVAL_MS,
    },
  )
  const period = data && { from: data.daily[0]!.date, to: data.daily.at(-1)!.date }
  return (
    <>
      <h1>{t('Analytics')}</h1>
      <p class="soft">
        {t(
          'Numbers about the candidates enrolled in the selected period. Days are in Indian time. Click a number to list its candidates.',
        )}
      </p>
      <AnalyticsFilters filters={filters} period={period} error={error} />
      {error && <Notice kind="bad">{[error.message, ...error.details.map(detailText)].join(' ')}</Notice>}
      {data && data.funnel.enrolled === 0 && resultCount(data) === 0 ? (
        <Empty />
      ) : (
        <Charts data={data} filters={filters} />
      )}
    </>
  )
}

function Empty() {
  const context = useOrgContext()
  return (
    <div class="empty card">
      <h2>{t('No candidates were enrolled in this period')}</h2>
      <p class="soft">
        {t('Choose another period or filter, or start a campaign. Charts appear as soon as candidates are enrolled.')}
      </p>
      {context.can('recruiter') && (
        <Link to={context.pagePath(context.mode === 'test' ? '/first-campaign' : '/campaigns/new')}>
          {context.mode === 'test' ? t('Run a first campaign with eleven test candidates') : t('Start a campaign')}
        </Link>
      )}
    </div>
  )
}

function detailText({ path, message }: { path: string; message: string }): string {
  return `${path.replace('query.', '')} ${message}.`
}
