import { LANGUAGES } from '../platform/text/languages.ts'
import type { ChannelName } from './channel.ts'
import type { ChannelAccount } from './credentials.ts'
import { rulesFor } from './rules.ts'
import type { ExotelSettings, VoiceSettings, WhatsAppSettings } from './settings.ts'
import { templatePurposes } from './sms-templates.ts'

/** A reason for which messages of a channel are refused or may be refused, and what to do. */
export interface ChannelFinding {
  channel: ChannelName
  /** `refused`: no message of the channel can be sent. `warning`: some messages may not arrive, or not as intended. */
  severity: 'refused' | 'warning'
  problem: string
  remedy: string
}

const INDIAN_PREFIX = '+91'

type CheckedAccount = Pick<ChannelAccount, 'channel' | 'credentials'>

/** Checks the settings of a channel against the rules for messages to India. */
export function checkChannel(
  { channel, credentials }: CheckedAccount,
  publicUrl: string | undefined,
): ChannelFinding[] {
  const findings: ChannelFinding[] = []
  const add = (severity: ChannelFinding['severity'], problem: string, remedy: string) =>
    findings.push({ channel, severity, problem, remedy })
  if (channel === 'sms' && credentials.provider === 'exotel') {
    const { listed_hosts, templates } = credentials as unknown as ExotelSettings
    const host = publicUrl && URL.canParse(publicUrl) ? new URL(publicUrl).hostname : undefined
    if (host === undefined)
      add('refused', 'PUBLIC_URL is not set, so messages have no link.', 'Set PUBLIC_URL to the public https URL.')
    else if (!listed_hosts.includes(host))
      add(
        'refused',
        `The host ${host} of PUBLIC_URL is not in listed_hosts; operators block links to other hosts.`,
        'Add the host to the whitelist of the DLT portal and to listed_hosts.',
      )
    for (const purpose of templatePurposes) {
      const languages = missingLanguages(templates.filter((each) => each.purpose === purpose).map((t) => t.language))
      const first = templates.find((each) => each.purpose === purpose)
      if (first && languages.length > 0)
        add(
          'warning',
          `Candidates in ${languages.join(', ')} get the template for ${purpose} in ${first.language}.`,
          'Register the text in these languages and add it to templates.',
        )
    }
  } else if (channel === 'sms')
    add(
      'warning',
      'Twilio delivers SMS to India from changing foreign numbers, without a registered header; operators may block them.',
      'Set up Exotel for SMS to India.',
    )
  if (channel === 'voice') {
    const { from } = credentials as unknown as VoiceSettings
    const { categories, default_category } = rulesFor(INDIAN_PREFIX).channels.voice
    const prefixes = Object.values(categories).flatMap(({ number_prefixes = [] }) => number_prefixes)
    if (!prefixes.some((prefix) => from?.startsWith(`${INDIAN_PREFIX}${prefix}`)))
      add(
        'warning',
        `Calls to India from ${from} break the numbering rules; ${default_category} calls need a number that begins with ${categories[default_category]!.number_prefixes?.join(' or ')}.`,
        'Leave voice out of workflows for India, or call only people who agreed to calls, after your counsel has approved it.',
      )
    if (!publicUrl)
      add(
        'refused',
        'PUBLIC_URL is not set, so Twilio cannot send callbacks.',
        'Set PUBLIC_URL to the public https URL.',
      )
  }
  if (channel === 'whatsapp') {
    const { template } = credentials as unknown as Partial<WhatsAppSettings>
    const languages = missingLanguages((template?.languages ?? []).map((code) => code.split('_')[0]!))
    if (template && languages.length > 0)
      add(
        'warning',
        `Candidates in ${languages.join(', ')} get the first message in ${template.languages[0]}.`,
        `Have the template ${template.name} approved in these languages and add them to template.languages.`,
      )
  }
  return findings
}

function missingLanguages(languages: string[]): string[] {
  return LANGUAGES.filter((language) => !languages.includes(language))
}
