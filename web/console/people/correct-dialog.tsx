import { useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { compactPhone, fieldErrorOf } from './address-errors.ts'
import { ReasonFields } from './reason-fields.tsx'
import type { PersonDialogProps } from './request-dialogs.tsx'

const FIELDS = [
  { name: 'name', label: t('Correct name'), inputMode: 'text', maxLength: 200 },
  { name: 'phone', label: t('Correct phone number'), inputMode: 'tel', maxLength: 20 },
  { name: 'email', label: t('Correct email address'), inputMode: 'email', maxLength: 254 },
] as const

/** Corrects the name and addresses of a person. Empty fields are not changed. */
export function CorrectDialog({ path, onClose, onDone }: PersonDialogProps) {
  const [values, setValues] = useState({ name: '', phone: '', email: '' })
  const [reason, setReason] = useState({ requested_by: '', basis: '' })
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const isReady = Object.values(values).some((value) => value.trim() !== '')
  const hasFieldError = FIELDS.some(({ name }) => fieldErrorOf(error, name) !== undefined)
  return (
    <Dialog title={t('Correct the data')} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void correct(event)}>
        <p>
          {t(
            'Fill in only the values to correct. They are replaced in all records of the person that contain such a value.',
          )}
        </p>
        {FIELDS.map(({ name, label, inputMode, maxLength }) => (
          <Field key={name} id={`correct-${name}`} label={label} error={fieldErrorOf(error, name)}>
            {(attributes) => (
              <input
                {...attributes}
                type="text"
                inputMode={inputMode}
                autoComplete="off"
                maxLength={maxLength}
                value={values[name]}
                onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
              />
            )}
          </Field>
        ))}
        <ReasonFields reason={reason} onChange={setReason} />
        {error && !hasFieldError && <Notice kind="bad">{error.message}</Notice>}
        <div class="row">
          <SubmitButton class="primary" busy={busy} ready={isReady}>
            {t('Correct##button')}
          </SubmitButton>
          <button type="button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )

  async function correct(event: Event) {
    event.preventDefault()
    if (!isReady || busy) return
    setBusy(true)
    const { name, phone, email } = values
    const entered = { name: name.trim(), phone: compactPhone(phone), email: email.trim(), ...reason }
    const body = Object.fromEntries(Object.entries(entered).filter(([, value]) => value.trim() !== ''))
    const response = await api(path, { method: 'PATCH', body })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onDone(t('The data was corrected.'))
  }
}
