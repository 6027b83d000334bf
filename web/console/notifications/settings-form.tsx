import { useState } from 'preact/hooks'
import type { NotificationKind, NotificationSettings } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'
import { useOrgContext } from '../shell/session.ts'
import { KIND_HINTS, KIND_NAMES } from './kind-names.ts'
import '../shared/forms.css'

const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone
const KINDS = Object.keys(KIND_NAMES) as NotificationKind[]

/** Chooses the kinds of notifications and the emails of the signed-in member. */
export function SettingsForm({ onSaved }: { onSaved: () => void }) {
  const { org } = useOrgContext()
  const path = `/orgs/${org.org_id}/notification-settings`
  const stored = useData<NotificationSettings>(path)
  const [changes, setChanges] = useState<Partial<NotificationSettings>>({})
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const [isSaved, setIsSaved] = useState(false)
  if (stored.error) return <Notice kind="bad">{stored.error.message}</Notice>
  if (!stored.data) return <p class="waiting">Choice of notifications</p>
  const settings = { ...stored.data, ...changes }
  const { kinds, digest, digest_hour, time_zone, immediate_failures } = settings
  const zones = [...new Set([time_zone, BROWSER_ZONE, 'Asia/Kolkata'])]
  return (
    <form class="card stack notification-settings" onSubmit={(event) => void save(event)}>
      <fieldset class="stack-tight">
        <legend>{t('Kinds, in the console and by email')}</legend>
        {KINDS.map((kind) => (
          <label key={kind} class="check">
            <input
              type="checkbox"
              checked={kinds.includes(kind)}
              onChange={(event) =>
                change({
                  kinds: event.currentTarget.checked ? [...kinds, kind] : kinds.filter((each) => each !== kind),
                })
              }
            />
            <span>
              {KIND_NAMES[kind]} <span class="soft small">{KIND_HINTS[kind]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <fieldset class="stack-tight">
        <legend>{t('Emails about LIVE mode')}</legend>
        <label class="check">
          <input
            type="checkbox"
            checked={immediate_failures}
            onChange={(event) => change({ immediate_failures: event.currentTarget.checked })}
          />
          <span>{t('Email failures immediately')}</span>
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={digest === 'daily'}
            onChange={(event) =>
              change(event.currentTarget.checked ? { digest: 'daily', time_zone: BROWSER_ZONE } : { digest: 'off' })
            }
          />
          <span>{t('Email a summary every day')}</span>
        </label>
        {digest === 'daily' && (
          <div class="row">
            <label>
              {t('Hour')}
              <select
                value={digest_hour}
                onChange={(event) => change({ digest_hour: Number(event.currentTarget.value) })}
              >
                {Array.from({ length: 24 }, (_, hour) => (
                  <option key={hour} value={hour}>
                    {String(hour).padStart(2, '0')}:00
                  </option>
                ))}
              </select>
            </label>
            <label>
              {t('Time zone')}
              <select value={time_zone} onChange={(event) => change({ time_zone: event.currentTarget.value })}>
                {zones.map((zone) => (
                  <option key={zone} value={zone}>
                    {zone}
                  </option>
                ))}
              </select>
            </label>
          </div>
        )}
        <p class="soft small">
          {t('A day without anything new sends no email. TEST mode sends none.')}{' '}
          {t('Emails are in the language that you chose for the console.')}
        </p>
      </fieldset>
      {error && <Notice kind="bad">{error.message}</Notice>}
      {isSaved && <Notice kind="good">{t('Saved.')}</Notice>}
      <SubmitButton busy={busy}>{t('Save choice')}</SubmitButton>
    </form>
  )

  function change(values: Partial<NotificationSettings>) {
    setIsSaved(false)
    setChanges({ ...changes, ...values })
  }

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<NotificationSettings>(path, { method: 'PUT', body: settings })
    setBusy(false)
    setError(response.ok ? undefined : response.error)
    if (!response.ok) return
    stored.set(response.data)
    setChanges({})
    setIsSaved(true)
    onSaved()
  }
}
