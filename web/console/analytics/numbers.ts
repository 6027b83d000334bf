import { channelName, languageName } from '../shared/labels.ts'
import { DROP_OFFS, type Overview, STAGES } from './overview.ts'

/** A number of the overview, for people. */
export interface NumberWords {
  name: string
  about: string
  /** What is counted: a candidate may count for more than one message, call or second. */
  unit: 'candidates' | 'messages' | 'calls' | 'seconds'
}

const STAGES_ABOUT: Record<string, string> = {
  enrolled: 'Everybody who was enrolled.',
  contacted: 'A message went out to them, on any channel.',
  delivered: 'A message was delivered to them, or they answered.',
  responded: 'They answered anything, on a channel or on their page.',
  consented: 'They agreed to be asked.',
  enrichment_done: 'They are through with the questions. What a knockout skips counts as done.',
  skills_done: 'They are through with the skills. What a knockout skips counts as done.',
  interest_done: 'They said whether they want the job. What a knockout skips counts as done.',
  completed: 'Their result is completed; also where a knockout ended it.',
  qualified: 'Completed, and qualified.',
  interested: 'Completed, and interested in the job.',
}

const CHANNELS_ABOUT: Record<string, string> = {
  sent: 'First messages and follow-ups that the provider took.',
  delivered: 'Messages that the provider reports as delivered.',
  read: 'Messages that the provider reports as read.',
  replied: 'Whose first answer came by this channel, each once.',
  failed: 'Messages that were refused, or reported as undelivered.',
}

const CALLS: Record<string, [string, string]> = {
  placed: ['placed', 'Calls that were placed.'],
  answered: ['answered', 'Calls that somebody took.'],
  no_answer: ['not answered', 'Calls that rang and nobody took.'],
  busy: ['busy', 'Calls to a line that was busy.'],
  failed: ['failed', 'Calls that could not be put through.'],
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

/** A day in India, as `2026-03-11`, in the reader's words. */
export function dayText(day: string): string {
  const time = Date.parse(day)
  return Number.isNaN(time) ? day : date.format(time)
}

/** What the number at this path of the overview says; what is no path is shown as it stands. */
export function numberWords(path: string): NumberWords {
  const [part, first = '', second = ''] = path.split('.')
  switch (part) {
    case 'funnel':
      return {
        name: STAGES.find(([stage]) => stage === first)?.[1] ?? first,
        about: STAGES_ABOUT[first] ?? '',
        unit: 'candidates',
      }
    case 'channels':
      return {
        name: `${channelName(first)}, ${second}`,
        about: CHANNELS_ABOUT[second] ?? '',
        unit: second === 'replied' ? 'candidates' : 'messages',
      }
    case 'follow_ups':
      return second === 'replied'
        ? {
            name: `Follow-up ${first}, answered`,
            about: 'Whose first answer came after it and before the next.',
            unit: 'candidates',
          }
        : { name: `Follow-up ${first}, sent`, about: 'Follow-ups that went out.', unit: 'messages' }
    case 'calls':
      return first === 'total_seconds'
        ? { name: 'Time on the phone', about: 'The length of all calls that were answered.', unit: 'seconds' }
        : { name: `Calls, ${CALLS[first]?.[0] ?? first}`, about: CALLS[first]?.[1] ?? '', unit: 'calls' }
    case 'drop_offs':
      return {
        name: `Lost: ${DROP_OFFS[first] ?? first}`,
        about: 'Declined or failed at this point.',
        unit: 'candidates',
      }
    case 'languages':
      return second === 'completed'
        ? {
            name: `${languageName(first)}, completed`,
            about: 'Completed the conversation in this language.',
            unit: 'candidates',
          }
        : { name: languageName(first), about: 'Use this language now.', unit: 'candidates' }
    case 'daily':
      return second === 'enrolled'
        ? { name: `Enrolled on ${dayText(first)}`, about: 'Enrolled on this day in India.', unit: 'candidates' }
        : {
            name: `${second[0]?.toUpperCase() ?? ''}${second.slice(1)} on ${dayText(first)}`,
            about: 'The result came on this day in India, whenever they were enrolled.',
            unit: 'candidates',
          }
    default:
      return { name: path, about: '', unit: 'candidates' }
  }
}

/** What tells the rows of each list apart. */
const KEYS: Record<string, string> = {
  channels: 'channel',
  follow_ups: 'step',
  drop_offs: 'at',
  languages: 'language',
  daily: 'date',
}

/** The number itself, where the overview shows it. */
export function numberAt(overview: Overview, path: string): number | undefined {
  const [part = '', first = '', second = 'candidates'] = path.split('.')
  const within = (overview as unknown as Record<string, Record<string, unknown>[] | Record<string, unknown>>)[part]
  const found = Array.isArray(within)
    ? within.find((row) => String(row[KEYS[part]!]) === first)?.[second]
    : within?.[first]
  return typeof found === 'number' ? found : undefined
}

export function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
