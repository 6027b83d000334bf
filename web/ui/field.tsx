import type { ComponentChildren } from 'preact'

interface Props {
  label: string
  hint?: ComponentChildren
  /** Validation error of this field. */
  error?: string | undefined
  children: (attributes: {
    id: string
    'aria-describedby': string | undefined
    'aria-invalid': boolean
  }) => ComponentChildren
  id: string
}

/** A labelled input with its hint or its validation error below. */
export function Field({ label, hint, error, children, id }: Props) {
  const describedBy = error ? `${id}-error` : hint ? `${id}-hint` : undefined
  return (
    <div class={`field ${error ? 'wrong' : ''}`}>
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': describedBy, 'aria-invalid': Boolean(error) })}
      {error ? (
        <p class="field-error small" id={`${id}-error`}>
          {error}
        </p>
      ) : (
        hint && (
          <p class="soft small" id={`${id}-hint`}>
            {hint}
          </p>
        )
      )}
    </div>
  )
}
