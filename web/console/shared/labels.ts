import type { CandidateConversation } from '../../api-types/console.ts'
import type { Channel, Method } from '../../api-types/partner.ts'
import type { VerificationMethod } from '../../api-types/verification.ts'

/** The languages of a workflow, each with its own name and its English name. */
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
  email: 'Email',
}

export function channelName(channel: string | null): string {
  if (channel === null) return '–'
  return channel === 'page' ? 'Personal page' : (CHANNELS[channel as Channel] ?? channel)
}

export const channelOrder = Object.keys(CHANNELS) as Channel[]

/** The parts of a conversation, in their fixed order. */
export const METHODS: Record<Method, { name: string; about: string }> = {
  data_enrichment: { name: 'Questions', about: 'your own yes/no and open questions, with knockouts' },
  skill_verification: { name: 'Skills', about: 'three prepared questions for each skill to verify' },
  interest_collection: { name: 'Interest', about: 'whether they want the job' },
}

/** Names of the verification methods. */
export const VERIFICATION_METHODS: Record<VerificationMethod, string> = { human: 'Reviewer', assessment: 'Assessment' }

export const methodOrder = Object.keys(METHODS) as Method[]

export function methodNames(methods: readonly Method[]): string {
  return methods.map((method) => METHODS[method].name).join(', ')
}

/** The personas of the test numbers, by the API's `part`. */
export const PERSONAS: Record<string, { name: string; about: string }> = {
  passes: { name: 'Passes', about: 'answers every question correctly' },
  knocked_out: { name: 'Knocked out', about: 'gives the knockout answer to the first knockout question' },
  fails_skills: { name: 'Fails skills', about: 'answers every skill question incorrectly' },
  not_interested: { name: 'Not interested', about: 'passes, but does not want the job' },
  declines: { name: 'Declines', about: 'does not consent' },
  never_answers: { name: 'Never answers', about: 'does not read or answer any message' },
  falls_silent: { name: 'Stops answering', about: 'stops answering after the first question' },
  unreachable: { name: 'Unreachable', about: 'no message can be delivered; the credit is refunded' },
  answers_late: { name: 'Answers late', about: 'answers only after the first follow-up' },
  stops: { name: 'Opts out', about: 'sends STOP during the conversation, which is permanent' },
}

const REASONS: Record<string, string> = {
  no_response: 'never answered',
  unreachable: 'could not be reached',
  stopped: 'opted out',
  expired: 'stopped answering',
  refused: 'did not consent',
}

export function reasonText(reason: string | null): string {
  return reason === null ? '' : (REASONS[reason] ?? reason.replaceAll('_', ' '))
}

/** Explains why a candidate whose conversation has ended received no message. */
export function nothingSentText({
  status,
  reason,
  phone,
}: Pick<CandidateConversation, 'status' | 'reason' | 'phone'>): string {
  if (reason !== 'stopped') return 'No message was sent.'
  if (status === 'failed') return 'No message was sent: the campaign was archived first.'
  return `No message was sent: this ${phone ? 'number' : 'email address'} has opted out (STOP). The credit was refunded.`
}
