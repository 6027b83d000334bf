import { useEffect, useState } from 'preact/hooks'
import type { ErasureProgress, OrganisationForOperator } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { ProtectedDownload } from '../shared/protected-download.tsx'
import { type ApiError, api } from '../shell/api.ts'
import { useData } from '../shell/loading.ts'

interface Props {
  org: OrganisationForOperator
  onClose: () => void
  onErased: () => void
}

/** Exports and erases an organisation at the end of its contract. The name must be entered to confirm. */
export function OffboardingDialog({ org, onClose, onErased }: Props) {
  const [name, setName] = useState('')
  const [basis, setBasis] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const [isRunning, setIsRunning] = useState(true)
  const erasure = useData<ErasureProgress>(`/operator/orgs/${org.org_id}/erasure`, {
    pollMs: isRunning ? POLL_INTERVAL_MS : 0,
  })
  const status = erasure.data?.status
  useEffect(() => {
    if (status === undefined) return
    setIsRunning(status === 'running')
    if (status === 'erased') onErased()
  }, [status])
  const canErase = status !== 'running' && status !== 'erased'
  const isReady = canErase && name === org.name && basis.trim() !== ''
  return (
    <Dialog title={t('Export or erase {name}', { name: org.name })} onClose={onClose}>
      <div>
        <ProtectedDownload href={`/console/api/operator/orgs/${org.org_id}/export.ndjson`}>
          {t('Download everything that is stored')}
        </ProtectedDownload>
      </div>
      <form class="stack" onSubmit={(event) => void erase(event)}>
        <p>
          {t(
            'Erasing switches the service off, revokes all keys, makes the data of all people unreadable, and deletes members, emails and logs. Counts, credits and results stay. This cannot be undone.',
          )}
        </p>
        <Field id="offboarding-name" label={t('To confirm, enter the name: {name}', { name: org.name })}>
          {(attributes) => (
            <input {...attributes} type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <Field id="offboarding-basis" label={t('Reason, for the audit log')}>
          {(attributes) => (
            <input
              {...attributes}
              type="text"
              maxLength={500}
              value={basis}
              onInput={(event) => setBasis(event.currentTarget.value)}
            />
          )}
        </Field>
        {error && <Notice kind="bad">{error.message}</Notice>}
        {erasure.error && <Notice kind="bad">{erasure.error.message}</Notice>}
        {erasure.data && <Progress {...erasure.data} />}
        <div class="row">
          <SubmitButton class="danger" busy={busy} ready={isReady}>
            {t('Erase organisation')}
          </SubmitButton>
          <button type="button" onClick={onClose}>
            {t('Close')}
          </button>
        </div>
      </form>
    </Dialog>
  )

  async function erase(event: Event) {
    event.preventDefault()
    if (!isReady || busy) return
    setBusy(true)
    setError(undefined)
    const response = await api<ErasureProgress>(`/operator/orgs/${org.org_id}/erase`, {
      body: { confirm_name: name, basis },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    erasure.set(response.data)
  }
}

/** Interval at which the progress is read during the erasure, which continues if the page is closed. */
const POLL_INTERVAL_MS = 2000

function Progress({ status, people, people_erased, people_held }: ErasureProgress) {
  const erasedText = t('People erased: {erased} of {people}.', {
    erased: people_erased.toLocaleString(displayLocale()),
    people: people.toLocaleString(displayLocale()),
  })
  switch (status) {
    case 'not_requested':
      return null
    case 'running':
      return (
        <Notice kind="wait">
          {t('The erasure is running and continues if you close this page.')} {erasedText}
        </Notice>
      )
    case 'held':
      return (
        <Notice kind="wait">
          {erasedText}{' '}
          {people_held > 0 &&
            t('People with a legal hold: {count}.', { count: people_held.toLocaleString(displayLocale()) })}{' '}
          {t('End the legal holds of people and of the organisation, then erase it again.')}
        </Notice>
      )
    case 'failed':
      return (
        <Notice kind="bad">
          {erasedText}{' '}
          {t(
            'The erasure ended before it was complete. If the page Background jobs shows an error, correct its cause. Then erase the organisation again to continue.',
          )}
        </Notice>
      )
    case 'erased':
      return (
        <Notice kind="good">
          {t('The organisation is erased.')} {erasedText}
        </Notice>
      )
  }
}
