import { csvCell } from '../../platform/text/csv-cell.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import { prompt } from '../../questions/prompts.ts'
import { isAsciiText } from '../message-text.ts'
import { templateRule } from './register.ts'
import {
  type MessageTemplate,
  toNumberedText,
  VARIABLE_PATTERN,
  type VariableName,
  variablesOf,
  variableTypes,
} from './template.ts'

/** How variables are marked in texts for DLT portals. */
export type VariableTags = 'typed' | 'untyped'

/** Columns of the forms of DLT portals. Portals name and order them differently; the import reads them by name. */
const DLT_COLUMNS = [
  'Template Name',
  'Communication Type',
  'Template Type',
  'Header',
  'Message Type',
  'Template Content',
  'Variables',
  'Template ID',
] as const

const templateTypes: Record<string, string> = {
  service_explicit: 'Service Explicit',
  service_implicit: 'Service Implicit',
  promotional: 'Promotional',
}

/** Returns the SMS templates as a CSV file for DLT portals. */
export function dltCsv(
  templates: MessageTemplate[],
  { header, tags = templateRule('sms').template?.variable_tags ?? 'untyped' }: { header?: string; tags?: VariableTags },
): string {
  const rows = templates
    .filter(({ channel }) => channel === 'sms')
    .map((template) => [
      template.name,
      'SMS',
      templateTypes[template.category] ?? template.category,
      template.header ?? header ?? '',
      isAsciiText(template.text) ? 'Text' : 'Unicode',
      taggedText(template.text, tags),
      variablesOf(template.text).join(' '),
      template.registry_id ?? '',
    ])
  return `${[DLT_COLUMNS, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n')}\r\n`
}

/** Returns a text with the tags of DLT portals in place of the variables. */
function taggedText(text: string, tags: VariableTags): string {
  return text.replace(VARIABLE_PATTERN, (_, name: VariableName) =>
    tags === 'typed' ? `{#${variableTypes[name]}#}` : '{#var#}',
  )
}

/** A template in the format of the API of WhatsApp. */
export interface WhatsAppTemplateRequest {
  name: string
  language: string
  category: string
  parameter_format: 'POSITIONAL'
  components: object[]
}

/** Example values of the variables, for the review by Meta. */
const exampleValues: Record<VariableName, string> = {
  name: 'Asha',
  company: 'Acme Staffing',
  title: 'Electrician',
  minutes: '5',
  link: 'https://verify.example.com/c/example',
  code: '482910',
  student: 'Asha Rao',
}

/** Returns a template in the format of `POST /{business-account}/message_templates`. */
export function whatsappRequest(template: MessageTemplate): WhatsAppTemplateRequest {
  const names = variablesOf(template.text)
  const language = LANGUAGES.find((each) => each === template.language) ?? 'en'
  return {
    name: template.name,
    language: template.language_code ?? template.language,
    category: template.category.toUpperCase(),
    parameter_format: 'POSITIONAL',
    components: [
      {
        type: 'BODY',
        text: toNumberedText(template.text),
        example: { body_text: [names.map((name) => exampleValues[name as VariableName])] },
      },
      ...(template.has_buttons ? [{ type: 'BUTTONS', buttons: buttonsIn(language) }] : []),
    ],
  }
}

function buttonsIn(language: Language): object[] {
  return (['consent_yes', 'consent_no'] as const).map((key) => ({ type: 'QUICK_REPLY', text: prompt(key, language) }))
}
