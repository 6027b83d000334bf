import { useState } from 'preact/hooks'
import type { Offboarding, OrganisationForOperator } from '../../api-types/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { ProtectedDownload } from '../shared/protected-download.tsx'
import { type ApiError, api } from '../shell/api.ts'

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
  const [result, setResult] = useState<Offboarding>()
  const [busy, setBusy] = useState(false)
  const isReady = name === org.name && basis.trim() !== ''
  return (
    <Dialog title={`Export or erase ${org.name}`} onClose={onClose}>
      <div>
        <ProtectedDownload href={`/console/api/operator/orgs/${org.org_id}/export.ndjson`}>
          Download everything that is stored
        </ProtectedDownload>
      </div>
      <form class="stack" onSubmit={(event) => void erase(event)}>
        <p>
          Erasing switches the service off, revokes all keys, makes the data of all people unreadable, and deletes
          members, emails and logs. Counts, credits and results stay. This cannot be undone.
        </p>
        <Field id="offboarding-name" label={`To confirm, enter the name: ${org.name}`}>
          {(attributes) => (
            <input {...attributes} type="text" value={name} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <Field id="offboarding-basis" label="Reason, for the audit log">
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
        {result && (
          <Notice kind={result.people_held > 0 ? 'wait' : 'good'}>
            {result.people_erased.toLocaleString()} people were erased.{' '}
            {result.people_held > 0
              ? `${result.people_held.toLocaleString()} people have a legal hold and were not erased.`
              : 'The organisation is erased.'}
          </Notice>
        )}
        <div class="row">
          <SubmitButton class="danger" busy={busy} ready={isReady}>
            Erase organisation
          </SubmitButton>
          <button type="button" onClick={onClose}>
            Close
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
    const response = await api<Offboarding>(`/operator/orgs/${org.org_id}/erase`, {
      body: { confirm_name: name, basis },
    })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    setResult(response.data)
    onErased()
  }
}
