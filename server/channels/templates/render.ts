import { toSingleLine } from '../../platform/text/strip-invisible.ts'
import { type OutgoingMessage, SendError } from '../channel.ts'
import { type ChannelRule, rulesFor } from '../rules.ts'
import {
  purposeChain,
  type RegisteredTemplate,
  type TemplateChannel,
  type TemplatePurpose,
  VARIABLE_PATTERN,
  type VariableName,
  variablesOf,
} from './template.ts'
import { headerViolation, templateViolations } from './violations.ts'

/** An SMS as it is sent: the registered text with the values of its variables. */
export interface TemplatedSms {
  templateId: string
  header: string
  category: string
  text: string
}

interface SmsSender {
  /** The header of the channel settings. */
  from: string
  listed_hosts: string[]
  registered_templates: RegisteredTemplate[]
}

/**
 * Renders an SMS with the registered template for its purpose, in the candidate's language or the first registered one. Throws if no
 * template is approved, or if the mobile operator would reject the message.
 */
export function renderSms(
  message: OutgoingMessage,
  { from, listed_hosts, registered_templates }: SmsSender,
): TemplatedSms {
  const rule = rulesFor(message.to).channels.sms
  const template = selectTemplate('sms', registered_templates, message, rule)
  if (template.registry_id === null)
    throw refusal(`the template ${template.name} has no DLT template ID; import the ID from the DLT portal`)
  const header = template.header ?? from
  const headerProblem = headerViolation(header, template.category)
  if (headerProblem !== undefined) throw refusal(`the sender ${header} ${headerProblem}`)
  const names = variablesOf(template.text)
  const values = valuesFor(message, names, rule)
  if (rule.template?.requires_listed_hosts && names.includes('link')) {
    const host = URL.canParse(message.link) ? new URL(message.link).hostname : ''
    if (!listed_hosts.includes(host))
      throw refusal(
        `the host ${host || '(none)'} of the link is not in listed_hosts; add PUBLIC_URL's host to the DLT whitelist and to the channel settings`,
      )
  }
  return {
    templateId: template.registry_id,
    header,
    category: template.category,
    text: template.text.replace(VARIABLE_PATTERN, (_, name: VariableName) => values[name]!),
  }
}

/** A template of WhatsApp, with the values of its variables in order. */
export interface TemplatedWhatsApp {
  name: string
  languageCode: string
  hasButtons: boolean
  values: string[]
}

/** Selects the approved template for a WhatsApp message. Throws if there is none, or if WhatsApp would reject the message. */
export function renderWhatsApp(message: OutgoingMessage, templates: RegisteredTemplate[]): TemplatedWhatsApp {
  const rule = rulesFor(message.to).channels.whatsapp
  const template = selectTemplate('whatsapp', templates, message, rule)
  const names = variablesOf(template.text)
  const values = valuesFor(message, names, rule)
  return {
    name: template.name,
    languageCode: template.language_code ?? template.language,
    hasButtons: template.has_buttons,
    values: names.map((name) => values[name as VariableName]!),
  }
}

function selectTemplate(
  channel: TemplateChannel,
  templates: RegisteredTemplate[],
  message: OutgoingMessage,
  rule: ChannelRule,
): RegisteredTemplate {
  const purpose = purposeOf(message)
  const template = findApprovedTemplate(templates, purpose, message.language)
  if (template) {
    const violation = template.is_from_settings ? undefined : templateViolations(template, rule)[0]
    if (violation)
      throw refusal(
        `the template ${template.name} ${violation.field === 'text' ? '' : `has a ${violation.field} that `}${violation.message}`,
      )
    return template
  }
  const known = purposeChain(purpose).flatMap((each) => templates.filter((template) => template.purpose === each))
  const registry = channel === 'sms' ? 'DLT' : 'WhatsApp'
  if (known.length === 0)
    throw refusal(
      `no ${registry} template is registered for ${purpose}; register one and add it to the template register of the organisation`,
    )
  const states = known.map(
    ({ name, language, status, status_reason }) =>
      `${name} (${language}) is ${status}${status_reason ? `: ${status_reason}` : ''}`,
  )
  throw refusal(`no approved ${registry} template for ${purpose}: ${states.slice(0, 3).join('; ')}`)
}

/** Returns the approved template for a purpose: in the language, or else the first one. */
function findApprovedTemplate(
  templates: RegisteredTemplate[],
  purpose: TemplatePurpose,
  language: string,
): RegisteredTemplate | undefined {
  for (const each of purposeChain(purpose)) {
    const approved = templates.filter((template) => template.purpose === each && template.status === 'approved')
    const template = approved.find((candidate) => candidate.language === language) ?? approved[0]
    if (template) return template
  }
  return undefined
}

/** The fields of a message that its template depends on. */
type TemplateUse = Pick<OutgoingMessage, 'followUpNumber' | 'isCode' | 'isRequested' | 'language' | 'review'>

/** Returns the category of a message: that of its approved template, or else that of the channel settings. */
export function categoryInSettings(message: TemplateUse, credentials: unknown): string | undefined {
  const { registered_templates = [], category } = (credentials ?? {}) as {
    registered_templates?: RegisteredTemplate[]
    category?: string
  }
  return findApprovedTemplate(registered_templates, purposeOf(message), message.language)?.category ?? category
}

function purposeOf({ followUpNumber, isCode, isRequested, review }: TemplateUse): TemplatePurpose {
  if (review) return review.purpose
  if (isCode) return 'code'
  if (followUpNumber === 0) return 'invitation'
  if (followUpNumber === undefined) return 'follow_up'
  if (isRequested) return 'follow_up_requested'
  return followUpNumber <= 5 ? (`follow_up_${followUpNumber}` as TemplatePurpose) : 'follow_up'
}

/** Returns the values of the variables in the form that their types allow. Throws if a value cannot have that form. */
function valuesFor(
  message: OutgoingMessage,
  names: string[],
  rule: ChannelRule,
): Partial<Record<VariableName, string>> {
  const maxLength = rule.template?.max_variable_length ?? Infinity
  const isTyped = rule.template?.variable_tags === 'typed'
  const textValue = (text: string) => (isTyped ? alphanumeric(text, maxLength) : singleLine(text, maxLength))
  const values: Record<VariableName, string> = {
    name: textValue(message.name),
    company: textValue(message.company),
    title: textValue(message.title),
    minutes: String(message.minutes),
    link: message.link,
    code: message.code ?? '',
    student: textValue(message.review?.student ?? ''),
  }
  for (const name of names as VariableName[])
    if (values[name] === '')
      throw refusal(
        name === 'code'
          ? 'the message has no confirmation code for {code}'
          : `the value of {${name}} has no letters or digits, which the template needs`,
      )
  return values
}

/** Reduces a value to letters, digits and single spaces, as mobile operators require. */
function alphanumeric(text: string, maxLength: number): string {
  const reduced = toSingleLine(text)
    .replace(/[^\p{L}\p{M}\p{N} ]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
  return [...reduced].slice(0, maxLength).join('').trim()
}

function singleLine(text: string, maxLength: number): string {
  return toSingleLine(text).slice(0, maxLength).toWellFormed() || '-'
}

function refusal(message: string): SendError {
  return new SendError('rejected', message)
}
