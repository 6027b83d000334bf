import type { ComponentChildren } from 'preact'

/** The properties of an object as a list of names and values. */
export function DescriptionList({ children }: { children: ComponentChildren }) {
  return <dl class="description-list card">{children}</dl>
}

export function DescriptionItem({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
