import { invalid } from '../api/invalid.ts'
import { DAY } from '../platform/clock.ts'
import { indianDate } from '../platform/india-time.ts'

export interface Period {
  /** First day; `to` is the last day. Calendar days in India, in YYYY-MM-DD format. */
  from: string
  to: string
}

const DEFAULT_PERIOD_DAYS = 30
const MAX_PERIOD_DAYS = 366

/** Reads the period of a query: at most 366 days, by default the last 30 days. */
export function readPeriod(query: { from?: string | undefined; to?: string | undefined }, now: number): Period {
  const invalidNames = (['from', 'to'] as const).filter((name) => query[name] !== undefined && !isDate(query[name]))
  if (invalidNames.length > 0)
    throw invalid(
      invalidNames.map((name) => ({
        path: `query.${name}`,
        message: `must be a date in YYYY-MM-DD format; got ${query[name]}`,
      })),
    )
  const to = query.to ?? indianDate(now)
  const from = query.from ?? toDate(Date.parse(to) - (DEFAULT_PERIOD_DAYS - 1) * DAY)
  const dayCount = (Date.parse(to) - Date.parse(from)) / DAY + 1
  if (dayCount < 1) throw invalid([{ path: 'query.from', message: `must not be later than to (${to})` }])
  if (dayCount > MAX_PERIOD_DAYS)
    throw invalid([
      {
        path: 'query.from',
        message: `must start a period of at most ${MAX_PERIOD_DAYS} days that ends with to (${to}); got ${dayCount} days`,
      },
    ])
  return { from, to }
}

/** Returns every day of the period. */
export function daysOf({ from, to }: Period): string[] {
  const days: string[] = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY) days.push(toDate(time))
  return days
}

function isDate(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && toDate(time) === text
}

function toDate(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
