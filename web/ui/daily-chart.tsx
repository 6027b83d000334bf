import { displayLocale } from '../translations/translate.ts'
import type { Tone } from './bar-list.tsx'
import './chart.css'

interface Series {
  name: string
  tone: Tone
}

interface Day {
  date: string
  /** Stacked column values, in the order of the series. */
  amounts: number[]
  /** Value of the line drawn over the columns. */
  line: number
}

interface Props {
  name: string
  series: Series[]
  lineName: string
  days: Day[]
}

const CHART_HEIGHT = 100
const shortDate = new Intl.DateTimeFormat(displayLocale(), { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Chart with one stacked column per day, and a line drawn over the columns. */
export function DailyChart({ name, series, lineName, days }: Props) {
  const highest = Math.max(1, ...days.map((day) => Math.max(day.line, sum(day.amounts))))
  const axisMax = roundUp(highest)
  const width = 10 * days.length
  const y = (amount: number) => CHART_HEIGHT - (CHART_HEIGHT * amount) / axisMax
  const points = days.map((day, index) => `${index * 10 + 5},${y(day.line)}`).join(' ')
  return (
    <figure class="days">
      <figcaption class="row small">
        {series.map(({ name: each, tone }) => (
          <span key={each} class="chart-key">
            <Swatch tone={tone} />
            {each}
          </span>
        ))}
        <span class="chart-key">
          <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false">
            <line class="chart-line" x1="0" y1="5" x2="10" y2="5" />
          </svg>
          {lineName}
        </span>
      </figcaption>
      <div class="days-plot">
        <p class="days-axis soft small" aria-hidden="true">
          {[axisMax, axisMax / 2, 0].map((amount) => (
            <span key={amount}>{amount.toLocaleString(displayLocale())}</span>
          ))}
        </p>
        <svg viewBox={`0 0 ${width} ${CHART_HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={name}>
          {[0, 0.5, 1].map((at) => (
            <line key={at} class="chart-grid" x1="0" x2={width} y1={CHART_HEIGHT * at} y2={CHART_HEIGHT * at} />
          ))}
          {days.map((day, index) => (
            <g key={day.date}>
              <title>{describeDay(day, series, lineName)}</title>
              <rect class="chart-hover" x={index * 10} y="0" width="10" height={CHART_HEIGHT} />
              {day.amounts.map((amount, at) => (
                <rect
                  key={series[at]!.name}
                  class={`chart-${series[at]!.tone}`}
                  x={index * 10 + 1.5}
                  width="7"
                  y={y(sum(day.amounts.slice(0, at + 1)))}
                  height={(CHART_HEIGHT * amount) / axisMax}
                />
              ))}
            </g>
          ))}
          {days.length > 1 && <polyline class="chart-line" points={points} />}
        </svg>
        <p class="days-scale soft small" aria-hidden="true">
          {axisDates(days).map((date) => (
            <span key={date}>{shortDate.format(new Date(date))}</span>
          ))}
        </p>
      </div>
    </figure>
  )
}

export function Swatch({ tone }: { tone: Tone }) {
  return (
    <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true" focusable="false">
      <rect class={`chart-${tone}`} width="10" height="10" rx="2" />
    </svg>
  )
}

function describeDay(day: Day, series: Series[], lineName: string): string {
  const amounts = series.map(
    ({ name }, at) => `${day.amounts[at]!.toLocaleString(displayLocale())} ${name.toLowerCase()}`,
  )
  return `${shortDate.format(new Date(day.date))}: ${day.line.toLocaleString(displayLocale())} ${lineName.toLowerCase()}, ${amounts.join(', ')}`
}

function sum(amounts: number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0)
}

/** Rounds up to a number that reads well on an axis. */
function roundUp(amount: number): number {
  const unit = 10 ** Math.floor(Math.log10(amount))
  const axisStep = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].find((each) => each * unit >= amount)!
  return Math.max(2, 2 * Math.ceil((axisStep * unit) / 2 - 1e-9)) // the middle of the axis is a whole number
}

const MAX_AXIS_DATES = 5

/** Returns evenly spaced dates for the axis labels, with the first and the last day. */
function axisDates(days: Day[]): string[] {
  const count = Math.min(MAX_AXIS_DATES, days.length)
  if (count < 2) return days.map(({ date }) => date)
  return Array.from({ length: count }, (_, index) => days[Math.round((index * (days.length - 1)) / (count - 1))]!.date)
}
