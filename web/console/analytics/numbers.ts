import type { AnalyticsOverview } from '../../api-types/partner.ts'
import { displayLocale, t } from '../../translations/translate.ts'
import { channelName, languageName } from '../shared/labels.ts'
import { DROP_OFF_LABELS, STAGES } from './overview.ts'

/** The name and definition of a number of the overview. */
export interface NumberLabel {
  name: string
  description: string
  /** The unit of the number. One candidate may account for several messages, calls or seconds. */
  unit: 'candidates' | 'messages' | 'calls' | 'seconds'
}

const STAGE_DESCRIPTIONS: Record<string, string> = {
  enrolled: t('All enrolled candidates.'),
  contacted: t('A message was sent to them on any channel.'),
  delivered: t('A message was delivered to them, or they answered.'),
  responded: t('They answered at least once, on a channel or on their page.'),
  consented: t('They consented.'),
  enrichment_done: t('They answered all your own questions. Stages skipped after a knockout count as done.'),
  skills_done: t('They answered all skill questions. Stages skipped after a knockout count as done.'),
  interest_done: t('They answered the interest question. Stages skipped after a knockout count as done.'),
  completed: t('Their result is completed, including results that ended with a knockout.'),
  qualified: t('Their result is completed, and they are qualified.'),
  interested: t('Their result is completed, and they are interested in the job.'),
}

const CHANNEL_DESCRIPTIONS: Record<string, string> = {
  sent: t('First messages and follow-ups that the provider accepted.'),
  delivered: t('Messages that the provider reports as delivered.'),
  read: t('Messages that the provider reports as read.'),
  replied: t('Candidates whose first answer came through this channel.'),
  failed: t('Messages that were rejected or reported as undelivered.'),
}

const CHANNEL_COUNT_NAMES: Record<string, string> = {
  sent: t('sent'),
  delivered: t('delivered'),
  read: t('read'),
  replied: t('replied'),
  failed: t('failed'),
}

const CALL_LABELS: Record<string, [string, string]> = {
  placed: [t('placed'), t('Calls that were placed.')],
  answered: [t('answered'), t('Calls that were answered.')],
  no_answer: [t('not answered'), t('Calls that rang without an answer.')],
  busy: [t('busy'), t('Calls to a busy line.')],
  failed: [t('failed'), t('Calls that could not be connected.')],
}

const dayFormat = new Intl.DateTimeFormat(displayLocale(), { dateStyle: 'medium', timeZone: 'UTC' })

/** Formats a day such as `2026-03-11` in the user's locale. */
export function dayText(day: string): string {
  const time = Date.parse(day)
  return Number.isNaN(time) ? day : dayFormat.format(time)
}

/** Returns the label of the number at a path of the overview; an unknown path is its own name. */
export function numberLabel(path: string): NumberLabel {
  const [part, first = '', second = ''] = path.split('.')
  switch (part) {
    case 'funnel':
      return {
        name: STAGES.find(([stage]) => stage === first)?.[1] ?? first,
        description: STAGE_DESCRIPTIONS[first] ?? '',
        unit: 'candidates',
      }
    case 'channels':
      return {
        name: `${channelName(first)}, ${CHANNEL_COUNT_NAMES[second] ?? second}`,
        description: CHANNEL_DESCRIPTIONS[second] ?? '',
        unit: second === 'replied' ? 'candidates' : 'messages',
      }
    case 'follow_ups':
      return second === 'replied'
        ? {
            name: t('Follow-up {number}, answered', { number: first }),
            description: t('Candidates whose first answer came after this follow-up and before the next one.'),
            unit: 'candidates',
          }
        : {
            name: t('Follow-up {number}, sent', { number: first }),
            description: t('Follow-ups that were sent.'),
            unit: 'messages',
          }
    case 'calls':
      return first === 'total_seconds'
        ? { name: t('Call time'), description: t('The total duration of answered calls.'), unit: 'seconds' }
        : {
            name: t('Calls, {outcome}', { outcome: CALL_LABELS[first]?.[0] ?? first }),
            description: CALL_LABELS[first]?.[1] ?? '',
            unit: 'calls',
          }
    case 'drop_offs':
      return {
        name: t('Drop-off: {stage}', { stage: DROP_OFF_LABELS[first] ?? first }),
        description: t('Candidates who declined or did not finish, and whose last stage was this one.'),
        unit: 'candidates',
      }
    case 'languages':
      return second === 'completed'
        ? {
            name: t('{language}, completed', { language: languageName(first) }),
            description: t('Candidates who use this language and have a completed result.'),
            unit: 'candidates',
          }
        : { name: languageName(first), description: t('Candidates who use this language now.'), unit: 'candidates' }
    case 'daily':
      return second === 'enrolled'
        ? {
            name: t('Enrolled on {date}', { date: dayText(first) }),
            description: t('Candidates enrolled on this day, Indian time.'),
            unit: 'candidates',
          }
        : {
            name: t(
              second === 'completed'
                ? 'Completed on {date}'
                : second === 'declined'
                  ? 'Declined on {date}'
                  : 'Failed on {date}',
              { date: dayText(first) },
            ),
            description: t('Results received on this day, Indian time, regardless of the enrolment date.'),
            unit: 'candidates',
          }
    default:
      return { name: path, description: '', unit: 'candidates' }
  }
}

/** The property that identifies a row, for each list in the overview. */
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
  const value = Array.isArray(section)
    ? section.find((row) => String(row[ROW_KEYS[part]!]) === first)?.[second]
    : section?.[first]
  return typeof value === 'number' ? value : undefined
}

export function durationText(seconds: number): string {
  const wholeSeconds = Math.round(seconds)
  if (wholeSeconds < 60) return t('{seconds} s', { seconds: wholeSeconds })
  const minutes = Math.floor(wholeSeconds / 60)
  return minutes < 60
    ? t('{minutes} min {seconds} s', { minutes, seconds: wholeSeconds % 60 })
    : t('{hours} h {minutes} min', { hours: Math.floor(minutes / 60), minutes: minutes % 60 })
}
