import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Action } from '../ui/action.tsx'
import type { Texts } from './texts.ts'

interface Props {
  title: string
  hint?: string
  words: Texts
  fault: string | undefined
  busy: boolean
  next: string
  busyText?: string
  canGoOn?: boolean
  onNext: () => void
  onBack?: (() => void) | undefined
  children: ComponentChildren
}

/** What every step has: a heading that takes the focus, what went wrong, and the way on and back. */
export function StepFrame(props: Props) {
  const { title, hint, words, fault, busy, next, canGoOn = true, onNext, onBack, children } = props
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    scrollTo(0, 0)
  }, [])
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy && canGoOn) onNext()
      }}
    >
      <div class="stack-tight">
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {hint && <p class="soft">{hint}</p>}
      </div>
      {children}
      {fault && (
        <p class="notice bad" role="alert">
          {fault}
        </p>
      )}
      <div class="row between foot">
        {onBack ? (
          <button type="button" onClick={onBack} disabled={busy}>
            {words.back}
          </button>
        ) : (
          <span />
        )}
        <Action class="primary" busy={busy} ready={canGoOn}>
          {busy ? (props.busyText ?? words.saving) : next}
        </Action>
      </div>
    </form>
  )
}
