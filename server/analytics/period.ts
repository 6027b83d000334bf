import { indianDay } from '../campaigns/contact/contact-hours.ts'
import { DAY } from '../platform/clock.ts'
import { invalid } from '../platform/http/validation.ts'

export interface Period {
  /** Days in India, both included. */
  from: string
  to: string
}

const USUAL_DAYS = 30
const MOST_DAYS = 366

/** The days asked for: at most 366; where nothing is said, the last 30. */
export function readPeriod(query: { from?: string | undefined; to?: string | undefined }, now: number): Period {
  const wrong = (['from', 'to'] as const).filter((name) => query[name] !== undefined && !isDay(query[name]))
  if (wrong.length > 0) throw invalid(wrong.map((name) => ({ path: `query.${name}`, message: 'is not a day' })))
  const to = query.to ?? indianDay(now)
  const from = query.from ?? dayOf(Date.parse(to) - (USUAL_DAYS - 1) * DAY)
  const days = (Date.parse(to) - Date.parse(from)) / DAY + 1
  if (days < 1) throw invalid([{ path: 'query.from', message: `is later than the last day, ${to}` }])
  if (days > MOST_DAYS) throw invalid([{ path: 'query.from', message: `asks for ${days} days; at most ${MOST_DAYS}` }])
  return { from, to }
}

/** Every day of the period. */
export function daysOf({ from, to }: Period): string[] {
  const days: string[] = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY) days.push(dayOf(time))
  return days
}

function isDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && dayOf(time) === text
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
