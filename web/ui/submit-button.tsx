import type { ComponentChildren } from 'preact'

interface Props {
  type?: 'button' | 'submit'
  class?: string
  /** True while the action is running; further clicks are ignored. */
  busy?: boolean | undefined
  /** False disables the button. */
  ready?: boolean
  onClick?: () => void
  children: ComponentChildren
}

/** Submit button. While busy it stays focusable, because a disabled button loses the focus. */
export function SubmitButton({
  type = 'submit',
  class: kind = '',
  busy = false,
  ready = true,
  onClick,
  children,
}: Props) {
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
