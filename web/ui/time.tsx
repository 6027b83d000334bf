import { useEffect, useState } from 'preact/hooks'
import { displayLocale, t } from '../translations/translate.ts'

type DisplayZone = 'here' | 'india'

const minuteFormat = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
const minuteWithYearFormat = { ...minuteFormat, year: 'numeric' } as const
const indiaZone = { timeZone: 'Asia/Kolkata' } as const
const localFormat = new Intl.DateTimeFormat(displayLocale(), minuteWithYearFormat)
const localFormatThisYear = new Intl.DateTimeFormat(displayLocale(), minuteFormat)
const indiaFormat = new Intl.DateTimeFormat(displayLocale() ?? 'en-IN', { ...minuteWithYearFormat, ...indiaZone })
const indiaFormatThisYear = new Intl.DateTimeFormat(displayLocale() ?? 'en-IN', { ...minuteFormat, ...indiaZone })

/** For logs, in which many entries have the same minute. */
const secondFormats = {
  here: new Intl.DateTimeFormat(displayLocale(), { ...minuteFormat, second: '2-digit' }),
  india: new Intl.DateTimeFormat(displayLocale() ?? 'en-IN', { ...minuteFormat, second: '2-digit', ...indiaZone }),
}

/** Whether the browser's time zone is India's. */
export const isIndianTimeZone = ['Asia/Kolkata', 'Asia/Calcutta'].includes(localFormat.resolvedOptions().timeZone)

/** Shows a time in the chosen zone, with seconds for logs; the tooltip shows it in the other zone. */
export function Time({ at, seconds = false }: { at: string | null | undefined; seconds?: boolean }) {
  const [zone] = useZone()
  if (!at) return <span class="soft no-value">–</span>
  const date = new Date(at)
  const thisYear = date.getFullYear() === new Date().getFullYear()
  return (
    <time
      dateTime={at}
      title={
        zone === 'here'
          ? t('{date} IST', { date: indiaFormat.format(date) })
          : t('{date}, your time', { date: localFormat.format(date) })
      }
    >
      {seconds
        ? secondFormats[zone].format(date)
        : zone === 'here'
          ? (thisYear ? localFormatThisYear : localFormat).format(date)
          : t('{date} IST', { date: (thisYear ? indiaFormatThisYear : indiaFormat).format(date) })}
    </time>
  )
}

const dayFormat = { year: 'numeric', month: 'short', day: 'numeric' } as const
const localDayFormat = new Intl.DateTimeFormat(displayLocale(), dayFormat)
const indiaDayFormat = new Intl.DateTimeFormat(displayLocale() ?? 'en-IN', { ...dayFormat, ...indiaZone })

/** Shows the day of a time in the chosen zone, always with the year; the tooltip shows the time. */
export function Day({ of }: { of: string }) {
  const [zone] = useZone()
  const date = new Date(of)
  return (
    <time
      dateTime={of}
      title={zone === 'here' ? localFormat.format(date) : t('{date} IST', { date: indiaFormat.format(date) })}
    >
      {(zone === 'here' ? localDayFormat : indiaDayFormat).format(date)}
    </time>
  )
}

/** Returns a time in Indian time, as a hint for an input in local time; empty if the local zone is India's. */
export function indianTimeHint(at: Date): string {
  return isIndianTimeZone || Number.isNaN(at.getTime()) ? '' : t('{date} IST', { date: indiaFormat.format(at) })
}

const STORAGE_KEY = 'attestry zone'
const listeners = new Set<(zone: DisplayZone) => void>()
let chosenZone: DisplayZone = readZone()

/** Returns the zone in which the page shows times, and a setter. */
export function useZone(): [DisplayZone, (zone: DisplayZone) => void] {
  const [zone, setZone] = useState(chosenZone)
  useEffect(() => {
    listeners.add(setZone)
    return () => void listeners.delete(setZone)
  }, [])
  return [zone, choose]
}

function choose(zone: DisplayZone) {
  chosenZone = zone
  try {
    localStorage.setItem(STORAGE_KEY, zone)
  } catch {}
  for (const listener of [...listeners]) listener(zone)
}

function readZone(): DisplayZone {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'india' && !isIndianTimeZone ? 'india' : 'here'
  } catch {
    return 'here'
  }
}
