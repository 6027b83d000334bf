import type { ComponentChildren } from 'preact'
import type { Tone } from './bar-list.tsx'
import { Swatch } from './daily-chart.tsx'
import './chart.css'

export interface Share {
  name: string
  value: number
  tone: Tone
  number: ComponentChildren
}

/** One stacked bar with a legend of its parts. */
export function StackedBar({ shares }: { shares: Share[] }) {
  const total = shares.reduce((sum, { value }) => sum + value, 0)
  let x = 0
  return (
    <div class="shares">
      <svg class="shares-picture" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <rect class="chart-ground" width="100" height="1" />
        {shares.map(({ name, value, tone }) => {
          const width = total === 0 ? 0 : (100 * value) / total
          x += width
          return <rect key={name} class={`chart-${tone}`} x={x - width} width={width} height="1" />
        })}
      </svg>
      <ul>
        {shares.map(({ name, tone, number }) => (
          <li key={name}>
            <Swatch tone={tone} />
            <span>{name}</span>
            <span class="bar-number">{number}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
