import type { ComponentChildren } from 'preact'
import './chart.css'

export interface Bar {
  key: string
  label: ComponentChildren
  value: number
  /** A part of the value, drawn darker inside it. */
  part?: number
  tone?: Tone
  /** The number as the reader sees it, for instance a link to the list behind it. */
  number: ComponentChildren
  note?: ComponentChildren
}

export type Tone = 'good' | 'wait' | 'bad' | 'quiet'

/** Amounts under each other, each with its name and its number; the bars only help the eye. */
export function Bars({ name, bars, most }: { name: string; bars: Bar[]; most?: number }) {
  const whole = Math.max(1, most ?? 0, ...bars.map(({ value }) => value))
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
              width={(100 * value) / whole}
              height="1"
            />
            {part !== undefined && <rect class={`chart-${tone}`} x="0" y="0" width={(100 * part) / whole} height="1" />}
          </svg>
          <span class="bar-number">{number}</span>
          {note !== undefined && <span class="bar-note soft small">{note}</span>}
        </li>
      ))}
    </ul>
  )
}
