import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiKey } from '../../api-types/console.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import { type ApiError, api } from '../shell/api.ts'

/** Properties of the dialogs of one key. */
export interface KeyDialogProps {
  path: string
  apiKey: ApiKey
  onClose: () => void
  onChanged: () => void
}

interface Props extends KeyDialogProps {
  title: string
  intro: ComponentChildren
  submitLabel: string
  /** The part of the key that the dialog changes, as in the path of its route. */
  property: string
  body: () => unknown
  /** Returns the error about the field, if there is one. */
  errorAt: (error: ApiError | undefined) => string | undefined
  /** Returns the field. `clearError` must be called when its value changes. */
  field: (error: string | undefined, clearError: () => void) => ComponentChildren
}

/** A dialog with one field that changes a property of a key. */
export function KeyDialog(props: Props) {
  const { path, apiKey, title, intro, submitLabel, property, body, errorAt, field, onClose, onChanged } = props
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const fieldError = errorAt(error)
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" noValidate onSubmit={(event) => void save(event)}>
        <p>{intro}</p>
        {error && !fieldError && <Notice kind="bad">{error.message}</Notice>}
        {field(fieldError, () => setError(undefined))}
        <SubmitButton class="primary" busy={busy}>
          {submitLabel}
        </SubmitButton>
      </form>
    </Dialog>
  )

  async function save(event: Event) {
    event.preventDefault()
    setBusy(true)
    const response = await api<ApiKey>(`${path}/${apiKey.key_id}/${property}`, { method: 'PUT', body: body() })
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onChanged()
  }
}
