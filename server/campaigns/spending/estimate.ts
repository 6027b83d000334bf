import type { OrgScope } from '../../access/caller.ts'
import { invalid } from '../../api/invalid.ts'
import { addressField, type ChannelName } from '../../channels/channel.ts'
import { findCountryRefusal } from '../../channels/country-refusal.ts'
import { availableChannels, listAccounts } from '../../channels/credentials.ts'
import { categoryOf, rulesFor } from '../../channels/rules.ts'
import { categoryInSettings } from '../../channels/templates/render.ts'
import type { Context } from '../../context.ts'
import { findMandate } from '../../mandates/mandate-rows.ts'
import type { Queries } from '../../platform/database/database.ts'
import { getWorkflow } from '../../workflows/workflows.ts'
import { fromMicros } from './money.ts'
import { findPrice, getSpendingSettings, loadDefaultPrices } from './prices.ts'

/** Candidates with the same channels and prices. */
export interface RecipientGroup {
  /** The beginning of their phone numbers, such as +91; absent if they have none. */
  phone_prefix?: string
  has_email?: boolean
  count: number
}

/** Messages of one price. */
interface EstimateLine {
  kind: 'first_message' | 'follow_up'
  channel: ChannelName
  calling_code: string | null
  category: string
  messages: number
  /** Segments of an SMS or minutes of a call, per message. */
  units: number
  /** Price of a unit; null if the price table has none. */
  price: number | null
  amount: number
}

export interface CostEstimate {
  currency: string
  lines: EstimateLine[]
  /** Cost of the first messages. */
  first_messages: number
  /** Cost of all messages if no candidate replies. */
  maximum: number
  /** Candidates who have an address for none of the channels. */
  unreachable: number
}

/**
 * Estimates the cost of a campaign: each candidate gets the first message on the first channel that is set up and that they have an address
 * for, and each follow-up on its own channel. Candidates who reply get fewer follow-ups.
 */
export async function estimateCost(
  queries: Queries,
  { config, vault }: Pick<Context, 'config' | 'vault'>,
  scope: OrgScope,
  { mandate_id, recipients }: { mandate_id: string; recipients: RecipientGroup[] },
): Promise<CostEstimate> {
  const mandate = await findMandate(queries, scope, mandate_id)
  if (!mandate)
    throw invalid([
      {
        path: 'mandate_id',
        message: 'is not a mandate of this organisation and mode; find mandate IDs with GET /mandates',
      },
    ])
  const { channels, follow_ups, languages } = await getWorkflow(queries, scope, mandate.workflow_id)
  const { prices } = await getSpendingSettings(queries, scope)
  // TEST messages are not sent, so the estimate assumes that every channel is set up.
  const usableChannels =
    scope.mode === 'test' ? undefined : await availableChannels(queries, scope.orgId, config.smtpUrl !== undefined)
  const settings = await settingsByChannel(queries, vault, scope)
  const lines = new Map<string, EstimateLine>()
  let unreachable = 0
  for (const group of recipients) {
    const isUsable = (channel: ChannelName) =>
      (addressField[channel] === 'phone'
        ? group.phone_prefix !== undefined && mayReach(channel, group.phone_prefix)
        : group.has_email === true) &&
      (usableChannels?.has(channel) ?? true)
    const firstChannel = channels.find(isUsable)
    if (!firstChannel) {
      unreachable += group.count
      continue
    }
    addLine(0, firstChannel, group)
    follow_ups.forEach(({ channel }, index) => {
      addLine(index + 1, isUsable(channel) ? channel : firstChannel, group)
    })
  }
  const allLines = [...lines.values()]
  const sum = (list: EstimateLine[]) => roundAmount(list.reduce((total, { amount }) => total + amount, 0))
  return {
    currency: prices.currency,
    lines: allLines,
    first_messages: sum(allLines.filter(({ kind }) => kind === 'first_message')),
    maximum: sum(allLines),
    unreachable,
  }

  /** Whether the provider of a channel can send messages to the country. */
  function mayReach(channel: ChannelName, phonePrefix: string): boolean {
    const channelSettings = settings.get(channel)
    return channelSettings === undefined || !findCountryRefusal(channel, channelSettings, phonePrefix)
  }

  function addLine(followUpNumber: number, channel: ChannelName, { phone_prefix, count }: RecipientGroup) {
    const kind = followUpNumber === 0 ? 'first_message' : 'follow_up'
    const phone = addressField[channel] === 'phone' ? phone_prefix! : null
    const { calling_code, channels: rules } = rulesFor(phone)
    const message = { followUpNumber, isCode: false, isRequested: false, language: languages[0]! }
    const category = categoryOf(rules[channel], false, categoryInSettings(message, settings.get(channel)))
    const price = findPrice(prices, channel, phone, category)
    const units = loadDefaultPrices().estimated_units[channel]
    const key = `${kind} ${channel} ${calling_code} ${category} ${price}`
    const line = lines.get(key) ?? {
      kind,
      channel,
      calling_code,
      category,
      messages: 0,
      units,
      price: price === undefined ? null : fromMicros(price),
      amount: 0,
    }
    line.messages += count
    line.amount = fromMicros((price ?? 0) * units * line.messages)
    lines.set(key, line)
  }
}

/** Removes the rounding error of adding decimal fractions. */
function roundAmount(amount: number): number {
  return Math.round(amount * 1e6) / 1e6
}

/** Returns the settings of the channels with the registered templates; none in TEST mode, which has no settings. */
async function settingsByChannel(
  queries: Queries,
  vault: Context['vault'],
  { orgId, mode }: OrgScope,
): Promise<Map<ChannelName, object>> {
  if (mode === 'test') return new Map()
  const accounts = await listAccounts(queries, vault, orgId)
  return new Map(
    accounts.map(({ channel, credentials, templates }) => [
      channel,
      { ...credentials, registered_templates: templates },
    ]),
  )
}
