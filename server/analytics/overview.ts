import { channelNames } from '../channels/channel.ts'
import { DAY } from '../platform/clock.ts'
import { languages } from '../workflows/workflows.ts'
import {
  callOutcomes,
  channelCounts,
  dropOffPoints,
  ends,
  followUpCounts,
  funnelSteps,
  languageCounts,
  MOST_FOLLOW_UPS,
} from './counters.ts'
import type { CountRow } from './rollups.ts'

export interface Period {
  /** Days in India, both included. */
  from: string
  to: string
}

/** What a workflow is set up for is shown even where nothing was counted yet. */
export interface SetUp {
  channels: readonly string[]
  followUps: number
}

/** The figures of a period as partners see them. */
export function overviewOf(rows: CountRow[], period: Period, setUp: SetUp) {
  const sums = new Map<string, number>()
  for (const { counter, day, amount } of rows) {
    const key = day === null ? counter : `${day} ${counter}`
    sums.set(key, (sums.get(key) ?? 0) + amount)
  }
  const named = <Name extends string>(names: readonly Name[], prefix: string) =>
    Object.fromEntries(names.map((name) => [name, sums.get(`${prefix}_${name}`) ?? 0])) as Record<Name, number>
  const isAny = (counts: Record<string, number>) => Object.values(counts).some((count) => count !== 0)

  const channels = channelNames.map((channel) => ({ channel, counts: named(channelCounts, `channel_${channel}`) }))
  const steps = Array.from({ length: MOST_FOLLOW_UPS }, (_, before) => named(followUpCounts, `follow_up_${before + 1}`))
  const calls = named(callOutcomes, 'call')
  const seconds = sums.get('call_seconds') ?? 0
  const spoken = languages.map((language) => ({ language, counts: named(languageCounts, `language_${language}`) }))
  return {
    funnel: named(funnelSteps, 'funnel'),
    channels: channels
      .filter(({ channel, counts }) => setUp.channels.includes(channel) || isAny(counts))
      .map(({ channel, counts }) => ({ channel, ...counts })),
    follow_ups: steps
      .slice(0, Math.max(setUp.followUps, steps.findLastIndex(isAny) + 1))
      .map((counts, before) => ({ step: before + 1, ...counts })),
    calls: {
      ...calls,
      total_seconds: seconds,
      average_seconds: calls.answered === 0 ? 0 : Math.round((10 * seconds) / calls.answered) / 10,
    },
    drop_offs: dropOffPoints.map((at) => ({ at, candidates: sums.get(`drop_off_${at}`) ?? 0 })),
    languages: spoken.filter(({ counts }) => isAny(counts)).map(({ language, counts }) => ({ language, ...counts })),
    daily: daysOf(period).map((date) => {
      return { date, enrolled: sums.get(`${date} funnel_enrolled`) ?? 0, ...named(ends, `${date} ended`) }
    }),
  }
}

/** Every day of the period. */
export function daysOf({ from, to }: Period): string[] {
  const days: string[] = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY)
    days.push(new Date(time).toISOString().slice(0, 10))
  return days
}
