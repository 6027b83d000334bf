import { channelNames } from '../channels/channel.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import {
  callOutcomes,
  channelCounts,
  counterByDailyName,
  counterByPath,
  dailyCounts,
  dropOffPoints,
  followUpCounts,
  followUpNumbers,
  funnelStages,
  languageCounts,
} from './figures.ts'
import { daysOf, type Period } from './period.ts'
import type { CountRow } from './rollups.ts'

/** Channels and follow-ups of the workflow, which are shown even if nothing was counted yet. */
export interface WorkflowSetup {
  channels: readonly string[]
  followUpCount: number
}

/** Builds the overview of a period from its counts. */
export function buildOverview(rows: CountRow[], period: Period, workflowSetup: WorkflowSetup) {
  const sums = new Map<string, number>()
  for (const { counter, day, amount } of rows) {
    const key = day === null ? counter : `${day} ${counter}`
    sums.set(key, (sums.get(key) ?? 0) + amount)
  }
  const countAt = (path: string) => sums.get(counterByPath.get(path)!) ?? 0
  const countsBelow = <Name extends string>(path: string, names: readonly Name[]) =>
    Object.fromEntries(names.map((name) => [name, countAt(`${path}.${name}`)])) as Record<Name, number>
  const hasCounts = (counts: Record<string, number>) => Object.values(counts).some((count) => count !== 0)

  const channels = channelNames.map((channel) => ({
    channel,
    counts: countsBelow(`channels.${channel}`, channelCounts),
  }))
  const followUps = followUpNumbers.map((number) => ({
    number,
    counts: countsBelow(`follow_ups.${number}`, followUpCounts),
  }))
  const calls = countsBelow('calls', callOutcomes)
  const totalSeconds = countAt('calls.total_seconds')
  const languages = LANGUAGES.map((language) => ({
    language,
    counts: countsBelow(`languages.${language}`, languageCounts),
  }))
  return {
    funnel: countsBelow('funnel', funnelStages),
    channels: channels
      .filter(({ channel, counts }) => workflowSetup.channels.includes(channel) || hasCounts(counts))
      .map(({ channel, counts }) => ({ channel, ...counts })),
    follow_ups: followUps
      .slice(0, Math.max(workflowSetup.followUpCount, followUps.findLastIndex(({ counts }) => hasCounts(counts)) + 1))
      .map(({ number, counts }) => ({ step: number, ...counts })),
    calls: {
      ...calls,
      total_seconds: totalSeconds,
      average_seconds: calls.answered === 0 ? 0 : Math.round((10 * totalSeconds) / calls.answered) / 10,
    },
    drop_offs: dropOffPoints.map((point) => ({ at: point, candidates: countAt(`drop_offs.${point}`) })),
    languages: languages
      .filter(({ counts }) => hasCounts(counts))
      .map(({ language, counts }) => ({ language, ...counts })),
    daily: daysOf(period).map((date) => {
      const counts = dailyCounts.map((name) => [name, sums.get(`${date} ${counterByDailyName.get(name)}`) ?? 0])
      return { date, ...(Object.fromEntries(counts) as Record<(typeof dailyCounts)[number], number>) }
    }),
  }
}
