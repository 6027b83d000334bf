import type { AnalyticsOverview } from '../../api-types/partner.ts'
import { channelName, languageName } from '../shared/labels.ts'
import { DROP_OFFS, STAGES } from './overview.ts'

/** The name and definition of a number of the overview. */
export interface NumberLabel {
  name: string
  about: string
  /** The counted unit. A candidate may count for several messages, calls or seconds. */
  unit: 'candidates' | 'messages' | 'calls' | 'seconds'
}

const STAGE_DESCRIPTIONS: Record<string, string> = {
  enrolled: 'All enrolled candidates.',
  contacted: 'A message was sent to them on any channel.',
  delivered: 'A message was delivered to them, or they answered.',
  responded: 'They answered at least once, on a channel or on their page.',
  consented: 'They consented.',
  enrichment_done: 'They finished your questions. Stages skipped after a knockout count as done.',
  skills_done: 'They finished the skill questions. Stages skipped after a knockout count as done.',
  interest_done: 'They answered the interest question. Stages skipped after a knockout count as done.',
  completed: 'Their result is completed, including results that ended with a knockout.',
  qualified: 'Completed and qualified.',
  interested: 'Completed and interested in the job.',
}

const CHANNEL_DESCRIPTIONS: Record<string, string> = {
  sent: 'First messages and follow-ups that the provider accepted.',
  delivered: 'Messages that the provider reports as delivered.',
  read: 'Messages that the provider reports as read.',
  replied: 'Candidates whose first answer came through this channel.',
  failed: 'Messages that were rejected or reported as undelivered.',
}

const CALLS: Record<string, [string, string]> = {
  placed: ['placed', 'Calls that were placed.'],
  answered: ['answered', 'Calls that were answered.'],
  no_answer: ['not answered', 'Calls that rang without an answer.'],
  busy: ['busy', 'Calls to a busy line.'],
  failed: ['failed', 'Calls that could not be connected.'],
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

/** Formats a day such as `2026-03-11` in the user's locale. */
export function dayText(day: string): string {
  const time = Date.parse(day)
  return Number.isNaN(time) ? day : date.format(time)
}

/** Returns the label of the number at a path of the overview; an unknown path is its own name. */
export function numberLabel(path: string): NumberLabel {
  const [part, first = '', second = ''] = path.split('.')
  switch (part) {
    case 'funnel':
      return {
        name: STAGES.find(([stage]) => stage === first)?.[1] ?? first,
        about: STAGE_DESCRIPTIONS[first] ?? '',
        unit: 'candidates',
      }
    case 'channels':
      return {
        name: `${channelName(first)}, ${second}`,
        about: CHANNEL_DESCRIPTIONS[second] ?? '',
        unit: second === 'replied' ? 'candidates' : 'messages',
      }
    case 'follow_ups':
      return second === 'replied'
        ? {
            name: `Follow-up ${first}, answered`,
            about: 'Candidates whose first answer came after this follow-up and before the next.',
            unit: 'candidates',
          }
        : { name: `Follow-up ${first}, sent`, about: 'Follow-ups that were sent.', unit: 'messages' }
    case 'calls':
      return first === 'total_seconds'
        ? { name: 'Call time', about: 'The total duration of answered calls.', unit: 'seconds' }
        : { name: `Calls, ${CALLS[first]?.[0] ?? first}`, about: CALLS[first]?.[1] ?? '', unit: 'calls' }
    case 'drop_offs':
      return {
        name: `Drop-off: ${DROP_OFFS[first] ?? first}`,
        about: 'Candidates who declined or failed at this stage.',
        unit: 'candidates',
      }
    case 'languages':
      return second === 'completed'
        ? {
            name: `${languageName(first)}, completed`,
            about: 'Candidates who completed the conversation in this language.',
            unit: 'candidates',
          }
        : { name: languageName(first), about: 'Candidates who use this language now.', unit: 'candidates' }
    case 'daily':
      return second === 'enrolled'
        ? {
            name: `Enrolled on ${dayText(first)}`,
            about: 'Candidates enrolled on this day, Indian time.',
            unit: 'candidates',
          }
        : {
            name: `${second[0]?.toUpperCase() ?? ''}${second.slice(1)} on ${dayText(first)}`,
            about: 'Results received on this day, Indian time, regardless of the enrolment date.',
            unit: 'candidates',
          }
    default:
      return { name: path, about: '', unit: 'candidates' }
  }
}

/** The property that identifies a row of each list. */
const ROW_KEYS: Record<string, string> = {
  channels: 'channel',
  follow_ups: 'step',
  drop_offs: 'at',
  languages: 'language',
  daily: 'date',
}

/** Returns the number at a path of the overview; undefined if the overview does not contain it. */
export function numberAt(overview: AnalyticsOverview, path: string): number | undefined {
  const [part = '', first = '', second = 'candidates'] = path.split('.')
  const section = (overview as unknown as Record<string, Record<string, unknown>[] | Record<string, unknown>>)[part]
  const found = Array.isArray(section)
    ? section.find((row) => String(row[ROW_KEYS[part]!]) === first)?.[second]
    : section?.[first]
  return typeof found === 'number' ? found : undefined
}

export function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
