import { type Static, Type } from 'typebox'
import type { Detail } from '../api/problem.ts'
import { describePattern } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import { toSingleLine } from '../platform/text/strip-invisible.ts'
import { type OutgoingMessage, SendError } from './channel.ts'
import { promptText } from './message-text.ts'
import { type ChannelRule, rulesFor } from './rules.ts'

/**
 * Messages for which a template is registered.
 * - `invitation`: the first message, with the personal link
 * - `follow_up`: all later messages; without one, the invitation is sent again
 * - `code`: a confirmation code for a request about personal data
 */
export const templatePurposes = ['invitation', 'follow_up', 'code'] as const
type TemplatePurpose = (typeof templatePurposes)[number]

/** Variables of a template, with the tag that the DLT portals use for them. */
const variableTags = {
  name: 'alphanumeric',
  company: 'alphanumeric',
  title: 'alphanumeric',
  link: 'url',
  code: 'numeric',
} as const
type VariableName = keyof typeof variableTags

const VARIABLE_PATTERN = /\{(\w+)\}/g
const MAX_TEMPLATE_LENGTH = 2000

export const SmsTemplateSchema = Type.Object(
  {
    purpose: Type.Enum([...templatePurposes]),
    language: Type.Enum([...LANGUAGES]),
    template_id: Type.String({
      pattern: describePattern('^\\d{5,25}$', 'must be the DLT template ID: 5 to 25 digits'),
    }),
    /** The registered text, with {title} and other variables in place of the tags. */
    text: Type.String({ minLength: 1, maxLength: MAX_TEMPLATE_LENGTH }),
  },
  { additionalProperties: false },
)
export type SmsTemplate = Static<typeof SmsTemplateSchema>

/** Returns the violations of the rules for templates of a country: number and kind of variables, and the hosts of links. */
export function templateErrors(templates: SmsTemplate[], rule: ChannelRule): Detail[] {
  const details: Detail[] = []
  const seen = new Set<string>()
  templates.forEach(({ purpose, language, text }, index) => {
    const path = `templates[${index}].text`
    const names = variablesOf(text)
    const key = `${purpose} ${language}`
    if (seen.has(key))
      details.push({
        path: `templates[${index}]`,
        message: `duplicates the template for ${purpose} in ${language}; remove one of them`,
      })
    seen.add(key)
    const unknown = names.find((name) => !Object.hasOwn(variableTags, name))
    if (unknown !== undefined)
      details.push({
        path,
        message: `has the unknown variable {${unknown}}; use ${Object.keys(variableTags).join(', ')} in braces`,
      })
    const maxVariables = rule.template?.max_variables ?? names.length
    if (names.length > maxVariables)
      details.push({ path, message: `has ${names.length} variables; at most ${maxVariables} are allowed` })
    if (/\{\w+\}\s*\{\w+\}/.test(text))
      details.push({ path, message: 'has two variables without text between them; operators reject such templates' })
    const required: VariableName = purpose === 'code' ? 'code' : 'link'
    if (!names.includes(required))
      details.push({ path, message: `must contain {${required}}, which a template for ${purpose} needs` })
  })
  // Without a template for codes, people cannot confirm requests about their data by SMS.
  for (const purpose of ['invitation', 'code'])
    if (details.length === 0 && !templates.some((template) => template.purpose === purpose))
      details.push({ path: 'templates', message: `must contain a template for ${purpose}` })
  return details
}

function variablesOf(text: string): string[] {
  return [...text.matchAll(VARIABLE_PATTERN)].map(([, name]) => name!)
}

/** A message as it is sent: the registered text with the values of its variables. */
export interface TemplatedText {
  templateId: string
  text: string
}

/**
 * Renders a message with the registered template for its purpose, in the candidate's language or the first registered one. Throws if no
 * template is registered, or if the operator would reject the message.
 */
export function renderTemplate(
  message: OutgoingMessage,
  { templates, listed_hosts }: { templates: SmsTemplate[]; listed_hosts: string[] },
): TemplatedText {
  const purpose = purposeOf(message)
  const template = findTemplate(templates, purpose, message.language)
  if (!template)
    throw new SendError(
      'rejected',
      `no DLT template is registered for ${purpose}; register one and add it to the channel settings`,
    )
  const rule = rulesFor(message.to).channels.sms
  const maxLength = rule.template?.max_variable_length ?? MAX_TEMPLATE_LENGTH
  const values: Record<VariableName, string> = {
    name: alphanumeric(message.name, maxLength),
    company: alphanumeric(message.company, maxLength),
    title: alphanumeric(message.title, maxLength),
    link: message.link,
    code: /\d{4,10}/.exec(promptText(message))?.[0] ?? '',
  }
  if (rule.template?.requires_listed_hosts && variablesOf(template.text).includes('link')) {
    const host = URL.canParse(message.link) ? new URL(message.link).hostname : ''
    if (!listed_hosts.includes(host))
      throw new SendError(
        'rejected',
        `the host ${host || '(none)'} of the link is not in listed_hosts; add PUBLIC_URL's host to the DLT whitelist and to the channel settings`,
      )
  }
  return {
    templateId: template.template_id,
    text: template.text.replace(VARIABLE_PATTERN, (_, name: VariableName) => values[name]),
  }
}

function purposeOf({ followUpNumber, isCode }: OutgoingMessage): TemplatePurpose {
  if (isCode) return 'code'
  return followUpNumber === 0 ? 'invitation' : 'follow_up'
}

function findTemplate(templates: SmsTemplate[], purpose: TemplatePurpose, language: string): SmsTemplate | undefined {
  const candidates = templates.filter((template) => template.purpose === purpose)
  const found = candidates.find((template) => template.language === language) ?? candidates[0]
  return found ?? (purpose === 'follow_up' ? findTemplate(templates, 'invitation', language) : undefined)
}

/** Reduces a value to letters, digits and single spaces, as operators require. */
function alphanumeric(text: string, maxLength: number): string {
  const reduced = toSingleLine(text)
    .replace(/[^\p{L}\p{M}\p{N} ]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return [...reduced].slice(0, maxLength).join('').trim() || '-'
}
