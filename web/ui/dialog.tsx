import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { t } from '../translations/translate.ts'

interface Props {
  title: string
  onClose: () => void
  /** Whether Escape is ignored, because the content cannot be shown again. */
  persistent?: boolean
  children: ComponentChildren
}

/** The element that opened the latest dialog. Stored here because no element has the focus when one dialog replaces another. */
let opener: HTMLElement | undefined

/** Native modal dialog: traps the focus, closes on Escape and returns the focus to the element that opened it. */
export function Dialog({ title, onClose, persistent = false, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  const unmounted = useRef(false)
  const titleId = useId() // a dialog can open another one
  useEffect(() => {
    const dialog = element.current!
    const { activeElement } = document
    if (activeElement instanceof HTMLElement && activeElement !== document.body) opener = activeElement
    const focusOnClose = opener
    dialog.showModal()
    initialFocus(dialog)?.focus()
    return () => {
      unmounted.current = true
      dialog.close() // elements behind an open dialog cannot be focused
      focusOnClose?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => persistent && event.preventDefault()}
      onKeyDown={(event) => persistent && event.key === 'Escape' && event.preventDefault()}
      onClose={() => unmounted.current || onClose()}
    >
      <div class="row between dialog-head">
        <h2 id={titleId} tabIndex={-1}>
          {title}
        </h2>
        <button
          type="button"
          class="plain flush close"
          aria-label={t('Close')}
          onClick={() => element.current?.close()}
        >
          ×
        </button>
      </div>
      <div class="stack dialog-body">{children}</div>
    </dialog>
  )
}

/** Returns the first required empty field, or the title, where a held Enter key has no effect. */
function initialFocus(dialog: HTMLElement): HTMLElement | null {
  const field = dialog.querySelector<HTMLInputElement>('.dialog-body :is(input, select, textarea)')
  return field?.required && field.value === '' ? field : dialog.querySelector('h2')
}
