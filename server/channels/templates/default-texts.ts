import { noticeTexts } from '../../notices/notice.ts'
import { LANGUAGES, type Language } from '../../platform/text/languages.ts'
import { toSingleLine } from '../../platform/text/strip-invisible.ts'
import { type PromptKey, prompt, promptTemplate } from '../../questions/prompts.ts'
import type { ChannelRule } from '../rules.ts'
import { reviewText } from './review-texts.ts'
import {
  isReviewPurpose,
  type TemplateChannel,
  type TemplatePurpose,
  templateLanguages,
  templatePurposes,
} from './template.ts'

/** A text that can be registered. */
export interface TemplateText {
  channel: TemplateChannel
  purpose: TemplatePurpose
  language: Language
  name: string
  text: string
  category: string
  has_buttons: boolean
}

/** Prompts for SMS. They have at most two variables, so prompts with the name of the person are left out. */
const smsPrompts: Partial<Record<TemplatePurpose, PromptKey>> = {
  invitation: 'email_subject',
  follow_up: 'follow_up_3',
}

const whatsappPrompts: Partial<Record<TemplatePurpose, PromptKey>> = {
  invitation: 'consent',
  follow_up: 'follow_up_3',
  follow_up_1: 'follow_up_1',
  follow_up_2: 'follow_up_2',
  follow_up_3: 'follow_up_3',
  follow_up_4: 'follow_up_4',
  follow_up_5: 'follow_up_5',
  follow_up_requested: 'follow_up_requested',
}

/**
 * Returns the texts that an organisation registers for a channel, in every language of the registry. They are the prompts of the
 * conversation, with the name of the organisation as fixed text.
 */
export function defaultTexts(
  channel: TemplateChannel,
  company: string,
  rule: ChannelRule,
  category: string = rule.default_category,
): TemplateText[] {
  const companyName = toSingleLine(company).replace(/[{}]/g, '').trim()
  const languages = LANGUAGES.filter((each) => templateLanguages(rule.template?.languages).includes(each))
  return templatePurposes.flatMap((purpose) =>
    languages.flatMap((language) => {
      const text =
        channel === 'sms' ? smsText(purpose, language, companyName) : whatsappText(purpose, language, companyName)
      if (text === undefined) return []
      return [
        {
          channel,
          purpose,
          language,
          name: templateName(purpose, language, channel),
          text,
          category: purpose === 'code' ? (rule.code_category ?? category) : category,
          has_buttons: channel === 'whatsapp' && !isReviewPurpose(purpose),
        },
      ]
    }),
  )
}

/** Returns the name of a template at the registry. At WhatsApp, all languages of a text have the same name. */
export function templateName(purpose: TemplatePurpose, language: string, channel: TemplateChannel): string {
  return channel === 'sms' ? `attestry_${purpose}_${language}` : `attestry_${purpose}`
}

/** Returns the name for the next text of a template: `attestry_invitation_v2` after `attestry_invitation`. */
export function nextTemplateName(name: string): string {
  const { base, version } = splitName(name)
  return `${base}_v${version + 1}`
}

/** Whether a name is the one of an earlier text of the same template. */
export function isEarlierName(name: string, currentName: string): boolean {
  const [earlier, current] = [splitName(name), splitName(currentName)]
  return earlier.base === current.base && earlier.version < current.version
}

function splitName(name: string): { base: string; version: number } {
  const [, base = name, version = '1'] = /^(.*)_v(\d{1,6})$/.exec(name) ?? []
  return { base, version: Number(version) }
}

function smsText(purpose: TemplatePurpose, language: Language, company: string): string | undefined {
  if (purpose === 'code') return codeText(language, company)
  if (isReviewPurpose(purpose)) return reviewText(purpose, language, company)
  const key = smsPrompts[purpose]
  if (key === undefined) return undefined
  return `${endSentence(withCompany(key, language, company))} ${promptTemplate('link', language)}`
}

/** Returns the name of the organisation, the code, and the advice not to share it. */
function codeText(language: Language, company: string): string {
  const { code, message_export } = noticeTexts(language)
  const advice = message_export!.split(/(?<=[.।]) /u).at(-1)!
  return `${company}: ${code} {code}. ${advice}`
}

/** Returns a text that neither begins nor ends with a variable, because WhatsApp rejects such texts. */
function whatsappText(purpose: TemplatePurpose, language: Language, company: string): string | undefined {
  if (isReviewPurpose(purpose)) {
    const text = reviewText(purpose, language, company)
    return text && `${text}\n\n${prompt('reply_stop', language)}`
  }
  const key = whatsappPrompts[purpose]
  if (key === undefined) return undefined
  const text = withCompany(key, language, company)
  const opening = text.startsWith('{') ? `${company}: ${text}` : text
  return `${opening}\n\n${promptTemplate('link', language)}\n${prompt('reply_stop', language)}`
}

function withCompany(key: PromptKey, language: Language, company: string): string {
  return promptTemplate(key, language).replaceAll('{company}', () => company)
}

function endSentence(text: string): string {
  return /[.।?!]$/u.test(text) ? text : `${text}.`
}
