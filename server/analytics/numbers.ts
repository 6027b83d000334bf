import { stages } from '../campaigns/stages.ts'
import { channelNames } from '../channels/channel.ts'
import { invalid } from '../platform/http/validation.ts'
import { languages } from '../workflows/workflows.ts'
import { daysOf, type Period } from './period.ts'

export const funnelSteps = ['enrolled', ...stages] as const
export const channelCounts = ['sent', 'delivered', 'read', 'replied', 'failed'] as const
/** A workflow has no more of them. */
const MOST_FOLLOW_UPS = 5
export const followUpSteps = Array.from({ length: MOST_FOLLOW_UPS }, (_, before) => before + 1)
export const followUpCounts = ['sent', 'replied'] as const
export const callOutcomes = ['placed', 'answered', 'no_answer', 'busy', 'failed'] as const
export const dropOffPoints = ['no_response', 'consent', 'language', 'enrichment', 'skills', 'interest'] as const
export const languageCounts = ['candidates', 'completed'] as const
export const ends = ['completed', 'declined', 'failed'] as const
export const dailyCounts = ['enrolled', ...ends] as const

/** The parts of an overview: what the counters of each begin with, and the names below it. */
const parts: Record<string, { prefix: string; names: readonly (readonly (string | number)[])[] }> = {
  funnel: { prefix: 'funnel', names: [funnelSteps] },
  channels: { prefix: 'channel', names: [channelNames, channelCounts] },
  follow_ups: { prefix: 'follow_up', names: [followUpSteps, followUpCounts] },
  calls: { prefix: 'call', names: [callOutcomes] },
  drop_offs: { prefix: 'drop_off', names: [dropOffPoints] },
  languages: { prefix: 'language', names: [languages, languageCounts] },
}

/** Every number of an overview by its path (`channels.sms.sent`), and the counter that is summed up in it; but for the days. */
export const numbers: ReadonlyMap<string, string> = new Map([
  ...Object.entries(parts).flatMap(([part, { prefix, names }]) =>
    chains(names).map((chain) => [[part, ...chain].join('.'), [prefix, ...chain].join('_')] as const),
  ),
  ['calls.total_seconds', 'call_seconds'] as const,
])

/** The numbers of each day. */
export const dailyNumbers: ReadonlyMap<string, string> = new Map(
  dailyCounts.map((name) => [name, name === 'enrolled' ? 'funnel_enrolled' : `ended_${name}`]),
)

/** A counter, and the days on which it is summed up. */
export interface Counted extends Period {
  counter: string
}

/** What the number at this path sums up. */
export function readCounted(path: string, period: Period): Counted {
  const counter = numbers.get(path)
  if (counter !== undefined) return { counter, ...period }
  const [, day, name] = readDaily(path)!
  if (!daysOf(period).includes(day!))
    throw invalid([
      { path: 'query.counted', message: `names a day that is not in the period, ${period.from} to ${period.to}` },
    ])
  return { counter: dailyNumbers.get(name!)!, from: day!, to: day! }
}

/** What is wrong with a path that names no number; undefined if nothing is. */
export function pathFault(path: string): string | undefined {
  if (numbers.has(path) || readDaily(path)) return undefined
  const [part = ''] = path.split('.')
  const known = Object.hasOwn(forms, part) ? forms[part] : undefined
  return known
    ? `must be ${known}`
    : `must be the path of a number of the overview: ${Object.values(forms).join(', or ')}`
}

function readDaily(path: string): RegExpExecArray | undefined {
  const read = /^daily\.(\d{4}-\d{2}-\d{2})\.(\w+)$/.exec(path)
  return read && dailyNumbers.has(read[2]!) ? read : undefined
}

/** What can stand below each part, in words. */
const forms: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(parts).map(([part, { names }]) => {
      const all = part === 'calls' ? [[...callOutcomes, 'total_seconds']] : names
      return [part, [part, ...all.map((each) => `{${each.join('|')}}`)].join('.')]
    }),
  ),
  daily: `daily.{a day of the period, as 2026-03-11}.{${dailyCounts.join('|')}}`,
}

/** One name of each list, in every way. */
function chains(lists: readonly (readonly (string | number)[])[]): (string | number)[][] {
  return lists.reduce<(string | number)[][]>(
    (begun, list) => begun.flatMap((chain) => list.map((name) => [...chain, name])),
    [[]],
  )
}
