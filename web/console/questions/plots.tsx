import type { QuestionDetails, QuestionStatistics } from '../../api-types/console.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import '../../ui/chart.css'
import { decimal, percent } from './labels.ts'

const HEIGHT = 100
const WIDTH = 200
const y = (share: number) => HEIGHT * (1 - share)
const shortDate = new Intl.DateTimeFormat(displayLocale(), { day: 'numeric', month: 'short', timeZone: 'UTC' })

interface PlotProps {
  label: string
  /** Labels of the horizontal axis, from left to right. */
  scale: string[]
  /** Points with their descriptions. */
  points: { x: number; share: number; title: string }[]
  /** The line: its points from left to right. */
  line: { x: number; share: number }[]
}

/** A plot of shares between 0 and 100 %. Points are lines of length 0 with round ends, so that they stay round when it is stretched. */
function SharePlot({ label, scale, points, line }: PlotProps) {
  return (
    <figure class="days">
      <div class="days-plot">
        <p class="days-axis soft small" aria-hidden="true">
          {[1, 0.5, 0].map((share) => (
            <span key={share}>{percent(share)}</span>
          ))}
        </p>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
          {[0, 0.5, 1].map((at) => (
            <line key={at} class="chart-grid" x1="0" x2={WIDTH} y1={HEIGHT * at} y2={HEIGHT * at} />
          ))}
          <polyline class="chart-line" points={line.map(({ x, share }) => `${x},${y(share)}`).join(' ')} />
          {points.map(({ x, share, title }) => (
            <line key={title} class="plot-point" x1={x} x2={x} y1={y(share)} y2={y(share)}>
              <title>{title}</title>
            </line>
          ))}
        </svg>
        <p class="days-scale soft small" aria-hidden="true">
          {scale.map((text) => (
            <span key={text}>{text}</span>
          ))}
        </p>
      </div>
    </figure>
  )
}

const MAX_ABILITY = 3

/** The share of correct responses of five groups, and the curve of the model. */
export function AbilityPlot({
  groups,
  expected,
}: {
  groups: QuestionStatistics['ability_groups']
  expected: QuestionDetails['expected']
}) {
  const x = (ability: number) => {
    const limited = Math.max(-MAX_ABILITY, Math.min(MAX_ABILITY, ability))
    return (WIDTH * (limited + MAX_ABILITY)) / (2 * MAX_ABILITY)
  }
  const points = groups.map(({ mean_ability, correct_share, responses }) => ({
    x: x(mean_ability),
    share: correct_share,
    title: t('Ability {ability}: {share} of {responses} correct', {
      ability: decimal(mean_ability),
      share: percent(correct_share),
      responses,
    }),
  }))
  return (
    <SharePlot
      label={t('Correct by ability, from the least to the most able group: {shares}', {
        shares: points.map(({ share }) => percent(share)).join(', '),
      })}
      scale={[t('ability −3'), '0', '+3']}
      points={points}
      line={expected.map(({ ability, correct_share }) => ({ x: x(ability), share: correct_share }))}
    />
  )
}

/** The share of correct responses over time. */
export function TrendPlot({ trend }: { trend: QuestionStatistics['trend'] }) {
  const points = trend.map(({ first_day, last_day, responses, correct_share }, index) => ({
    x: (WIDTH * index) / (trend.length - 1),
    share: correct_share,
    title: t('{days}, part {number}: {share} of {responses} correct', {
      days: dayRange(first_day, last_day),
      number: index + 1,
      share: percent(correct_share),
      responses,
    }),
  }))
  const dates = [...new Set([trend[0]!.first_day, trend.at(-1)!.last_day])]
  return (
    <SharePlot
      label={t('Correct over time, oldest first: {shares}', {
        shares: points.map(({ share }) => percent(share)).join(', '),
      })}
      scale={dates.map((date) => shortDate.format(new Date(date)))}
      points={points}
      line={points}
    />
  )
}

function dayRange(first: string, last: string): string {
  const format = (day: string) => shortDate.format(new Date(day))
  return first === last ? format(first) : t('{first} to {last}', { first: format(first), last: format(last) })
}
