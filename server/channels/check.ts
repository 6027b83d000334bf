import { LANGUAGES, type Language } from '../platform/text/languages.ts'
import type { ChannelName } from './channel.ts'
import { findCountryRefusal } from './country-refusal.ts'
import type { TemplatedAccount } from './credentials.ts'
import { spokenLanguages } from './exotel/voice.ts'
import { rulesFor } from './rules.ts'
import {
  isReviewPurpose,
  type RegisteredTemplate,
  type TemplateChannel,
  templateLanguages,
  templatePurposes,
} from './templates/template.ts'
import { headerViolation, templateViolations } from './templates/violations.ts'

/** A reason for which messages of a channel are refused or may be refused, and what to do. */
export interface ChannelFinding {
  channel: ChannelName
  /** `refused`: no message of the channel can be sent. `warning`: some messages may not arrive, or not as intended. */
  severity: 'refused' | 'warning'
  problem: string
  remedy: string
}

const INDIAN_PREFIX = '+91'

type CheckedAccount = Pick<TemplatedAccount, 'channel' | 'credentials' | 'templates'>

/** Checks the settings and the registered templates of a channel against the rules for messages to India. */
export function checkChannel(
  { channel, credentials, templates }: CheckedAccount,
  publicUrl: string | undefined,
): ChannelFinding[] {
  const findings: ChannelFinding[] = []
  const add = (severity: ChannelFinding['severity'], problem: string, remedy: string) =>
    findings.push({ channel, severity, problem, remedy })
  const refusal = findCountryRefusal(channel, credentials, INDIAN_PREFIX)
  // Messages to other countries can be sent through Twilio.
  if (refusal) add(credentials.provider === undefined ? 'warning' : 'refused', refusal.problem, refusal.remedy)
  if (channel === 'sms' && hasDltRoute(credentials)) {
    const { listed_hosts } = credentials as { listed_hosts: string[] }
    const host = publicUrl && URL.canParse(publicUrl) ? new URL(publicUrl).hostname : undefined
    if (host === undefined)
      add('refused', 'PUBLIC_URL is not set, so messages have no link.', 'Set PUBLIC_URL to the public https URL.')
    else if (!listed_hosts.includes(host))
      add(
        'refused',
        `The host ${host} of PUBLIC_URL is not in listed_hosts; mobile operators block links to other hosts.`,
        'Add the host to the whitelist of the DLT portal and to listed_hosts.',
      )
    checkTemplates('sms', templates, add, credentials.from as string)
  }
  if (channel === 'voice') {
    const isExotel = credentials.provider === 'exotel'
    if (isExotel) {
      const { languages } = credentials as { languages?: Language[] }
      const missing = LANGUAGES.filter((language) => !spokenLanguages({ languages }).includes(language))
      if (missing.length > 0)
        add(
          'warning',
          `Candidates in ${missing.join(', ')} are not called.`,
          'Use another channel for them. If the voice of your Exotel account speaks a language, add it to languages.',
        )
    }
    if (!publicUrl)
      add(
        'refused',
        `PUBLIC_URL is not set, so ${isExotel ? 'Exotel' : 'Twilio'} cannot send callbacks.`,
        'Set PUBLIC_URL to the public https URL.',
      )
  }
  if (channel === 'whatsapp') checkTemplates('whatsapp', templates, add)
  return findings
}

/** Whether SMS are sent through an Indian provider, which needs registered templates. */
function hasDltRoute(credentials: Record<string, unknown>): boolean {
  return credentials.provider === 'exotel' || credentials.provider === 'gupshup'
}

function checkTemplates(
  channel: TemplateChannel,
  templates: RegisteredTemplate[],
  add: (severity: ChannelFinding['severity'], problem: string, remedy: string) => void,
  sender?: string,
): void {
  const rule = rulesFor(INDIAN_PREFIX).channels[channel]
  const registry = channel === 'sms' ? 'the DLT portal' : 'WhatsApp'
  const violationsOf = (template: RegisteredTemplate) =>
    template.is_from_settings && channel === 'whatsapp' ? [] : templateViolations(template, rule)
  const approved = templates.filter(
    (template) => template.status === 'approved' && (template.is_from_settings || violationsOf(template).length === 0),
  )
  const requiredPurposes = channel === 'sms' ? (['invitation', 'code'] as const) : (['invitation'] as const)
  for (const purpose of requiredPurposes)
    if (!approved.some((template) => template.purpose === purpose))
      add(
        purpose === 'invitation' ? 'refused' : 'warning',
        purpose === 'invitation'
          ? `No template for the ${purpose} is approved, so no first message can be sent.`
          : 'No template for codes is approved, so people cannot confirm requests about their data by SMS.',
        `Create the texts with "attestry channels templates create", register them at ${registry}, and import their IDs or status.`,
      )
  // Messages to reviewers are sent in English, so other languages are not needed.
  for (const purpose of templatePurposes.filter((each) => !isReviewPurpose(each))) {
    const ofPurpose = approved.filter((template) => template.purpose === purpose)
    const missing = templateLanguages(undefined).filter(
      (language) => !ofPurpose.some((template) => template.language === language),
    )
    if (ofPurpose[0] && missing.length > 0)
      add(
        'warning',
        `Candidates in ${missing.join(', ')} get the template for ${purpose} in ${ofPurpose[0].language}.`,
        `Register the text in these languages at ${registry}, if it supports them.`,
      )
  }
  for (const template of templates) {
    const { name, language, status, status_reason, quality } = template
    if (status === 'rejected' || status === 'paused' || status === 'disabled')
      add(
        'warning',
        `The template ${name} in ${language} is ${status}${status_reason ? `: ${status_reason}` : ''}.`,
        'Change the text and register it again; until then, it is not used.',
      )
    if (quality === 'red' || quality === 'yellow')
      add(
        'warning',
        `WhatsApp rates the quality of the template ${name} in ${language} as ${quality}; people block or report it.`,
        'Contact only people who expect the message. WhatsApp pauses templates of low quality.',
      )
    if (status !== 'approved') continue
    for (const { field, message } of violationsOf(template))
      add(
        'warning',
        `The ${field} of the template ${name} in ${language} ${message}.`,
        'Change the template and register it again; until then, it is refused.',
      )
    const senderProblem =
      sender === undefined || template.header ? undefined : headerViolation(sender, template.category)
    if (senderProblem)
      add(
        'refused',
        `The sender ${sender} of the template ${name} ${senderProblem}.`,
        'Register a header of this kind.',
      )
  }
}
