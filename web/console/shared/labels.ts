import type { Candidate, Channel, Method, Place } from './records.ts'

/** The languages that a workflow may speak, each in its own name. */
export const LANGUAGES: Record<string, string> = {
  en: 'English',
  hi: 'हिन्दी · Hindi',
  bn: 'বাংলা · Bengali',
  ta: 'தமிழ் · Tamil',
  te: 'తెలుగు · Telugu',
  mr: 'मराठी · Marathi',
  gu: 'ગુજરાતી · Gujarati',
  kn: 'ಕನ್ನಡ · Kannada',
  ml: 'മലയാളം · Malayalam',
  pa: 'ਪੰਜਾਬੀ · Punjabi',
  or: 'ଓଡ଼ିଆ · Odia',
  as: 'অসমীয়া · Assamese',
}

const english = new Intl.DisplayNames('en', { type: 'language' })

export function languageName(code: string): string {
  return english.of(code) ?? code
}

export const CHANNELS: Record<Channel, string> = {
  whatsapp: 'WhatsApp',
  voice: 'Phone call',
  sms: 'SMS',
  email: 'Mail',
}

export function channelName(channel: string | null): string {
  if (channel === null) return '–'
  return channel === 'page' ? 'Personal page' : (CHANNELS[channel as Channel] ?? channel)
}

export const channelOrder = Object.keys(CHANNELS) as Channel[]

/** In the fixed order in which candidates go through them. */
export const METHODS: Record<Method, { name: string; about: string }> = {
  data_enrichment: { name: 'Questions', about: 'your own yes/no and open questions, with knockouts' },
  skill_verification: { name: 'Skills', about: 'three prepared questions for each skill to verify' },
  interest_collection: { name: 'Interest', about: 'whether they want this job' },
}

export const methodOrder = Object.keys(METHODS) as Method[]

export function methodNames(methods: readonly Method[]): string {
  return methods.map((method) => METHODS[method].name).join(', ')
}

/** What a test number does by itself. */
export const PARTS: Record<string, { name: string; about: string }> = {
  passes: { name: 'Passes', about: 'answers everything, and everything right' },
  knocked_out: { name: 'Knocked out', about: 'gives the knockout answer to the first knockout question' },
  fails_skills: { name: 'Fails skills', about: 'gets every skill question wrong' },
  not_interested: { name: 'Not interested', about: 'passes, but does not want the job' },
  declines: { name: 'Declines', about: 'says no when asked for consent' },
  never_answers: { name: 'Never answers', about: 'reads nothing, says nothing' },
  falls_silent: { name: 'Falls silent', about: 'stops answering after the first question' },
  unreachable: { name: 'Unreachable', about: 'no message arrives; the credit comes back' },
  answers_late: { name: 'Answers late', about: 'answers only after the first follow-up' },
  stops: { name: 'Says STOP', about: 'sends STOP in the middle, which holds for good' },
}

export const REASONS: Record<string, string> = {
  no_response: 'never answered',
  unreachable: 'could not be reached',
  stopped: 'stopped',
  expired: 'fell silent',
  refused: 'refused consent',
}

export function reasonText(reason: string | null): string {
  return reason === null ? '' : (REASONS[reason] ?? reason.replaceAll('_', ' '))
}

/** Why a phone stayed silent, once it is over. */
export function whyNothingSent({ status, reason, phone }: Pick<Candidate, 'status' | 'reason' | 'phone'>): string {
  if (reason !== 'stopped') return 'Nothing was sent.'
  if (status === 'failed') return 'Nothing was sent: the campaign was archived before.'
  return `Nothing was sent: this ${phone ? 'number' : 'mail address'} said STOP earlier. The credit came back.`
}

export const PLACES: Record<Place, string> = { ...CHANNELS, page: 'Personal page' }
