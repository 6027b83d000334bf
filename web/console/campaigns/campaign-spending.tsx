import { useEffect, useState } from 'preact/hooks'
import type { Campaign, CampaignSpending as Spending } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'

interface Props {
  /** API path of the campaign. */
  path: string
  campaign: Campaign
  canChange: boolean
  onChanged: () => void
}

/** The amount that the campaign spent on messages, and its spend cap. */
export function CampaignSpending({ path, campaign, canChange, onChanged }: Props) {
  const { data, reload, set } = useData<Spending>(`${path}/spending`)
  const [cap, setCap] = useState<string>()
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  useEffect(() => void reload(), [campaign.version, campaign.counts.pending])
  if (!data) return <>…</>
  const amount = (value: number) =>
    value.toLocaleString(displayLocale(), { style: 'currency', currency: data.currency })
  return (
    <div class="stack-tight">
      <span>
        {t('{spent} spent, of which {reported} reported by providers.', {
          spent: amount(data.spent),
          reported: amount(data.reported),
        })}{' '}
        {data.spend_cap === null
          ? t('No spend cap.')
          : t('Spend cap: {spendCap}.', { spendCap: amount(data.spend_cap) })}{' '}
        {canChange && cap === undefined && campaign.status !== 'archived' && (
          <button type="button" class="small-button" onClick={() => setCap(String(data.spend_cap ?? ''))}>
            {t('Change spend cap')}
          </button>
        )}
      </span>
      {cap !== undefined && (
        <form class="row" noValidate onSubmit={(event) => void save(event)}>
          <Field
            id="spend_cap"
            label={t('Spend cap in {currency} (leave empty for none)', { currency: data.currency })}
            error={error?.details[0]?.message ?? error?.message}
          >
            {(attributes) => (
              <input
                {...attributes}
                type="text"
                inputMode="decimal"
                value={cap}
                onInput={(event) => setCap(event.currentTarget.value)}
              />
            )}
          </Field>
          <SubmitButton busy={busy}>{t('Save')}</SubmitButton>
          <button type="button" onClick={() => setCap(undefined)}>
            {t('Cancel')}
          </button>
        </form>
      )}
    </div>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const text = cap!.trim()
    // A text that is not a number is sent unchanged, and the API rejects it.
    const spend_cap = text === '' ? null : Number.isNaN(Number(text)) ? text : Number(text)
    const response = await api<Spending>(`${path}/spend-cap`, { method: 'PUT', body: { spend_cap } })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (!response.ok) return
    set(response.data)
    setCap(undefined)
    onChanged()
  }
}
