import type { ComponentChildren } from 'preact'

interface Props {
  label: string
  hint?: string
  /** What the server said about it. */
  fault?: string | undefined
  children: (attributes: {
    id: string
    'aria-describedby': string | undefined
    'aria-invalid': boolean
  }) => ComponentChildren
  id: string
}

/** A labelled input, its hint, and what is wrong with it right below. */
export function Field({ label, hint, fault, children, id }: Props) {
  const about = fault ? `${id}-fault` : hint ? `${id}-hint` : undefined
  return (
    <div class={`field ${fault ? 'wrong' : ''}`}>
      <label for={id}>{label}</label>
      {children({ id, 'aria-describedby': about, 'aria-invalid': Boolean(fault) })}
      {fault ? (
        <p class="fault small" id={`${id}-fault`}>
          {fault}
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
