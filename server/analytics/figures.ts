import { invalid } from '../api/invalid.ts'
import { stages } from '../campaigns/stages.ts'
import { channelNames } from '../channels/channel.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { daysOf, type Period } from './period.ts'

export const funnelStages = ['enrolled', ...stages] as const
export const channelCounts = ['sent', 'delivered', 'read', 'replied', 'failed'] as const
/** Maximum number of follow-ups of a workflow. */
const MAX_FOLLOW_UPS = 5
export const followUpNumbers = Array.from({ length: MAX_FOLLOW_UPS }, (_, index) => index + 1)
export const followUpCounts = ['sent', 'replied'] as const
export const callOutcomes = ['placed', 'answered', 'no_answer', 'busy', 'failed'] as const
export const dropOffPoints = ['no_response', 'consent', 'language', 'enrichment', 'skills', 'interest'] as const
export const languageCounts = ['candidates', 'completed'] as const
const resultOutcomes = ['completed', 'declined', 'failed'] as const
export const dailyCounts = ['enrolled', ...resultOutcomes] as const

/** Sections of the overview: the prefix of their counters, and the allowed names on each level of the path. */
const overviewSections: Record<string, { prefix: string; names: readonly (readonly (string | number)[])[] }> = {
  funnel: { prefix: 'funnel', names: [funnelStages] },
  channels: { prefix: 'channel', names: [channelNames, channelCounts] },
  follow_ups: { prefix: 'follow_up', names: [followUpNumbers, followUpCounts] },
  calls: { prefix: 'call', names: [callOutcomes] },
  drop_offs: { prefix: 'drop_off', names: [dropOffPoints] },
  languages: { prefix: 'language', names: [LANGUAGES, languageCounts] },
}

/** Maps the path of each figure of the overview (`channels.sms.sent`), except daily ones, to its counter. */
export const counterByPath: ReadonlyMap<string, string> = new Map([
  ...Object.entries(overviewSections).flatMap(([section, { prefix, names }]) =>
    combinations(names).map((path) => [[section, ...path].join('.'), [prefix, ...path].join('_')] as const),
  ),
  ['calls.total_seconds', 'call_seconds'] as const,
])

/** Maps the name of each daily figure (`enrolled`) to its counter. */
export const counterByDailyName: ReadonlyMap<string, string> = new Map(
  dailyCounts.map((name) => [name, name === 'enrolled' ? 'funnel_enrolled' : `ended_${name}`]),
)

/** A counter and the days over which it is summed. */
export interface OverviewFigure extends Period {
  counter: string
}

/** Returns the counter of the figure at a path, and the days over which it is summed. */
export function readFigure(path: string, period: Period): OverviewFigure {
  const counter = counterByPath.get(path)
  if (counter !== undefined) return { counter, ...period }
  const [, day, name] = matchDailyPath(path)!
  if (!daysOf(period).includes(day!))
    throw invalid([
      {
        path: 'query.counted',
        message: `must have a day within the period ${period.from} to ${period.to}; got ${day}`,
      },
    ])
  return { counter: counterByDailyName.get(name!)!, from: day!, to: day! }
}

/** Returns why the path of a figure is invalid, or undefined if it is valid. */
export function countedPathError(path: string): string | undefined {
  if (counterByPath.has(path) || matchDailyPath(path)) return undefined
  const [section = ''] = path.split('.')
  const pattern = Object.hasOwn(pathPatterns, section) ? pathPatterns[section] : undefined
  return pattern
    ? `must be ${pattern}`
    : `must be the path of a figure in the overview: ${Object.values(pathPatterns).join(', or ')}`
}

function matchDailyPath(path: string): RegExpExecArray | undefined {
  const match = /^daily\.(\d{4}-\d{2}-\d{2})\.(\w+)$/.exec(path)
  return match && counterByDailyName.has(match[2]!) ? match : undefined
}

/** Readable pattern of the paths in each section. */
const pathPatterns: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(overviewSections).map(([section, { names }]) => {
      const allowedNames = section === 'calls' ? [[...callOutcomes, 'total_seconds']] : names
      return [section, [section, ...allowedNames.map((levelNames) => `{${levelNames.join('|')}}`)].join('.')]
    }),
  ),
  daily: `daily.{a day of the period, such as 2026-03-11}.{${dailyCounts.join('|')}}`,
}

/** Returns every combination of one name per list. */
function combinations(lists: readonly (readonly (string | number)[])[]): (string | number)[][] {
  return lists.reduce<(string | number)[][]>(
    (prefixes, list) => prefixes.flatMap((path) => list.map((name) => [...path, name])),
    [[]],
  )
}
