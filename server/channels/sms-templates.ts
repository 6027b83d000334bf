import { type Static, Type } from 'typebox'
import type { Detail } from '../api/problem.ts'
import { describePattern } from '../platform/http/validation.ts'
import { LANGUAGES } from '../platform/text/languages.ts'
import type { ChannelRule } from './rules.ts'
import { templateViolations } from './templates/violations.ts'

/** SMS templates in the channel settings. The register of templates replaces them; existing settings remain valid. */

const settingsPurposes = ['invitation', 'follow_up', 'code'] as const

const MAX_TEMPLATE_LENGTH = 2000

export const SmsTemplateSchema = Type.Object(
  {
    purpose: Type.Enum([...settingsPurposes]),
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

/** Returns the violations of the rules for templates of a country: number and kind of variables, and fixed text. */
export function templateErrors(templates: SmsTemplate[], rule: ChannelRule): Detail[] {
  const details: Detail[] = []
  const seen = new Set<string>()
  templates.forEach(({ purpose, language, text }, index) => {
    const key = `${purpose} ${language}`
    if (seen.has(key))
      details.push({
        path: `templates[${index}]`,
        message: `duplicates the template for ${purpose} in ${language}; remove one of them`,
      })
    seen.add(key)
    const category = purpose === 'code' ? (rule.code_category ?? rule.default_category) : rule.default_category
    for (const { message } of templateViolations({ channel: 'sms', purpose, language, text, category }, rule))
      details.push({ path: `templates[${index}].text`, message })
  })
  // Without a template for codes, people cannot confirm requests about their data by SMS.
  for (const purpose of ['invitation', 'code'])
    if (details.length === 0 && !templates.some((template) => template.purpose === purpose))
      details.push({ path: 'templates', message: `must contain a template for ${purpose}` })
  return details
}
