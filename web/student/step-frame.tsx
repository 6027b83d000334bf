import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { SubmitButton } from '../ui/submit-button.tsx'
import type { StudentTexts } from './texts.ts'

interface Props {
  title: string
  hint?: string
  pageTexts: StudentTexts
  error: string | undefined
  busy: boolean
  next: string
  busyText?: string
  canContinue?: boolean
  onNext: () => void
  onBack?: (() => void) | undefined
  children: ComponentChildren
}

/** Common frame of a step: heading with focus, error message, Continue and Back buttons. */
export function StepFrame(props: Props) {
  const { title, hint, pageTexts, error, busy, next, canContinue = true, onNext, onBack, children } = props
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
        if (!busy && canContinue) onNext()
      }}
    >
      <div class="stack-tight">
        <h1 tabIndex={-1} ref={heading}>
          {title}
        </h1>
        {hint && <p class="soft">{hint}</p>}
      </div>
      {children}
      {error && (
        <p class="notice bad" role="alert">
          {error}
        </p>
      )}
      <div class="row between foot">
        {onBack ? (
          <button type="button" onClick={onBack} disabled={busy}>
            {pageTexts.back}
          </button>
        ) : (
          <span />
        )}
        <SubmitButton class="primary" busy={busy} ready={canContinue}>
          {busy ? (props.busyText ?? pageTexts.saving) : next}
        </SubmitButton>
      </div>
    </form>
  )
}
