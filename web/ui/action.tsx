import type { ComponentChildren } from 'preact'

interface Props {
  type?: 'button' | 'submit'
  class?: string
  /** At work: a second press does nothing. */
  busy?: boolean | undefined
  /** Whether there is anything to do. */
  ready?: boolean
  onClick?: () => void
  children: ComponentChildren
}

/** A button that sends something. While it is at work it keeps the focus, which a disabled one would drop. */
export function Action({ type = 'submit', class: kind = '', busy = false, ready = true, onClick, children }: Props) {
  const classes = [kind, busy && 'busy'].filter(Boolean).join(' ')
  return (
    <button type={type} class={classes} disabled={!ready && !busy} aria-disabled={busy || undefined} onClick={press}>
      {children}
    </button>
  )

  function press(event: Event) {
    if (busy) event.preventDefault()
    else onClick?.()
  }
}
