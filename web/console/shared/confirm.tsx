import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { t } from '../../translations/translate.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { SubmitButton } from '../../ui/submit-button.tsx'
import type { ApiError, ApiResponse } from '../shell/api.ts'

interface Props {
  title: string
  action: string
  onClose: () => void
  /** Runs the action to confirm. If it fails, its error is shown in the dialog. */
  act: () => Promise<ApiResponse<unknown>>
  onDone: () => void
  children: ComponentChildren
}

/** Asks for confirmation of an action that is hard to undo. */
export function Confirm({ title, action, onClose, act, onDone, children }: Props) {
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {error && <Notice kind="bad">{error.message}</Notice>}
      <div class="row">
        <SubmitButton type="button" class="danger" busy={busy} onClick={() => void confirm()}>
          {action}
        </SubmitButton>
        <button type="button" onClick={onClose}>
          {t('Cancel')}
        </button>
      </div>
    </Dialog>
  )

  async function confirm() {
    setBusy(true)
    const response = await act()
    setBusy(false)
    if (!response.ok) return setError(response.error)
    onClose()
    onDone()
  }
}
