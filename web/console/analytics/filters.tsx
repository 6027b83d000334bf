import { useEffect } from 'preact/hooks'
import type { Campaign, Mandate } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { RecordPicker } from '../shared/record-picker.tsx'
import type { ApiError } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { useOrgContext } from '../shell/session.ts'

const FILTER_NAMES = ['from', 'to', 'workflow_id', 'mandate_id', 'campaign_id'] as const
export type Filters = Partial<Record<(typeof FILTER_NAMES)[number], string>>

/** Returns the filters in the query of the page's address. */
export function useFilters(): Filters {
  const { query } = useAddress()
  const filters: Filters = {}
  for (const name of FILTER_NAMES) {
    const value = query.get(name)
    if (value) filters[name] = value
  }
  return filters
}

/** Returns the API path of the analytics overview with these filters. */
export function overviewPath({ workflow_id, ...filters }: Filters): string {
  const overviewRoot = workflow_id ? `/analytics/workflows/${workflow_id}/overview` : '/analytics/overview'
  return withQuery(overviewRoot, filters)
}

export function withQuery(path: string, query: Record<string, string>): string {
  const queryText = new URLSearchParams(query).toString()
  return queryText ? `${path}?${queryText}` : path
}

const PERIODS: [number, string][] = [
  [7, t('7 days')],
  [30, t('30 days')],
  [90, t('90 days')],
  [365, t('1 year')],
]
const DAY_MS = 86_400_000
const INDIA_OFFSET_MS = 5.5 * 3_600_000

interface Props {
  filters: Filters
  /** First and last day of the loaded numbers; undefined until they are loaded. */
  period: { from: string; to: string } | undefined
  error: ApiError | undefined
}

export function AnalyticsFilters({ filters, period, error }: Props) {
  const { workflow_id, mandate_id, campaign_id } = filters
  useAddImpliedWorkflow(filters)
  const errorAt = (name: string) => error?.details.find(({ path }) => path === `query.${name}`)?.message
  return (
    <div class="analytics-filters">
      <div class="row filters">
        <RecordPicker
          id="analytics-workflow"
          kind="workflow"
          label={t('Workflow')}
          placeholder={t('All workflows')}
          value={workflow_id}
          onChoose={(id) => setQuery({ workflow_id: id, mandate_id: undefined, campaign_id: undefined })}
        />
        {workflow_id && (
          <>
            <RecordPicker
              id="analytics-mandate"
              kind="mandate"
              label={t('Job')}
              placeholder={t('All jobs')}
              value={mandate_id}
              filter={{ workflow_id }}
              onChoose={(id) => setQuery({ mandate_id: id, campaign_id: undefined })}
            />
            <RecordPicker
              id="analytics-campaign"
              kind="campaign"
              label={t('Campaign')}
              placeholder={t('All campaigns')}
              value={campaign_id}
              filter={mandate_id ? { mandate_id } : { workflow_id }}
              onChoose={(id) => setQuery({ campaign_id: id })}
            />
          </>
        )}
        <DayField name={t('From')} parameter="from" value={filters.from ?? period?.from} error={errorAt('from')} />
        <DayField name={t('To')} parameter="to" value={filters.to ?? period?.to} error={errorAt('to')} />
        <fieldset class="periods" aria-label={t('Period')}>
          {PERIODS.map(([days, name]) => (
            <button
              type="button"
              key={days}
              class="small-button"
              aria-pressed={days === daysIn(period)}
              onClick={() => setQuery({ from: days === 30 ? undefined : firstDayOf(days), to: undefined })}
            >
              {name}
            </button>
          ))}
        </fieldset>
      </div>
    </div>
  )
}

interface DayProps {
  name: string
  parameter: 'from' | 'to'
  value: string | undefined
  error: string | undefined
}

function DayField({ name, parameter, value, error }: DayProps) {
  return (
    <label>
      {name}
      <input
        type="date"
        value={value ?? ''}
        aria-invalid={Boolean(error)}
        onChange={(event) => setQuery({ [parameter]: event.currentTarget.value })}
      />
      {error && <span class="bad-text small">{error}</span>}
    </label>
  )
}

/** Adds the workflow to an address with only a campaign or a mandate: the page lists the choices of one workflow. */
function useAddImpliedWorkflow({ workflow_id, mandate_id, campaign_id }: Filters) {
  const context = useOrgContext()
  const campaign = useData<Campaign>(
    campaign_id && !workflow_id && !mandate_id ? context.apiPath(`/campaigns/${campaign_id}`) : undefined,
  )
  const impliedMandateId = mandate_id ?? campaign.data?.mandate_id
  const mandate = useData<Mandate>(
    !workflow_id && impliedMandateId ? context.apiPath(`/mandates/${impliedMandateId}`) : undefined,
  )
  const impliedMandate = mandate.data
  useEffect(() => {
    if (impliedMandate) setQuery({ workflow_id: impliedMandate.workflow_id, mandate_id: impliedMandate.mandate_id })
  }, [impliedMandate])
}

function daysIn(period: { from: string; to: string } | undefined): number | undefined {
  return period && (Date.parse(period.to) - Date.parse(period.from)) / DAY_MS + 1
}

/** Returns the first day of a period of this many days that ends today, Indian time. */
function firstDayOf(days: number): string {
  const today = Date.now() + INDIA_OFFSET_MS
  return new Date(today - (days - 1) * DAY_MS).toISOString().slice(0, 10)
}
