import { useEffect } from 'preact/hooks'
import { useCampaignNames } from '../campaigns/campaign-names.ts'
import type { Campaign, Mandate, Page, Workflow } from '../shared/records.ts'
import type { Refusal } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { setQuery, useAddress } from '../shell/router.tsx'
import { usePlace } from '../shell/session.ts'

export const FILTERS = ['from', 'to', 'workflow_id', 'mandate_id', 'campaign_id'] as const
export type Filters = Partial<Record<(typeof FILTERS)[number], string>>

/** The filters in the address; changing one makes those that depend on it meaningless. */
export function useFilters(): Filters {
  const { query } = useAddress()
  const filters: Filters = {}
  for (const name of FILTERS) {
    const value = query.get(name)
    if (value) filters[name] = value
  }
  return filters
}

/** The call that answers the figures. */
export function overviewPath({ workflow_id, ...filters }: Filters): string {
  const about = workflow_id ? `/analytics/workflows/${workflow_id}/overview` : '/analytics/overview'
  return withQuery(about, filters)
}

export function withQuery(path: string, query: Record<string, string>): string {
  const text = new URLSearchParams(query).toString()
  return text ? `${path}?${text}` : path
}

const PERIODS: [number, string][] = [
  [7, '7 days'],
  [30, '30 days'],
  [90, '90 days'],
  [365, 'A year'],
]
const DAY = 86_400_000

interface Props {
  filters: Filters
  /** The days that the server answered for. */
  shown: { from: string; to: string } | undefined
  refusal: Refusal | undefined
}

export function AnalyticsFilters({ filters, shown, refusal }: Props) {
  const place = usePlace()
  const { workflow_id, mandate_id, campaign_id } = filters
  const workflows = useData<Page<Workflow>>(place.at('/workflows?limit=100'))
  const mandates = useData<Page<Mandate>>(
    workflow_id ? place.at(`/mandates?limit=100&workflow_id=${workflow_id}`) : undefined,
  )
  const campaigns = useData<Page<Campaign>>(workflow_id ? place.at('/campaigns?limit=100') : undefined)
  const nameOf = useCampaignNames(campaigns.data?.items)
  useWorkflowOf(filters)
  const ofWorkflow = new Set(mandates.data?.items.map((mandate) => mandate.mandate_id))
  const shownCampaigns = (campaigns.data?.items ?? []).filter((campaign) =>
    mandate_id ? campaign.mandate_id === mandate_id : ofWorkflow.has(campaign.mandate_id),
  )
  const fault = (name: string) => refusal?.details.find(({ path }) => path === `query.${name}`)?.message
  return (
    <div class="analytics-filters">
      <div class="row filters">
        <Choice
          name="Workflow"
          every="Every workflow"
          value={workflow_id}
          options={(workflows.data?.items ?? []).map((each) => [each.workflow_id, each.name])}
          onChoose={(value) => setQuery({ workflow_id: value, mandate_id: undefined, campaign_id: undefined })}
        />
        {workflow_id && (
          <>
            <Choice
              name="Mandate"
              every="Every mandate"
              value={mandate_id}
              options={(mandates.data?.items ?? []).map((each) => [each.mandate_id, each.title])}
              onChoose={(value) => setQuery({ mandate_id: value, campaign_id: undefined })}
            />
            <Choice
              name="Campaign"
              every="Every campaign"
              value={campaign_id}
              options={shownCampaigns.map((each) => [each.campaign_id, nameOf(each.campaign_id)])}
              onChoose={(value) => setQuery({ campaign_id: value })}
            />
          </>
        )}
        <DayField name="From" at="from" value={filters.from ?? shown?.from} fault={fault('from')} />
        <DayField name="To" at="to" value={filters.to ?? shown?.to} fault={fault('to')} />
        <fieldset class="periods" aria-label="Period">
          {PERIODS.map(([days, name]) => (
            <button
              type="button"
              key={days}
              class="small-button"
              aria-pressed={days === daysShown(shown)}
              onClick={() => setQuery({ from: days === 30 ? undefined : daysBefore(days), to: undefined })}
            >
              {name}
            </button>
          ))}
        </fieldset>
      </div>
    </div>
  )
}

interface ChoiceProps {
  name: string
  every: string
  value: string | undefined
  options: [string, string][]
  onChoose: (value: string | undefined) => void
}

function Choice({ name, every, value, options, onChoose }: ChoiceProps) {
  return (
    <label>
      {name}
      <select value={value ?? ''} onChange={(event) => onChoose(event.currentTarget.value || undefined)}>
        <option value="">{every}</option>
        {value && !options.some(([id]) => id === value) && <option value={value}>{value}</option>}
        {options.map(([id, text]) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface DayProps {
  name: string
  at: 'from' | 'to'
  value: string | undefined
  fault: string | undefined
}

function DayField({ name, at, value, fault }: DayProps) {
  return (
    <label>
      {name}
      <input
        type="date"
        value={value ?? ''}
        aria-invalid={Boolean(fault)}
        onChange={(event) => setQuery({ [at]: event.currentTarget.value })}
      />
      {fault && <span class="bad-text small">{fault}</span>}
    </label>
  )
}

/** A link may name only a campaign or a mandate: the workflow is found, because the API asks by workflow. */
function useWorkflowOf({ workflow_id, mandate_id, campaign_id }: Filters) {
  const place = usePlace()
  const campaign = useData<Campaign>(
    campaign_id && !workflow_id && !mandate_id ? place.at(`/campaigns/${campaign_id}`) : undefined,
  )
  const ofMandate = mandate_id ?? campaign.data?.mandate_id
  const mandate = useData<Mandate>(!workflow_id && ofMandate ? place.at(`/mandates/${ofMandate}`) : undefined)
  const found = mandate.data
  useEffect(() => {
    if (found) setQuery({ workflow_id: found.workflow_id, mandate_id: found.mandate_id })
  }, [found])
}

function daysShown(shown: { from: string; to: string } | undefined): number | undefined {
  return shown && (Date.parse(shown.to) - Date.parse(shown.from)) / DAY + 1
}

/** The first of so many days that end today, in India. */
function daysBefore(days: number): string {
  const today = Date.now() + 5.5 * 3_600_000
  return new Date(today - (days - 1) * DAY).toISOString().slice(0, 10)
}
