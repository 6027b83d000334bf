import type { ComponentChildren } from 'preact'
import './chart.css'

export interface Bar {
  key: string
  label: ComponentChildren
  value: number
  /** Part of `value`, drawn darker inside the bar. */
  part?: number
  tone?: Tone
  /** The displayed number, for example as a link to the underlying list. */
  number: ComponentChildren
  note?: ComponentChildren
}

export type Tone = 'good' | 'wait' | 'bad' | 'quiet'

/** List of labelled numbers with decorative bars. */
export function BarList({ name, bars, max }: { name: string; bars: Bar[]; max?: number }) {
  const scale = Math.max(1, max ?? 0, ...bars.map(({ value }) => value))
  return (
    <ul class="bars" aria-label={name}>
      {bars.map(({ key, label, value, part, tone = 'good', number, note }) => (
        <li key={key}>
          <span class="bar-label">{label}</span>
          <svg class="bar-picture" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" focusable="false">
            <rect class="chart-ground" x="0" y="0" width="100" height="1" />
            <rect
              class={`chart-${tone} ${part === undefined ? '' : 'chart-pale'}`}
              x="0"
              y="0"
              width={(100 * value) / scale}
              height="1"
            />
            {part !== undefined && <rect class={`chart-${tone}`} x="0" y="0" width={(100 * part) / scale} height="1" />}
          </svg>
          <span class="bar-number">{number}</span>
          {note !== undefined && <span class="bar-note soft small">{note}</span>}
        </li>
      ))}
    </ul>
  )
}
