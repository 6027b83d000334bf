import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { invalid } from '../../api/invalid.ts'
import type { Detail } from '../../api/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import type { ChannelName } from '../channel.ts'
import { rulesFor } from '../rules.ts'
import type { SmsTemplate } from '../sms-templates.ts'
import { nextTemplateName, templateName } from './default-texts.ts'
import {
  compareTemplates,
  isReviewPurpose,
  type MessageTemplate,
  type RegisteredTemplate,
  type TemplateChannel,
  type TemplatePurpose,
  type TemplateQuality,
  type TemplateStatus,
  toNumberedText,
} from './template.ts'
import { templateViolations } from './violations.ts'

/** The rules of India apply to all templates, because the rules of other countries are less strict. */
const INDIAN_PREFIX = '+91'

const columns = sql`channel, purpose, language, name, language_code, text, category, header, registry_id, status, status_reason, quality,
  has_buttons, checked_at`

export function templateRule(channel: TemplateChannel) {
  return rulesFor(INDIAN_PREFIX).channels[channel]
}

/** Lists the templates of the register, by channel, purpose and language. */
export async function listTemplates(
  queries: Queries,
  { orgId, mode }: OrgScope,
  channel?: TemplateChannel,
): Promise<MessageTemplate[]> {
  const { rows } = await sql<MessageTemplate>`
    select ${columns} from message_templates
    where org_id = ${orgId} and mode = ${mode} and (${channel ?? null}::text is null or channel = ${channel ?? null})`.execute(
    queries,
  )
  return rows.sort(compareTemplates)
}

/** A template to add or replace. Omitted fields keep their values. */
export interface TemplateInput {
  channel: TemplateChannel
  purpose: TemplatePurpose
  language: string
  text: string
  category?: string | undefined
  name?: string | undefined
  language_code?: string | undefined
  header?: string | undefined
  registry_id?: string | undefined
  status?: TemplateStatus | undefined
  has_buttons?: boolean | undefined
}

/**
 * Adds or replaces templates; all of them or none. A changed text is a draft again, because the registry has not approved it. If the old text
 * was registered, the new one gets a new name, so that reports about the old text do not apply to it. Throws an error that lists every
 * violation.
 */
export async function saveTemplates(
  tx: Tx,
  clock: Clock,
  scope: OrgScope,
  inputs: TemplateInput[],
): Promise<MessageTemplate[]> {
  const stored = new Map((await listTemplates(tx, scope)).map((template) => [keyOf(template), template]))
  const errors: Detail[] = []
  const seen = new Set<string>()
  const templates = inputs.map((input, index) => {
    const template = mergeTemplate(stored.get(keyOf(input)), input)
    const path = inputs.length === 1 ? '' : `templates[${index}].`
    if (seen.has(keyOf(input)))
      errors.push({
        path: `${path}language`,
        message: `duplicates the ${input.channel} template for ${input.purpose} in ${input.language}; remove one of them`,
      })
    seen.add(keyOf(input))
    for (const { field, message } of templateViolations(template, templateRule(input.channel)))
      errors.push({ path: `${path}${field}`, message })
    if (template.channel === 'sms' && template.status === 'approved' && template.registry_id === null)
      errors.push({
        path: `${path}registry_id`,
        message: 'is required for an approved SMS template: the DLT template ID',
      })
    return template
  })
  if (errors.length > 0) throw invalid(errors)
  const now = new Date(clock.now())
  for (const template of templates) await writeTemplate(tx, scope, template, now)
  return templates
}

function mergeTemplate(stored: MessageTemplate | undefined, input: TemplateInput): MessageTemplate {
  const { channel, purpose, language, text } = input
  const hasNewText = stored !== undefined && stored.text !== text
  const rule = templateRule(channel)
  const registryId = input.registry_id ?? (hasNewText ? null : (stored?.registry_id ?? null))
  const defaultCategory = purpose === 'code' ? (rule.code_category ?? rule.default_category) : rule.default_category
  const keptStatus = hasNewText ? undefined : stored?.status
  const status = input.status ?? (input.registry_id !== undefined ? 'approved' : (keptStatus ?? 'draft'))
  const needsNewName = hasNewText && status === 'draft' && (stored.status !== 'draft' || stored.registry_id !== null)
  const storedName = needsNewName ? nextTemplateName(stored.name) : stored?.name
  return {
    channel,
    purpose,
    language,
    text,
    name: input.name ?? storedName ?? templateName(purpose, language, channel),
    language_code: input.language_code ?? stored?.language_code ?? null,
    category: input.category ?? stored?.category ?? defaultCategory,
    header: input.header ?? stored?.header ?? null,
    registry_id: registryId,
    status,
    status_reason: null,
    quality: hasNewText ? null : (stored?.quality ?? null),
    has_buttons: input.has_buttons ?? stored?.has_buttons ?? (channel === 'whatsapp' && !isReviewPurpose(purpose)),
    checked_at: hasNewText ? null : (stored?.checked_at ?? null),
  }
}

async function writeTemplate(tx: Tx, { orgId, mode }: OrgScope, template: MessageTemplate, now: Date): Promise<void> {
  const { channel, purpose, language, name, language_code, text, category, header } = template
  const { registry_id, status, status_reason, quality, has_buttons, checked_at } = template
  await sql`
    insert into message_templates (org_id, mode, channel, purpose, language, name, language_code, text, category, header, registry_id,
      status, status_reason, quality, has_buttons, checked_at, created_at, updated_at)
    values (${orgId}, ${mode}, ${channel}, ${purpose}, ${language}, ${name}, ${language_code}, ${text}, ${category}, ${header},
      ${registry_id}, ${status}, ${status_reason}, ${quality}, ${has_buttons}, ${checked_at}, ${now}, ${now})
    on conflict (org_id, mode, channel, purpose, language) do update set name = excluded.name, language_code = excluded.language_code,
      text = excluded.text, category = excluded.category, header = excluded.header, registry_id = excluded.registry_id,
      status = excluded.status, status_reason = excluded.status_reason, quality = excluded.quality,
      has_buttons = excluded.has_buttons, checked_at = excluded.checked_at, updated_at = excluded.updated_at`.execute(
    tx,
  )
}

/** Deletes a template; returns false if there is none. */
export async function removeTemplate(
  tx: Tx,
  { orgId, mode }: OrgScope,
  { channel, purpose, language }: Pick<MessageTemplate, 'channel' | 'purpose' | 'language'>,
): Promise<boolean> {
  const { rows } = await sql`
    delete from message_templates where org_id = ${orgId} and mode = ${mode} and channel = ${channel} and purpose = ${purpose}
      and language = ${language} returning 1`.execute(tx)
  return rows.length > 0
}

/** A report of a registry about a template. */
export interface RegistryReport {
  name: string
  languageCode: string
  registryId?: string | undefined
  /** The text at WhatsApp, with {{1}} and so on in place of the variables; undefined if the report does not contain it. */
  numberedText?: string | undefined
  status?: TemplateStatus | undefined
  statusReason?: string | null | undefined
  category?: string | undefined
  quality?: TemplateQuality | null | undefined
}

export interface ReportResult {
  /** Number of changed templates. */
  updated: number
  /** Templates with another text at WhatsApp, to which the reports do not apply. */
  different: Pick<RegistryReport, 'name' | 'languageCode'>[]
}

type ReportedTemplate = Pick<MessageTemplate, 'purpose' | 'language' | 'text' | 'registry_id'>

/**
 * Stores the reports of WhatsApp about templates. A report applies only to the text that WhatsApp has reviewed: a report with a text to the
 * template with the same text, other reports to the template with the same ID. Reports about unknown templates are ignored.
 */
export async function recordReports(
  tx: Tx,
  clock: Clock,
  { orgId, mode }: OrgScope,
  reports: RegistryReport[],
): Promise<ReportResult> {
  const now = new Date(clock.now())
  const result: ReportResult = { updated: 0, different: [] }
  for (const report of reports) {
    const { name, languageCode, registryId, status, statusReason, category, quality } = report
    const { rows } = await sql<ReportedTemplate>`
      select purpose, language, text, registry_id from message_templates
      where org_id = ${orgId} and mode = ${mode} and channel = 'whatsapp' and name = ${name}
        and coalesce(language_code, language) = ${languageCode}
      order by purpose, language for update`.execute(tx)
    const templates = rows.filter((template) => isReportAbout(report, template))
    if (report.numberedText !== undefined && templates.length < rows.length)
      result.different.push({ name, languageCode })
    for (const { purpose, language } of templates)
      await sql`
        update message_templates set registry_id = coalesce(${registryId ?? null}, registry_id), status = coalesce(${status ?? null}, status),
          status_reason = case when ${status ?? null}::text is null then status_reason else ${statusReason ?? null} end,
          category = coalesce(${category ?? null}, category),
          quality = case when ${quality === undefined} then quality else ${quality ?? null} end,
          checked_at = ${now}, updated_at = ${now}
        where org_id = ${orgId} and mode = ${mode} and channel = 'whatsapp' and purpose = ${purpose} and language = ${language}`.execute(
        tx,
      )
    result.updated += templates.length
  }
  return result
}

function isReportAbout({ numberedText, registryId }: RegistryReport, { text, registry_id }: ReportedTemplate): boolean {
  if (numberedText === undefined) return registryId !== undefined && registryId === registry_id
  return normalizeLines(numberedText) === normalizeLines(toNumberedText(text))
}

function normalizeLines(text: string): string {
  return text.replaceAll('\r\n', '\n').normalize('NFC').trim()
}

/** Statuses of texts that the registry has approved at some time. */
const REVIEWED_STATUSES: readonly TemplateStatus[] = ['approved', 'paused', 'disabled']

/**
 * Returns the templates for a channel: the templates in the register, and the templates in the channel settings. A template in the settings is
 * left out once the registry has approved a text of the register for the same purpose and language.
 */
export function withSettingsTemplates(
  registered: MessageTemplate[],
  { channel, credentials }: { channel: ChannelName; credentials: Record<string, unknown> },
): RegisteredTemplate[] {
  const own = registered.filter((template) => template.channel === channel)
  const replacedKeys = new Set(own.filter(({ status }) => REVIEWED_STATUSES.includes(status)).map(keyOf))
  const fromSettings =
    channel === 'sms'
      ? smsSettingsTemplates(credentials)
      : channel === 'whatsapp'
        ? whatsappSettingsTemplates(credentials)
        : []
  return [...own, ...fromSettings.filter((template) => !replacedKeys.has(keyOf(template)))]
}

function smsSettingsTemplates(credentials: Record<string, unknown>): RegisteredTemplate[] {
  const { templates = [], category } = credentials as { templates?: SmsTemplate[]; category?: string }
  const rule = templateRule('sms')
  return templates.map(({ purpose, language, template_id, text }) => ({
    ...settingsFields,
    channel: 'sms',
    purpose,
    language,
    name: templateName(purpose, language, 'sms'),
    language_code: null,
    text,
    category: purpose === 'code' ? (rule.code_category ?? rule.default_category) : (category ?? rule.default_category),
    registry_id: template_id,
    has_buttons: false,
  }))
}

/** The variables of the templates in the settings of WhatsApp. */
const SETTINGS_TEMPLATE_TEXT = '{name} {company} {title} {link}'

interface WhatsAppTemplate {
  name: string
  languages: string[]
  buttons?: boolean
}

function whatsappSettingsTemplates(credentials: Record<string, unknown>): RegisteredTemplate[] {
  const { template, follow_up_template } = credentials as {
    template?: WhatsAppTemplate
    follow_up_template?: WhatsAppTemplate
  }
  return (
    [
      ['invitation', template],
      ['follow_up', follow_up_template],
    ] as const
  ).flatMap(([purpose, settings]) =>
    (settings?.languages ?? []).map((code) => ({
      ...settingsFields,
      channel: 'whatsapp' as const,
      purpose,
      language: code.split('_')[0]!,
      name: settings!.name,
      language_code: code,
      text: SETTINGS_TEMPLATE_TEXT,
      category: templateRule('whatsapp').default_category,
      registry_id: null,
      has_buttons: settings!.buttons !== false,
    })),
  )
}

const settingsFields = {
  header: null,
  status: 'approved',
  status_reason: null,
  quality: null,
  checked_at: null,
  is_from_settings: true,
} as const

function keyOf({ channel, purpose, language }: Pick<MessageTemplate, 'channel' | 'purpose' | 'language'>): string {
  return `${channel} ${purpose} ${language}`
}
