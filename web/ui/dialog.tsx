import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface Props {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** The browser's own dialog: it keeps the focus in, and Escape closes it. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    <dialog ref={element} class="dialog" aria-labelledby="dialog-title" onClose={onClose}>
      <div class="row between">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="plain flush close" aria-label="Close" onClick={() => element.current?.close()}>
          ×
        </button>
      </div>
      <div class="stack">{children}</div>
    </dialog>
  )
}
