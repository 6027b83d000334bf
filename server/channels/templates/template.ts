import { LANGUAGES } from '../../platform/text/languages.ts'

/** Channels whose messages need a text that is registered with a third party. */
export const templateChannels = ['sms', 'whatsapp'] as const
export type TemplateChannel = (typeof templateChannels)[number]

/**
 * Messages for which a text is registered.
 * - `invitation`: the first message, with the personal link
 * - `follow_up_1` to `follow_up_5`, `follow_up_requested`: one follow-up, and the contact that the candidate asked for
 * - `follow_up`: all later messages without a text of their own; without one, the invitation is sent again
 * - `code`: a confirmation code for a request about personal data
 * - `review_request`, `review_reminder`: the link of a review, to a reviewer; without a text for the reminder, the request is sent again
 */
export const templatePurposes = [
  'invitation',
  'follow_up',
  'follow_up_1',
  'follow_up_2',
  'follow_up_3',
  'follow_up_4',
  'follow_up_5',
  'follow_up_requested',
  'code',
  'review_request',
  'review_reminder',
] as const
export type TemplatePurpose = (typeof templatePurposes)[number]

/** Purposes of messages to reviewers. The others are messages to candidates. */
export const reviewPurposes = ['review_request', 'review_reminder'] as const
export type ReviewPurpose = (typeof reviewPurposes)[number]

export function isReviewPurpose(purpose: TemplatePurpose): purpose is ReviewPurpose {
  return (reviewPurposes as readonly string[]).includes(purpose)
}

export const templateStatuses = ['draft', 'pending', 'approved', 'rejected', 'paused', 'disabled'] as const
export type TemplateStatus = (typeof templateStatuses)[number]

export const templateQualities = ['green', 'yellow', 'red'] as const
export type TemplateQuality = (typeof templateQualities)[number]

/** Variables of a template, with the type of their values. DLT portals use the types as tags, such as {#url#}. */
export const variableTypes = {
  name: 'alphanumeric',
  company: 'alphanumeric',
  title: 'alphanumeric',
  minutes: 'numeric',
  link: 'url',
  code: 'numeric',
  student: 'alphanumeric',
} as const
export type VariableName = keyof typeof variableTypes

/** Returns the variables that have no value in the messages of a purpose. */
export function unavailableVariables(purpose: TemplatePurpose): VariableName[] {
  if (purpose === 'code') return ['link', 'student']
  return isReviewPurpose(purpose) ? ['code', 'title'] : ['code', 'student']
}

/** A registered text of an organisation. */
export interface MessageTemplate {
  channel: TemplateChannel
  purpose: TemplatePurpose
  language: string
  name: string
  /** Language code at the registry, if it differs from the language. */
  language_code: string | null
  /** The text, with {title} and other variables. */
  text: string
  category: string
  /** The registered sender of an SMS; null for the sender of the channel settings. */
  header: string | null
  /** DLT template ID, or ID at WhatsApp. */
  registry_id: string | null
  status: TemplateStatus
  /** Reason for which the template was rejected or paused. */
  status_reason: string | null
  quality: TemplateQuality | null
  has_buttons: boolean
  /** Time at which the status was last requested from the registry, or reported by it. */
  checked_at: Date | null
}

/** A template of the register, or of the channel settings. */
export interface RegisteredTemplate extends MessageTemplate {
  /** Whether the template is part of the channel settings. It counts as approved. */
  is_from_settings?: boolean
}

export const VARIABLE_PATTERN = /\{(\w+)\}/g

/** Returns the variables of a text in the order of their first use. */
export function variablesOf(text: string): string[] {
  return [...new Set([...text.matchAll(VARIABLE_PATTERN)].map(([, name]) => name!))]
}

/** Returns a text in the format of WhatsApp: {{1}}, {{2}} and so on in place of the variables. */
export function toNumberedText(text: string): string {
  const names = variablesOf(text)
  return text.replace(VARIABLE_PATTERN, (_, name: string) => `{{${names.indexOf(name) + 1}}}`)
}

/** Returns the purposes whose templates can be used for a message, in order of preference. */
export function purposeChain(purpose: TemplatePurpose): TemplatePurpose[] {
  if (purpose === 'code' || purpose === 'invitation' || purpose === 'review_request') return [purpose]
  if (purpose === 'review_reminder') return [purpose, 'review_request']
  return [...new Set<TemplatePurpose>([purpose, 'follow_up', 'invitation'])]
}

/** Returns the languages that templates can have: all languages, or only those that the registry supports. */
export function templateLanguages(supportedLanguages: readonly string[] | undefined): string[] {
  return LANGUAGES.filter((language) => supportedLanguages?.includes(language) ?? true)
}

/** Compares templates by purpose and language, in the order of the lists; other languages come last. */
export function compareTemplates(
  a: Pick<MessageTemplate, 'channel' | 'purpose' | 'language'>,
  b: Pick<MessageTemplate, 'channel' | 'purpose' | 'language'>,
): number {
  return (
    templateChannels.indexOf(a.channel) - templateChannels.indexOf(b.channel) ||
    templatePurposes.indexOf(a.purpose) - templatePurposes.indexOf(b.purpose) ||
    languageRank(a.language) - languageRank(b.language)
  )
}

function languageRank(language: string): number {
  const rank = (LANGUAGES as readonly string[]).indexOf(language)
  return rank === -1 ? LANGUAGES.length : rank
}
