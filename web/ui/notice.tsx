import type { ComponentChildren } from 'preact'

export function Notice({ kind, children }: { kind: 'good' | 'bad' | 'wait'; children: ComponentChildren }) {
  return (
    <div class={`notice ${kind === 'wait' ? '' : kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}
