import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface Props {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** What the latest dialog was opened from. One that follows another at once finds the focus nowhere. */
let opener: HTMLElement | undefined

/** The browser's own dialog: it keeps the focus in, Escape closes it, and the focus goes back to where it came from. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const gone = useRef(false)
  useEffect(() => {
    const dialog = element.current!
    const { activeElement } = document
    if (activeElement instanceof HTMLElement && activeElement !== document.body) opener = activeElement
    const origin = opener
    dialog.showModal()
    firstPlace(dialog)?.focus()
    return () => {
      gone.current = true
      dialog.close() // while it is open, nothing behind it can have the focus
      origin?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog ref={element} class="dialog" aria-labelledby="dialog-title" onClose={() => gone.current || onClose()}>
      <div class="row between dialog-head">
        <h2 id="dialog-title" tabIndex={-1}>
          {title}
        </h2>
        <button type="button" class="plain flush close" aria-label="Close" onClick={() => element.current?.close()}>
          ×
        </button>
      </div>
      <div class="stack dialog-body">{children}</div>
    </dialog>
  )
}

/** Where one begins: at a field that must be filled in, else at the title. There an Enter that is held too long does nothing. */
function firstPlace(dialog: HTMLElement): HTMLElement | null {
  const field = dialog.querySelector<HTMLInputElement>('.dialog-body :is(input, select, textarea)')
  return field?.required && field.value === '' ? field : dialog.querySelector('h2')
}
