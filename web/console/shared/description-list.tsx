import type { ComponentChildren } from 'preact'

/** What is known about a thing, name by name. */
export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts card">{children}</dl>
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
