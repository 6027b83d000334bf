import { useState } from 'preact/hooks'
import type { Spending as SpendingRecord } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Table } from '../../ui/table.tsx'
import { Unloaded } from '../../ui/unloaded.tsx'
import { channelName } from '../shared/labels.ts'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

/** The amount spent today, the daily cap and the prices, which can be changed. */
export function Spending({ onSaved }: { onSaved: () => void }) {
  const context = useOrgContext()
  const path = context.apiPath('/spending')
  const { data, error, set } = useData<SpendingRecord>(path)
  if (error) return <Notice kind="bad">{error.message}</Notice>
  if (!data) return <Unloaded />
  const save = (saved: SpendingRecord) => {
    set(saved)
    onSaved()
  }
  return <SpendingForm key={JSON.stringify(data)} path={path} data={data} onSaved={save} />
}

interface Props {
  path: string
  data: SpendingRecord
  onSaved: (data: SpendingRecord) => void
}

function SpendingForm({ path, data, onSaved }: Props) {
  const context = useOrgContext()
  const { price_table, is_default, spent_today, daily_cap } = data
  const { currency, prices } = price_table
  const [cap, setCap] = useState(String(daily_cap ?? ''))
  const [amounts, setAmounts] = useState(prices.map(({ price }) => String(price)))
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const canChange = context.can('recruiter')
  const errorOf = (name: string) => error?.details.find(({ path: field }) => field === name)?.message
  return (
    <form class="card stack" noValidate onSubmit={(event) => void save(event)}>
      <p>
        {t('{amount} spent today (in Indian time).', {
          amount: spent_today.toLocaleString(displayLocale(), { style: 'currency', currency }),
        })}{' '}
        {is_default && t('The prices are the default prices of the operator.')}
      </p>
      <Field
        id="daily_cap"
        label={t('Daily cap in {currency} (leave empty for none)', { currency })}
        hint={t(
          'Campaigns pause before a message that would exceed it, and resume on the next day or when it is raised.',
        )}
        error={errorOf('daily_cap')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="text"
            inputMode="decimal"
            disabled={!canChange}
            value={cap}
            onInput={(event) => setCap(event.currentTarget.value)}
          />
        )}
      </Field>
      <Table
        caption={t('Prices')}
        rows={prices.map((price, index) => ({ ...price, index }))}
        keyOf={({ index }) => String(index)}
        empty={<p class="soft">{t('No prices.')}</p>}
        columns={[
          { name: t('Channel'), cell: ({ channel }) => channelName(channel) },
          { name: t('Numbers'), cell: ({ calling_code }) => (calling_code ? `+${calling_code}` : t('all others')) },
          { name: t('Category'), cell: ({ category }) => category?.replaceAll('_', ' ') ?? t('all others') },
          {
            name: t('Price in {currency}', { currency }),
            cell: ({ index, channel, calling_code, category }) => (
              <>
                <input
                  type="text"
                  inputMode="decimal"
                  aria-label={t('Price of {price}', {
                    price: [channelName(channel), calling_code && `+${calling_code}`, category]
                      .filter(Boolean)
                      .join(', '),
                  })}
                  disabled={!canChange}
                  value={amounts[index]}
                  onInput={(event) => changeAmount(index, event.currentTarget.value)}
                />
                {errorOf(`prices[${index}].price`) && <p class="field-error">{errorOf(`prices[${index}].price`)}</p>}
              </>
            ),
          },
        ]}
      />
      {error && error.details.length === 0 && <Notice kind="bad">{error.message}</Notice>}
      {canChange && (
        <div>
          <SubmitButton busy={busy}>{t('Save spending settings')}</SubmitButton>
        </div>
      )}
    </form>
  )

  function changeAmount(changedIndex: number, text: string) {
    setAmounts((previous) => previous.map((amount, index) => (index === changedIndex ? text : amount)))
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const newPrices = prices.map((price, index) => ({ ...price, price: toNumber(amounts[index]!) }))
    const hasNewPrices = newPrices.some(({ price }, index) => price !== prices[index]!.price)
    let response = await api<SpendingRecord>(`${path}/daily-cap`, {
      method: 'PUT',
      body: { daily_cap: cap.trim() === '' ? null : toNumber(cap) },
    })
    if (response.ok && hasNewPrices)
      response = await api<SpendingRecord>(`${path}/price-table`, {
        method: 'PUT',
        body: { ...price_table, prices: newPrices },
      })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (response.ok) onSaved(response.data)
  }
}

/** Returns the number in a text. A text that is not a number is returned unchanged, and the API rejects it. */
function toNumber(text: string): number | string {
  const value = text.trim()
  return value === '' || Number.isNaN(Number(value)) ? value : Number(value)
}
