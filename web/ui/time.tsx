import { useEffect, useState } from 'preact/hooks'

type Zone = 'here' | 'india'

const minute = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const
const dated = { ...minute, year: 'numeric' } as const
const ofIndia = { timeZone: 'Asia/Kolkata' } as const
const here = new Intl.DateTimeFormat(undefined, dated)
const hereThisYear = new Intl.DateTimeFormat(undefined, minute)
const india = new Intl.DateTimeFormat('en-IN', { ...dated, ...ofIndia })
const indiaThisYear = new Intl.DateTimeFormat('en-IN', { ...minute, ...ofIndia })

/** Whether the reader's own time is Indian time. */
export const inIndia = ['Asia/Kolkata', 'Asia/Calcutta'].includes(here.resolvedOptions().timeZone)

/** A moment in the reader's zone with Indian time at hand, or the other way round. */
export function Time({ at }: { at: string | null | undefined }) {
  const [zone] = useZone()
  if (!at) return <span class="soft">–</span>
  const date = new Date(at)
  const thisYear = date.getFullYear() === new Date().getFullYear()
  return (
    <time dateTime={at} title={zone === 'here' ? `${india.format(date)} IST` : `${here.format(date)}, your time`}>
      {zone === 'here'
        ? (thisYear ? hereThisYear : here).format(date)
        : `${(thisYear ? indiaThisYear : india).format(date)} IST`}
    </time>
  )
}

/** For a hint beside a time that somebody types in their own zone; empty where that is Indian time. */
export function indianTime(at: Date): string {
  return inIndia || Number.isNaN(at.getTime()) ? '' : `${india.format(at)} IST`
}

const KEPT = 'attestry zone'
const listeners = new Set<(zone: Zone) => void>()
let chosen: Zone = readZone()

/** Which of the two every time on the page is shown in. */
export function useZone(): [Zone, (zone: Zone) => void] {
  const [zone, setZone] = useState(chosen)
  useEffect(() => {
    listeners.add(setZone)
    return () => void listeners.delete(setZone)
  }, [])
  return [zone, choose]
}

function choose(zone: Zone) {
  chosen = zone
  try {
    localStorage.setItem(KEPT, zone)
  } catch {}
  for (const listener of [...listeners]) listener(zone)
}

function readZone(): Zone {
  try {
    return localStorage.getItem(KEPT) === 'india' && !inIndia ? 'india' : 'here'
  } catch {
    return 'here'
  }
}
