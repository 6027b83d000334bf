import { useState } from 'preact/hooks'
import type { Retention } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { Unloaded } from '../../ui/unloaded.tsx'
import '../shared/forms.css'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'

const CLASS_NAMES: Record<Retention['classes'][number]['class'], string> = {
  conversations: t('Messages'),
  answers: t('Answers'),
  contact_data: t('Names and contact data'),
  mails: t('Emails'),
  request_log: t('Request log'),
  audit: t('Personal values in the audit log'),
}

const CLASS_DESCRIPTIONS: Record<Retention['classes'][number]['class'], string> = {
  conversations: t('Texts of the messages of candidates, after the end of the conversation.'),
  answers: t(
    'Free-text answers of candidates, after the end of the conversation. Verdicts and scores remain. Events have a copy for 30 days.',
  ),
  contact_data: t('Names, phone numbers, email addresses and everything else about a person, after the last activity.'),
  mails: t('Emails to people, after they were created.'),
  request_log: t('Log of API requests, after the request.'),
  audit: t('Names, addresses and devices in the audit log, after the entry. The entries themselves remain.'),
}

/** The retention periods, each within the bounds that the operator sets. */
export function RetentionForm({ isOwner, onSaved }: { isOwner: boolean; onSaved: () => void }) {
  const context = useOrgContext()
  const path = `/orgs/${context.org.org_id}/retention`
  const retention = useData<Retention>(path)
  const [days, setDays] = useState<Record<string, string>>({})
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [saved, setSaved] = useState(false)
  if (retention.error) return <Notice kind="bad">{retention.error.message}</Notice>
  if (!retention.data) return <Unloaded />
  const { classes } = retention.data
  return (
    <form class="card stack narrow" noValidate onSubmit={(event) => void save(event)}>
      {classes.map((each) => (
        <Field
          key={each.class}
          id={`retention-${each.class}`}
          label={t('{data}, in days', { data: CLASS_NAMES[each.class] })}
          hint={t('{description} {minDays} to {maxDays} days; default {defaultDays}.', {
            description: CLASS_DESCRIPTIONS[each.class],
            minDays: each.min_days,
            maxDays: each.max_days,
            defaultDays: each.default_days,
          })}
          error={error?.details.find(({ path: field }) => field === each.class)?.message}
        >
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min={each.min_days}
              max={each.max_days}
              disabled={!isOwner}
              value={days[each.class] ?? String(each.days)}
              onInput={(event) => setDays({ ...days, [each.class]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
      {error && error.details.length === 0 && <Notice kind="bad">{error.message}</Notice>}
      {saved && <Notice kind="good">{t('Retention periods saved.')}</Notice>}
      {isOwner && <SubmitButton busy={busy}>{t('Save retention periods')}</SubmitButton>}
    </form>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    setSaved(false)
    setError(undefined)
    const changes = classes.filter((each) => days[each.class] !== undefined && Number(days[each.class]) !== each.days)
    const body = Object.fromEntries(changes.map((each) => [each.class, Number(days[each.class])]))
    const response = await api<Retention>(path, { method: 'PUT', body })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    retention.set(response.data)
    setDays({})
    setSaved(true)
    onSaved()
  }
}
