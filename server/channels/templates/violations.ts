import { LANGUAGES } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import type { ChannelRule } from '../rules.ts'
import {
  type MessageTemplate,
  templateLanguages,
  unavailableVariables,
  VARIABLE_PATTERN,
  variableTypes,
} from './template.ts'

/** A reason for which a registry or a mobile operator would reject a template. */
export interface TemplateViolation {
  code: ViolationCode
  field: 'text' | 'purpose' | 'language' | 'category' | 'header' | 'registry_id' | 'name'
  message: string
}

export type ViolationCode =
  | 'unsupported_purpose'
  | 'unsupported_language'
  | 'wrong_category'
  | 'wrong_header'
  | 'wrong_id'
  | 'invalid_name'
  | 'too_long'
  | 'invalid_characters'
  | 'repeated_spaces'
  | 'registry_tag'
  | 'unknown_variable'
  | 'unmatched_brace'
  | 'too_many_variables'
  | 'repeated_variable'
  | 'adjacent_variables'
  | 'variable_at_the_edge'
  | 'missing_variable'
  | 'wrong_variable'
  | 'too_little_fixed_text'
  | 'fixed_link'
  | 'fixed_phone_number'
  | 'asks_for_reply'

const MAX_LENGTH = { sms: 2000, whatsapp: 1024 } as const
/** Minimum number of fixed words per variable. Mobile operators reject templates that consist mostly of variables. */
const MIN_FIXED_WORDS = { sms: 2, whatsapp: 3 } as const

const HEADER_PATTERNS: Record<string, { pattern: RegExp; description: string }> = {
  promotional: { pattern: /^\d{6}$/, description: 'six digits' },
  other: { pattern: /^[A-Za-z]{6}$/, description: 'six letters' },
}

/** A web address: with a scheme, or a host name with a path or a common ending. */
const LINK_PATTERN = /https?:|www\.|\b[a-z0-9-]+\.[a-z]{2,}\/|\b[a-z0-9-]+\.(com|in|org|net|io|co|app|example)\b/i
const PHONE_NUMBER_PATTERN = /(?:\+|\b)\d[\d -]{7,}\d\b/
const REPLY_PATTERN = /\breply\b|\brespond to this\b|\btext (us|back)\b|\bSTOP\b|\bsend (yes|no|\d)|^\s*\d[.)]\s/im

type CheckedTemplate = Pick<MessageTemplate, 'channel' | 'purpose' | 'language' | 'text' | 'category'> &
  Partial<Pick<MessageTemplate, 'header' | 'registry_id' | 'name'>>

/** Returns every rule of the country and the registry that a template violates. */
export function templateViolations(template: CheckedTemplate, rule: ChannelRule): TemplateViolation[] {
  return [...registrationViolations(template, rule), ...textViolations(template, rule)]
}

function registrationViolations(template: CheckedTemplate, rule: ChannelRule): TemplateViolation[] {
  const { channel, purpose, language, category, header, registry_id, name } = template
  const violations: TemplateViolation[] = []
  const add = (code: ViolationCode, field: TemplateViolation['field'], message: string) =>
    violations.push({ code, field, message })
  if (channel === 'whatsapp' && purpose === 'code')
    add(
      'unsupported_purpose',
      'purpose',
      'must not be code: WhatsApp allows codes only in its own authentication templates; codes are sent by SMS or email',
    )
  const languages = templateLanguages(rule.template?.languages)
  if (!languages.includes(language))
    add(
      'unsupported_language',
      'language',
      `must be one of ${languages.join(', ')}, which the registry supports; candidates in other languages get the English text`,
    )
  const codeCategory = rule.code_category ?? rule.default_category
  if (!Object.hasOwn(rule.categories, category))
    add('wrong_category', 'category', `must be one of ${Object.keys(rule.categories).join(', ')}`)
  else if (purpose === 'code' && category !== codeCategory)
    add('wrong_category', 'category', `must be ${codeCategory} for codes, which may be sent at any hour`)
  else if (purpose !== 'code' && codeCategory !== rule.default_category && category === codeCategory)
    add(
      'wrong_category',
      'category',
      `must not be ${codeCategory}, which is for codes only; use ${rule.default_category}`,
    )
  if (channel === 'sms' && typeof header === 'string' && headerViolation(header, category))
    add('wrong_header', 'header', headerViolation(header, category)!)
  if (typeof registry_id === 'string' && !(channel === 'sms' ? /^\d{5,25}$/ : /^\d{3,25}$/).test(registry_id))
    add('wrong_id', 'registry_id', 'must be the ID that the registry assigned: digits only')
  if (channel === 'whatsapp' && name !== undefined && !/^[a-z0-9_]{1,512}$/.test(name))
    add('invalid_name', 'name', 'must be 1 to 512 lower-case letters, digits or underscores')
  return violations
}

/** Returns why a header cannot be used for messages of a category. */
export function headerViolation(header: string, category: string): string | undefined {
  const { pattern, description } = HEADER_PATTERNS[category === 'promotional' ? 'promotional' : 'other']!
  return pattern.test(header)
    ? undefined
    : `must be the registered header of ${description}, which ${category} messages need`
}

function textViolations(template: CheckedTemplate, rule: ChannelRule): TemplateViolation[] {
  const { channel, purpose, text } = template
  const violations: TemplateViolation[] = []
  const add = (code: ViolationCode, message: string) => violations.push({ code, field: 'text', message })
  if (text.length > MAX_LENGTH[channel])
    add('too_long', `has ${text.length} characters; at most ${MAX_LENGTH[channel]} are allowed`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: operators reject texts with control characters
  if (/[\x00-\x09\x0b-\x1f\x7f\u200b\ufeff]/.test(text) || (channel === 'sms' && text.includes('\n')))
    add('invalid_characters', 'has line breaks, tabs or invisible characters, which the registry rejects; remove them')
  if (/ {2}|\n{3}|^\s|\s$/.test(text))
    add('repeated_spaces', 'has spaces or empty lines in a row, or at its beginning or end; use single spaces')
  const registryTag = /\{#\w*#\}|\{\{\w*\}\}/.exec(text)?.[0]
  if (registryTag !== undefined)
    add('registry_tag', `has ${registryTag}; write the name of the variable instead, such as {title}`)
  const names = [...text.matchAll(VARIABLE_PATTERN)].map(([, name]) => name!)
  const unknown = names.find((name) => !Object.hasOwn(variableTypes, name))
  if (registryTag === undefined && unknown !== undefined)
    add(
      'unknown_variable',
      `has the unknown variable {${unknown}}; use ${Object.keys(variableTypes).join(', ')} in braces`,
    )
  if (registryTag === undefined && /[{}]/.test(text.replace(VARIABLE_PATTERN, '')))
    add('unmatched_brace', 'has a brace that belongs to no variable; remove it')
  const maxVariables = rule.template?.max_variables ?? names.length
  if (names.length > maxVariables)
    add('too_many_variables', `has ${names.length} variables; at most ${maxVariables} are allowed`)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) add('repeated_variable', `contains {${repeated}} twice; name it once`)
  if (/\{\w+\}\s*\{\w+\}/.test(text))
    add('adjacent_variables', 'has two variables without text between them; mobile operators reject such templates')
  if (channel === 'whatsapp' && /^\s*\{\w+\}|\{\w+\}\s*$/.test(text))
    add(
      'variable_at_the_edge',
      'begins or ends with a variable; WhatsApp requires text before the first variable and after the last one',
    )
  const required = purpose === 'code' ? 'code' : 'link'
  if (!names.includes(required))
    add('missing_variable', `must contain {${required}}, which a template for ${purpose} needs`)
  const unavailable = unavailableVariables(purpose).find((name) => names.includes(name))
  if (unavailable)
    add('wrong_variable', `must not contain {${unavailable}}, which has no value in a template for ${purpose}`)
  const fixedText = text.replace(VARIABLE_PATTERN, ' ')
  const fixedWords = fixedText.match(/[\p{L}\p{M}\p{N}]+/gu)?.length ?? 0
  if (fixedWords < MIN_FIXED_WORDS[channel] * Math.max(1, names.length))
    add(
      'too_little_fixed_text',
      `has ${fixedWords} fixed words for ${names.length} variables; write at least ${MIN_FIXED_WORDS[channel]} per variable`,
    )
  if (LINK_PATTERN.test(fixedText))
    add('fixed_link', 'has a web address as fixed text; use {link}, whose host is on the whitelist')
  if (PHONE_NUMBER_PATTERN.test(fixedText))
    add(
      'fixed_phone_number',
      'has a phone number, which mobile operators reject unless it is on their whitelist; remove it',
    )
  if (rule.use === 'link_only' && asksForReply(fixedText))
    add(
      'asks_for_reply',
      'asks for a reply; recipients cannot reply to a header, so the text must only invite them to open {link}',
    )
  return violations
}

/** Whether a text asks for a reply, in any language. The word STOP is the same in all of them. */
function asksForReply(text: string): boolean {
  return REPLY_PATTERN.test(text) || LANGUAGES.some((language) => text.includes(prompt('choose_number', language)))
}
