import { useState } from 'preact/hooks'
import type { PrivacySettings, PrivacySettingsChange } from '../../api-types/console.ts'
import { t } from '../../translations/translate.ts'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import '../shared/forms.css'
import { type ApiError, api } from '../shell/api.ts'

const FIELDS = [
  ['grievance_name', t('Person or team for complaints'), 'text'],
  ['grievance_email', t('Email address for complaints'), 'email'],
  ['grievance_phone', t('Phone number for complaints'), 'tel'],
  ['privacy_email', t('Email address for questions about personal data'), 'email'],
  ['postal_address', t('Postal address'), 'text'],
] as const
const BASIS_FIELDS = [
  ['contact_basis_source', t('Where people agreed or applied, such as the name of a form')],
  ['contact_basis_text_version', t('Version of the text that people agreed to (optional)')],
] as const
const BASES = [
  [null, t('Not declared')],
  ['consent', t('The person agreed to be contacted about jobs')],
  ['application', t('The person applied for a job with us')],
  ['legitimate_use', t('Another use that the law allows without consent')],
] as const
type FieldName = (typeof FIELDS | typeof BASIS_FIELDS)[number][0]

interface Props {
  path: string
  settings: PrivacySettings
  isOwner: boolean
  onSaved: (settings: PrivacySettings) => void
}

/** The contacts in the notice, the basis of contacts, the rule for students below 18, and the number of days for which candidates' links work. */
export function PrivacyContactsForm({ path, settings, isOwner, onSaved }: Props) {
  const [values, setValues] = useState<Record<FieldName, string>>(
    () =>
      Object.fromEntries([...FIELDS, ...BASIS_FIELDS].map(([name]) => [name, settings[name] ?? ''])) as Record<
        FieldName,
        string
      >,
  )
  const [needsGuardian, setNeedsGuardian] = useState(settings.minors === 'guardian_consent')
  const [basis, setBasis] = useState(settings.contact_basis)
  const [linkDays, setLinkDays] = useState(String(settings.link_days))
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [saved, setSaved] = useState(false)
  const errorOf = (name: string) => error?.details.find(({ path: field }) => field === name)?.message
  const hasFieldError = error !== undefined && error.details.length > 0
  return (
    <form class="card stack narrow" noValidate onSubmit={(event) => void save(event)}>
      {!settings.grievance_email && !settings.grievance_phone && (
        <Notice kind="wait">
          {t('The notice has no contact for complaints yet. Enter an email address or a phone number.')}
        </Notice>
      )}
      {FIELDS.map(([name, label, inputMode]) => (
        <Field key={name} id={`privacy-${name}`} label={label} error={errorOf(name)}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              inputMode={inputMode}
              disabled={!isOwner}
              value={values[name]}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
          )}
        </Field>
      ))}
      <Field
        id="privacy-contact-basis"
        label={t('Why you may contact candidates in LIVE mode')}
        hint={basis === null && t('Each LIVE candidate needs a consent at enrolment.')}
        error={errorOf('contact_basis')}
      >
        {(attributes) => (
          <select
            {...attributes}
            disabled={!isOwner}
            value={basis ?? ''}
            onChange={(event) => setBasis(BASES[event.currentTarget.selectedIndex]![0])}
          >
            {BASES.map(([value, label]) => (
              <option key={value} value={value ?? ''}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {basis !== null &&
        BASIS_FIELDS.map(([name, label]) => (
          <Field key={name} id={`privacy-${name}`} label={label} error={errorOf(name)}>
            {(attributes) => (
              <input
                {...attributes}
                type="text"
                disabled={!isOwner}
                value={values[name]}
                onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
      <Field
        id="privacy-link-days"
        label={t("Number of days for which candidates' links work after the campaign")}
        error={errorOf('link_days')}
      >
        {(attributes) => (
          <input
            {...attributes}
            type="number"
            min={0}
            max={365}
            disabled={!isOwner}
            value={linkDays}
            onInput={(event) => setLinkDays(event.currentTarget.value)}
          />
        )}
      </Field>
      <label class="check">
        <input
          type="checkbox"
          disabled={!isOwner}
          checked={needsGuardian}
          onChange={(event) => setNeedsGuardian(event.currentTarget.checked)}
        />
        {t('Students below 18 need the consent of a guardian')}
      </label>
      {error && !hasFieldError && <Notice kind="bad">{error.message}</Notice>}
      {saved && <Notice kind="good">{t('Privacy settings saved.')}</Notice>}
      {isOwner && <SubmitButton busy={busy}>{t('Save privacy settings')}</SubmitButton>}
    </form>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    setSaved(false)
    setError(undefined)
    const texts = Object.fromEntries([...FIELDS, ...BASIS_FIELDS].map(([name]) => [name, values[name].trim() || null]))
    const body: PrivacySettingsChange = {
      ...texts,
      contact_basis: basis,
      minors: needsGuardian ? 'guardian_consent' : 'off',
      link_days: Number(linkDays),
    }
    const response = await api<PrivacySettings>(path, { method: 'PUT', body })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    setSaved(true)
    onSaved(response.data)
  }
}
