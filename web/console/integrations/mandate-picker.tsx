import { t } from '../../translations/translate.ts'
import './mandate-picker.css'
import { useState } from 'preact/hooks'
import type { Mandate } from '../../api-types/partner.ts'
import { Notice } from '../../ui/notice.tsx'
import { useList } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

/** Above this number of mandates, a text filters the list. */
const MIN_FILTERED_MANDATES = 8

interface Props {
  /** The chosen mandates; null offers all that are ready. */
  chosen: string[] | null
  error?: string | undefined
  onChange: (chosen: string[] | null) => void
}

/** Chooses the mandates that recruiters can order in the ATS: all that are ready, or some of them. */
export function MandatePicker({ chosen, error, onChange }: Props) {
  const context = useOrgContext()
  const list = useList<Mandate>(context.apiPath('/mandates?status=ready&limit=100'))
  const [filter, setFilter] = useState('')
  const mandates = list.items ?? []
  const words = filter.toLowerCase().split(/\s+/)
  const shown = mandates.filter((mandate) => words.every((word) => textOf(mandate).includes(word)))
  // Chosen earlier, and now archived or on a later page of the list.
  const others = (chosen ?? []).filter((id) => !mandates.some(({ mandate_id }) => mandate_id === id))
  return (
    <fieldset aria-describedby={error ? 'mandates-error' : undefined}>
      <legend>{t('Tests')}</legend>
      <div class="choices">
        <label class="choice">
          <input type="radio" name="offered" checked={chosen === null} onChange={() => onChange(null)} />
          {t('All jobs that are ready, also later ones')}
        </label>
        <label class="choice">
          <input type="radio" name="offered" checked={chosen !== null} onChange={() => onChange([])} />
          {t('Only these jobs')}
        </label>
      </div>
      {chosen !== null && (
        <div class="stack-tight mandate-picker">
          {list.error && <Notice kind="bad">{list.error.message}</Notice>}
          {mandates.length >= MIN_FILTERED_MANDATES && (
            <input
              type="search"
              aria-label={t('Filter jobs')}
              placeholder={t('Filter by job, company or ID')}
              value={filter}
              onInput={(event) => setFilter(event.currentTarget.value)}
            />
          )}
          {list.items && shown.length + others.length === 0 && (
            <p class="soft">{filter ? t('No job matches the filter.') : t('No job is ready. Create one first.')}</p>
          )}
          <div class="mandate-options">
            {shown.map(({ mandate_id, title, company_name, job_id }) =>
              renderOption(mandate_id, `${title}, ${company_name}${job_id ? ` (${job_id})` : ''}`),
            )}
            {others.map((id) => renderOption(id, t('{id} (not in the list of ready jobs)', { id })))}
          </div>
          {list.more && (
            <button type="button" class="plain flush" onClick={() => void list.more!()}>
              {t('Load more')}
            </button>
          )}
          <p class="soft small" aria-live="polite">
            {chosen.length === 0 ? t('Choose at least one job.') : t('{count} chosen', { count: chosen.length })}
          </p>
        </div>
      )}
      {error && (
        <p class="error" id="mandates-error">
          {error}
        </p>
      )}
    </fieldset>
  )

  function renderOption(id: string, label: string) {
    const isChosen = chosen!.includes(id)
    return (
      <label class="inline-check" key={id}>
        <input
          type="checkbox"
          checked={isChosen}
          onChange={() => onChange(isChosen ? chosen!.filter((each) => each !== id) : [...chosen!, id])}
        />
        {label}
      </label>
    )
  }
}

function textOf({ mandate_id, title, company_name, job_id }: Mandate): string {
  return `${title} ${company_name} ${job_id ?? ''} ${mandate_id}`.toLowerCase()
}
