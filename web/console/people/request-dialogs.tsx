import { useState } from 'preact/hooks'
import type { Person } from '../../api-types/partner.ts'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { ReasonFields } from './reason-fields.tsx'

export interface PersonDialogProps {
  /** API path of the person. */
  path: string
  person: Person
  onClose: () => void
  /** Called after the change, with the message to show. */
  onDone: (message: string) => void
}

const NO_REASON = { requested_by: '', basis: '' }

/** Restricts the processing of the data of a person, or lifts the restriction. */
export function RestrictDialog({ path, person, onClose, onDone }: PersonDialogProps) {
  const [reason, setReason] = useState(NO_REASON)
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const isRestricted = person.status === 'restricted'
  return (
    <Dialog title={isRestricted ? t('Lift the restriction?') : t('Restrict processing?')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void change(event)}>
        <p>
          {isRestricted
            ? t('Messages that became due in the meantime are sent now.')
            : t('The person is not contacted, and replies are not processed, until you lift the restriction.')}
        </p>
        <ReasonFields reason={reason} onChange={setReason} />
        {error && <Notice kind="bad">{error.message}</Notice>}
        <div class="row">
          <SubmitButton class="primary" busy={busy}>
            {isRestricted ? t('Lift the restriction') : t('Restrict')}
          </SubmitButton>
          <button type="button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )

  async function change(event: Event) {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    const body = Object.fromEntries(Object.entries(reason).filter(([, value]) => value.trim() !== ''))
    const response = await api(`${path}/${isRestricted ? 'unrestrict' : 'restrict'}`, { body })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onDone(isRestricted ? t('The restriction was lifted.') : t('Processing is restricted.'))
  }
}

/** Starts a legal hold of a person, or ends it. */
export function HoldDialog({ path, person, onClose, onDone }: PersonDialogProps) {
  const [reason, setReason] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const isHeld = person.legal_hold !== null
  const isReady = isHeld || reason.trim() !== ''
  return (
    <Dialog title={isHeld ? t('End the legal hold?') : t('Start a legal hold?')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void change(event)}>
        {isHeld ? (
          <p>{t('After that, the person can be erased on request, and retention periods apply again.')}</p>
        ) : (
          <>
            <p>
              {t('The person cannot be erased until you end the hold: neither on request, nor by a retention period.')}
            </p>
            <Field
              id="hold-reason"
              label={t('Reason')}
              hint={t('For example: lawsuit 12/2026. Do not enter personal data.')}
            >
              {(attributes) => (
                <input
                  {...attributes}
                  type="text"
                  required
                  maxLength={500}
                  value={reason}
                  onInput={(event) => setReason(event.currentTarget.value)}
                />
              )}
            </Field>
          </>
        )}
        {error && <Notice kind="bad">{error.message}</Notice>}
        <div class="row">
          <SubmitButton class="primary" busy={busy} ready={isReady}>
            {isHeld ? t('End the legal hold') : t('Start the legal hold')}
          </SubmitButton>
          <button type="button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )

  async function change(event: Event) {
    event.preventDefault()
    if (!isReady || busy) return
    setBusy(true)
    const response = await api(`${path}/hold`, { method: 'PUT', body: { reason: isHeld ? null : reason.trim() } })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onDone(isHeld ? t('The legal hold was ended.') : t('The legal hold was started.'))
  }
}

const CONFIRMATION = 'erase'

/** Erases a person, after the user has entered a word to confirm. */
export function EraseDialog({ path, onClose, onDone }: PersonDialogProps) {
  const [reason, setReason] = useState(NO_REASON)
  const [confirmation, setConfirmation] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const isReady =
    reason.requested_by.trim() !== '' && reason.basis.trim() !== '' && confirmation.trim() === CONFIRMATION
  return (
    <Dialog title={t('Erase the person?')} onClose={onClose}>
      <form class="stack" onSubmit={(event) => void erase(event)}>
        <p>
          {t(
            'Running conversations and sessions end, and credentials are revoked. Names, addresses, messages and answers become unreadable. Results, counts and credits remain. This cannot be undone.',
          )}
        </p>
        <ReasonFields reason={reason} onChange={setReason} required />
        <Field id="erase-confirmation" label={t('To confirm, enter: {word}', { word: CONFIRMATION })}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              autoComplete="off"
              value={confirmation}
              onInput={(event) => setConfirmation(event.currentTarget.value)}
            />
          )}
        </Field>
        {error && <Notice kind="bad">{error.message}</Notice>}
        <div class="row">
          <SubmitButton class="danger" busy={busy} ready={isReady}>
            {t('Erase the person')}
          </SubmitButton>
          <button type="button" onClick={onClose}>
            {t('Cancel')}
          </button>
        </div>
      </form>
    </Dialog>
  )

  async function erase(event: Event) {
    event.preventDefault()
    if (!isReady || busy) return
    setBusy(true)
    const response = await api(`${path}/erase`, { body: reason })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onDone(t('The person was erased.'))
  }
}
