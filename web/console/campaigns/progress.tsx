import type { Campaign } from '../../api-types/partner.ts'
import { CANDIDATE_STATUS_NAMES } from './status-names.ts'

const STATUS_ORDER = ['completed', 'declined', 'failed', 'pending'] as const

/** The progress of a campaign as a stacked bar, with the numbers in its label for screen readers. */
export function Progress({ counts }: { counts: Campaign['counts'] }) {
  const { candidates: total } = counts
  let x = 0
  const segments = STATUS_ORDER.map((name) => {
    const width = total === 0 ? 0 : (counts[name] / total) * 100
    x += width
    return { name, x: x - width, width }
  })
  const label = STATUS_ORDER.map((name) => `${counts[name]} ${CANDIDATE_STATUS_NAMES[name]}`).join(', ')
  return (
    <svg class="progress" role="img" aria-label={label} viewBox="0 0 100 1" preserveAspectRatio="none">
      <title>{label}</title>
      {segments.map((part) => (
        <rect key={part.name} class={`of-${part.name}`} x={part.x} y="0" width={part.width} height="1" />
      ))}
    </svg>
  )
}

/** Explains the colours of progress bars. Screen readers skip it, because each bar has its numbers. */
export function ProgressLegend() {
  return (
    <p class="progress-legend soft small" aria-hidden="true">
      {STATUS_ORDER.map((name) => (
        <span key={name}>
          <span class={`swatch ${name}`} />
          <span class="capital">{CANDIDATE_STATUS_NAMES[name]}</span>
        </span>
      ))}
    </p>
  )
}
