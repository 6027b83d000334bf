import type { CandidateConversation } from '../../api-types/console.ts'
import type { Channel, Method, Mode } from '../../api-types/partner.ts'
import type { VerificationMethod } from '../../api-types/verification.ts'
import { displayLocale, t } from '../../translations/translate.ts'

const NAMES: Record<string, readonly [ownName: string, name: string]> = {
  en: ['English', t('English')],
  hi: ['हिन्दी', t('Hindi')],
  bn: ['বাংলা', t('Bengali')],
  ta: ['தமிழ்', t('Tamil')],
  te: ['తెలుగు', t('Telugu')],
  mr: ['मराठी', t('Marathi')],
  gu: ['ગુજરાતી', t('Gujarati')],
  kn: ['ಕನ್ನಡ', t('Kannada')],
  ml: ['മലയാളം', t('Malayalam')],
  pa: ['ਪੰਜਾਬੀ', t('Punjabi')],
  or: ['ଓଡ଼ିଆ', t('Odia')],
  as: ['অসমীয়া', t('Assamese')],
}

/** Names of the languages that a workflow can use: in the language of the console and in the language itself. */
export const LANGUAGE_NAMES: Record<string, string> = Object.fromEntries(
  Object.entries(NAMES).map(([code, names]) => [code, [...new Set([...names].reverse())].join(' · ')]),
)

const otherNames = new Intl.DisplayNames(displayLocale() ?? 'en', { type: 'language' })

/** Returns the name in the language of the console. Browsers have other names for some of the languages, such as Bangla. */
export function languageName(code: string): string {
  return NAMES[code]?.[1] ?? otherNames.of(code) ?? code
}

export const CHANNEL_NAMES: Record<Channel, string> = {
  whatsapp: 'WhatsApp',
  voice: t('Phone call'),
  sms: 'SMS',
  email: t('Email'),
}

export function channelName(channel: string | null): string {
  if (channel === null) return '–'
  return channel === 'page' ? t('Personal page') : (CHANNEL_NAMES[channel as Channel] ?? channel)
}

export const channelOrder = Object.keys(CHANNEL_NAMES) as Channel[]

/** The parts of a conversation, in their fixed order. */
export const METHOD_LABELS: Record<Method, { name: string; description: string }> = {
  data_enrichment: {
    name: t('Questions'),
    description: t('your own yes/no and open questions; an answer can disqualify'),
  },
  skill_verification: {
    name: t('Skills'),
    description: t('4 to 8 questions about each skill to verify, until the verdict is certain enough'),
  },
  interest_collection: { name: t('Interest'), description: t('whether the candidate wants the job') },
}

/** Names of the verification methods. */
export const VERIFICATION_METHOD_NAMES: Record<VerificationMethod, string> = {
  human: t('Reviewer'),
  assessment: t('Assessment'),
}

export const methodOrder = Object.keys(METHOD_LABELS) as Method[]

export function methodNames(methods: readonly Method[]): string {
  return methods.map((method) => METHOD_LABELS[method].name).join(', ')
}

/** The personas of the test numbers, by the API's `part`. */
export const PERSONAS: Record<string, { name: string; description: string }> = {
  passes: { name: t('Passes'), description: t('answers every question correctly') },
  knocked_out: {
    name: t('Knocked out'),
    description: t('gives the knockout answer to the first knockout question; passes if there is none'),
  },
  fails_skills: { name: t('Fails skills'), description: t('answers every skill question incorrectly') },
  not_interested: { name: t('Not interested'), description: t('passes, but does not want the job') },
  declines: { name: t('Declines'), description: t('does not consent') },
  never_answers: { name: t('Never answers'), description: t('does not read or answer any message') },
  falls_silent: { name: t('Stops answering'), description: t('stops answering after the first question') },
  unreachable: { name: t('Unreachable'), description: t('cannot be reached by any message; the credit is refunded') },
  answers_late: { name: t('Answers late'), description: t('answers only after the first follow-up') },
  stops: { name: t('Opts out'), description: t('sends STOP during the conversation, which is permanent') },
  inconclusive_skills: {
    name: t('Inconclusive skills'),
    description: t('answers the skill questions so that every verdict is inconclusive'),
  },
}

const REASON_TEXTS: Record<string, string> = {
  no_response: t('never answered'),
  unreachable: t('could not be reached'),
  stopped: t('opted out'),
  expired: t('stopped answering'),
  refused: t('refused to answer'),
}

export function reasonText(reason: string | null): string {
  return reason === null ? '' : (REASON_TEXTS[reason] ?? reason.replaceAll('_', ' '))
}

/** Explains why a candidate whose conversation has ended received no message. */
export function noMessageSentText({
  status,
  reason,
  phone,
}: Pick<CandidateConversation, 'status' | 'reason' | 'phone'>): string {
  if (reason !== 'stopped') return t('No message was sent.')
  if (status === 'failed') return t('No message was sent: the campaign was archived first.')
  return phone
    ? t('No message was sent: this number has opted out (STOP). The credit was refunded.')
    : t('No message was sent: this email address has opted out (STOP). The credit was refunded.')
}

const EMAIL_KIND_NAMES: Record<string, string> = {
  review_request: t('review request'),
  review_reminder: t('review reminder'),
  review_outcome: t('review outcome'),
  sign_in: t('sign in'),
  invitation: t('invitation'),
  notice: t('notice'),
  confirmation_code: t('confirmation code'),
  candidate: t('candidate'),
  digest: t('digest'),
}

export function emailKindName(kind: string): string {
  return EMAIL_KIND_NAMES[kind] ?? kind.replaceAll('_', ' ')
}

const EMAIL_REASON_TEXTS: Record<string, string> = {
  no_smtp: t('No email server is configured, so the email is stored and not sent.'),
  test_mode: t('TEST emails are stored and not sent, except to members of the organisation and to allowed addresses.'),
  recipient_limit: t('The daily limit of emails to this mailbox was reached.'),
  organisation_limit: t('The daily limit of emails of this organisation was reached.'),
  suppressed: t(
    'The mailbox is suppressed: the recipient unsubscribed or complained, emails to it bounced, or an operator added it.',
  ),
  complained: t('The recipient reported this email as spam.'),
  person_erased: t('The recipient, or a person in the email, was erased.'),
  person_restricted: t(
    'The recipient, or a person in the email, withdrew consent, or the processing of their data is restricted.',
  ),
}

/** Explains why an email was not sent, or that it was reported as spam. Undefined if there is no such reason. */
export function emailReasonText(email: { status_reason: string | null; explanation: string | null }) {
  return (email.status_reason && EMAIL_REASON_TEXTS[email.status_reason]) || email.explanation || undefined
}

/** Names of the modes, within a sentence. */
export const MODE_NAMES: Record<Mode, string> = { test: t('test'), live: t('live') }
