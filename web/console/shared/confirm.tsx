import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Action } from '../../ui/action.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import type { Answer, Refusal } from '../shell/api.ts'

interface Props {
  title: string
  action: string
  onClose: () => void
  /** Done where the answer is a good one; a refusal is shown here. */
  act: () => Promise<Answer<unknown>>
  onDone: () => void
  children: ComponentChildren
}

/** Asks once more before something that is not easily undone. */
export function Confirm({ title, action, onClose, act, onDone, children }: Props) {
  const [refusal, setRefusal] = useState<Refusal>()
  const [busy, setBusy] = useState(false)
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {refusal && <Notice kind="bad">{refusal.message}</Notice>}
      <div class="row">
        <Action type="button" class="danger" busy={busy} onClick={() => void go()}>
          {action}
        </Action>
        <button type="button" onClick={onClose}>
          Leave it
        </button>
      </div>
    </Dialog>
  )

  async function go() {
    setBusy(true)
    const answer = await act()
    setBusy(false)
    if (!answer.ok) return setRefusal(answer.refusal)
    onClose()
    onDone()
  }
}
