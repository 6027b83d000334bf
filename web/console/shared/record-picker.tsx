import { useEffect, useState } from 'preact/hooks'
import type {
  ListedCampaign,
  ListedCampaignCountedList,
  ListedMandate,
  ListedMandateCountedList,
  WorkflowCountedList,
} from '../../api-types/console.ts'
import type { Campaign, Mandate, Workflow } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { api } from '../shell/api.ts'
import { type OrgContext, useOrgContext } from '../shell/session.ts'
import { SearchBox } from './search-box.tsx'
import './record-picker.css'

/** A record that can be chosen, with the text that names it. */
interface Choice {
  id: string
  name: string
  detail: string
}

type RecordKind = 'campaign' | 'mandate' | 'workflow'

const MAX_CHOICES = 12

interface Props {
  id: string
  kind: RecordKind
  label: string
  /** The text while nothing is chosen, such as “All campaigns”. */
  placeholder: string
  value: string | undefined
  /** Further parameters of the search, such as `status=ready`. */
  filter?: Record<string, string>
  onChoose: (id: string | undefined) => void
  /** Whether the choice can be removed. */
  optional?: boolean
}

/** Chooses one of any number of campaigns, mandates or workflows by searching for it. */
export function RecordPicker({ id, kind, label, placeholder, value, filter = {}, onChoose, optional = true }: Props) {
  const context = useOrgContext()
  const [names, setNames] = useState(new Map<string, Choice>())
  const [isChanging, setIsChanging] = useState(false)
  const chosen = value ? names.get(value) : undefined
  useEffect(() => {
    if (!value || names.has(value)) return
    void loadChoice(context, kind, value).then((choice) => rememberChoices([choice]))
  }, [value])

  if (value && !isChanging) {
    return (
      <div class="record-picker">
        <span class="picker-label" id={`${id}-label`}>
          {label}
        </span>
        <div class="picked">
          <button
            type="button"
            class="picked-name"
            aria-labelledby={`${id}-label ${id}-name`}
            onClick={() => setIsChanging(true)}
          >
            <span id={`${id}-name`}>{chosen?.name ?? '…'}</span>
          </button>
          {optional && (
            <button
              type="button"
              class="plain picker-clear"
              aria-label={t('Remove filter: {label}', { label })}
              onClick={() => onChoose(undefined)}
            >
              ×
            </button>
          )}
        </div>
      </div>
    )
  }
  return (
    <div class="record-picker">
      <SearchBox<Choice>
        id={id}
        label={label}
        placeholder={placeholder}
        minLength={0}
        autoFocus={isChanging}
        find={findChoices}
        keyOf={(choice) => choice.id}
        show={({ name, detail }) => (
          <>
            {name} <span class="soft small">{detail}</span>
          </>
        )}
        onChoose={(choice) => {
          rememberChoices([choice])
          setIsChanging(false)
          onChoose(choice.id)
        }}
        onLeave={() => setIsChanging(false)}
      />
    </div>
  )

  function rememberChoices(choices: Choice[]) {
    setNames((previous) => new Map([...previous, ...choices.map((choice) => [choice.id, choice] as const)]))
  }

  async function findChoices(text: string): Promise<Choice[]> {
    const parameters = new URLSearchParams({ ...filter, limit: String(MAX_CHOICES), ...(text ? { q: text } : {}) })
    return searchRecords(context, kind, parameters)
  }
}

/** Searches campaigns, mandates or workflows. */
async function searchRecords(context: OrgContext, kind: RecordKind, parameters: URLSearchParams): Promise<Choice[]> {
  const path = context.apiPath(`/lists/${kind}s?${parameters}`)
  if (kind === 'campaign') {
    const response = await api<ListedCampaignCountedList>(path)
    return response.ok ? response.data.items.map(campaignChoice) : []
  }
  if (kind === 'mandate') {
    const response = await api<ListedMandateCountedList>(path)
    return response.ok ? response.data.items.map(mandateChoice) : []
  }
  const response = await api<WorkflowCountedList>(path)
  return response.ok ? response.data.items.map(workflowChoice) : []
}

const startFormat = new Intl.DateTimeFormat(displayLocale(), { day: 'numeric', month: 'short' })

function campaignChoice({ campaign_id, display_name, job_title, starts_at }: ListedCampaign): Choice {
  const day = startFormat.format(new Date(starts_at))
  return { id: campaign_id, name: display_name, detail: display_name === job_title ? day : `${job_title}, ${day}` }
}

function mandateChoice({
  mandate_id,
  title,
  company_name,
}: Pick<ListedMandate, 'mandate_id' | 'title' | 'company_name'>) {
  return { id: mandate_id, name: title, detail: company_name }
}

function workflowChoice({ workflow_id, name }: Pick<Workflow, 'workflow_id' | 'name'>) {
  return { id: workflow_id, name, detail: '' }
}

/** Loads the name of a record that is given by its ID only. */
async function loadChoice(context: OrgContext, kind: RecordKind, id: string): Promise<Choice> {
  const unnamed = { id, name: id, detail: '' }
  if (kind === 'workflow') {
    const response = await api<Workflow>(context.apiPath(`/workflows/${id}`))
    return response.ok ? workflowChoice(response.data) : unnamed
  }
  if (kind === 'mandate') {
    const response = await api<Mandate>(context.apiPath(`/mandates/${id}`))
    return response.ok ? mandateChoice(response.data) : unnamed
  }
  const response = await api<Campaign>(context.apiPath(`/campaigns/${id}`))
  if (!response.ok) return unnamed
  if (response.data.name) return { id, name: response.data.name, detail: '' }
  const job = await loadChoice(context, 'mandate', response.data.mandate_id)
  return { id, name: job.name, detail: '' }
}
