import { type ChannelName, SendError } from './channel.ts'
import { type ChannelRule, type CountryRules, mayCallFrom, rulesFor } from './rules.ts'

/** Why the provider of a channel cannot send messages to a country, and what to do. */
interface CountryRefusal {
  problem: string
  remedy: string
}

/** Indian providers, which send messages to India only. Settings without a provider are those of Twilio. */
const indianProviders: Record<string, string> = { exotel: 'Exotel', gupshup: 'Gupshup' }

/** Returns why messages of a channel to a phone number, or to numbers with a prefix, are refused before they are sent. */
export function findCountryRefusal(
  channel: ChannelName,
  credentials: unknown,
  phone: string,
): CountryRefusal | undefined {
  if (channel !== 'sms' && channel !== 'voice') return undefined
  const rules = rulesFor(phone)
  const { provider, from = '' } = (credentials ?? {}) as { provider?: string; from?: string }
  const indianProvider = provider === undefined ? undefined : indianProviders[provider]
  if (indianProvider && rules.country !== 'IN')
    return {
      problem: `${indianProvider} ${channel === 'sms' ? 'sends SMS to' : 'calls'} Indian numbers only.`,
      remedy: 'Set up Twilio for other countries.',
    }
  if (channel === 'sms') {
    const { template, sender_kinds } = rules.channels.sms
    return indianProvider || (template === undefined && sender_kinds.includes('number'))
      ? undefined
      : {
          problem: `SMS to ${nameOf(rules)} through Twilio are refused, because mobile operators require a registered header and a registered text.`,
          remedy: 'Set up Exotel or Gupshup for SMS to India, and register the texts.',
        }
  }
  if (mayCallFrom(from, rules)) return undefined
  return {
    problem: `Calls to ${nameOf(rules)} from ${from} are refused, because of the numbering rules: ${seriesText(rules.channels.voice)}.`,
    remedy: indianProvider
      ? 'Ask Exotel for a number of such a series and enter it as from.'
      : 'Set up Exotel for calls to India, or leave voice out of workflows for India.',
  }
}

function nameOf({ country, calling_code }: CountryRules): string {
  return calling_code === null ? 'other countries' : new Intl.DisplayNames('en', { type: 'region' }).of(country)!
}

/** Throws a rejection if messages of a channel to a phone number are refused. */
export function requireAllowedCountry(channel: ChannelName, credentials: unknown, phone: string): void {
  const refusal = findCountryRefusal(channel, credentials, phone)
  if (refusal) throw new SendError('rejected', `${refusal.problem} ${refusal.remedy}`)
}

/** Returns which numbers the calls of each category need. */
function seriesText({ categories }: ChannelRule): string {
  return Object.entries(categories)
    .map(
      ([name, { number_prefixes = [] }]) =>
        `${name} calls need a number that begins with ${number_prefixes.join(' or ')}`,
    )
    .join(', and ')
}
