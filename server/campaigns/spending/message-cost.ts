import { sql } from 'kysely'
import type { ChannelName, OutgoingMessage } from '../../channels/channel.ts'
import { findCredentials } from '../../channels/credentials.ts'
import type { InboundStatus } from '../../channels/inbound.ts'
import { fetchMessageCost } from '../../channels/message-cost.ts'
import { categoryOf, rulesFor } from '../../channels/rules.ts'
import { sentSmsText } from '../../channels/sms-text.ts'
import { categoryInSettings } from '../../channels/templates/render.ts'
import type { RegisteredTemplate } from '../../channels/templates/template.ts'
import type { Context } from '../../context.ts'
import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import { type Candidacy, findCandidacy } from '../candidacy.ts'
import { convert, findPrice, getSpendingSettings, loadDefaultPrices } from './prices.ts'
import { setMessageCost } from './spending.ts'

/** A message with the fields that its price depends on. */
interface PricedMessage {
  org_id: string
  channel: ChannelName
  contact_step: number | null
  is_code: boolean
}

/** UTF-16 code units that fit into one SMS, and into each segment of a longer one. */
const SEGMENT_LENGTHS = { ascii: { single: 160, part: 153 }, unicode: { single: 70, part: 67 } }

/** Returns the number of segments that an SMS is billed as. */
export function countSegments(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: tests for ASCII
  const { single, part } = /^[\x00-\x7f]*$/.test(text) ? SEGMENT_LENGTHS.ascii : SEGMENT_LENGTHS.unicode
  return text.length <= single ? 1 : Math.ceil(text.length / part)
}

/**
 * Returns the estimated cost of a message that is about to be sent, in millionths. Messages without a price, and SMS that are refused before
 * they are sent, cost nothing.
 */
export async function estimateMessageCost(
  { db, vault }: Pick<Context, 'db' | 'vault'>,
  message: PricedMessage,
  candidate: Pick<Candidacy, 'mode' | 'phone'>,
  outgoingMessage: OutgoingMessage,
): Promise<number> {
  const settings = await findCredentials(db.queries, vault, message.org_id, message.channel)
  const category = categoryOfMessage(message, candidate.phone, categoryInSettings(outgoingMessage, settings))
  const unitPrice = await findUnitPrice(db.queries, message, candidate, category)
  if (unitPrice === 0) return 0
  if (message.channel !== 'sms') return unitPrice * loadDefaultPrices().estimated_units[message.channel]
  const text = sentSmsText(outgoingMessage, settings)
  return text === undefined ? 0 : unitPrice * countSegments(text)
}

async function findUnitPrice(
  queries: Queries,
  { org_id: orgId, channel }: PricedMessage,
  { mode, phone }: Pick<Candidacy, 'mode' | 'phone'>,
  category: string,
): Promise<number> {
  const { prices } = await getSpendingSettings(queries, { orgId, mode })
  return findPrice(prices, channel, phone, category) ?? 0
}

/** Responses on WhatsApp are service messages, because they are sent within 24 hours of a reply. */
function categoryOfMessage(
  { channel, contact_step, is_code }: PricedMessage,
  phone: string | null,
  category: string | undefined,
): string {
  if (channel === 'whatsapp' && contact_step === null && !is_code) return 'service'
  return categoryOf(rulesFor(phone).channels[channel], is_code, category)
}

interface StoredMessage extends PricedMessage {
  /** The registered ID of the text that the message was sent with. */
  template_id: string | null
  message_id: string
  candidate_id: string
  provider_id: string | null
  cost_source: string | null
  mode: 'test' | 'live'
}

type CostDeps = Pick<Context, 'clock' | 'vault' | 'queue'>

/**
 * Applies the cost in a provider's report: an amount, the category of a WhatsApp message, or the number of billed units. If the report has
 * no amount, a job requests it from the provider.
 */
export async function recordReportedCost(tx: Tx, deps: CostDeps, orgId: string, report: InboundStatus): Promise<void> {
  const message = await findMessage(tx, orgId, report)
  if (!message) return
  const { clock, vault } = deps
  const { cost, pricing, units, status, channel } = report
  const { prices } = await getSpendingSettings(tx, { orgId, mode: message.mode })
  const amount = cost && convert(prices, cost.amount, cost.currency)
  if (amount !== undefined) return setMessageCost(tx, clock, message.message_id, amount, 'reported')
  if (channel === 'whatsapp') {
    if (pricing === undefined && status !== 'failed') return
    const isFree = status === 'failed' || !pricing?.isBillable
    const price = isFree ? 0 : await priceOf(pricing!.category)
    return setMessageCost(tx, clock, message.message_id, price, 'reported')
  }
  if (units !== undefined)
    await setMessageCost(tx, clock, message.message_id, units === 0 ? 0 : units * (await priceOf()), 'estimate')
  const isFinal = status === 'delivered' || status === 'failed' || status === 'unanswered'
  if (isFinal && message.cost_source !== 'reported' && (channel === 'sms' || channel === 'voice'))
    await enqueueFetch(tx, deps, message.message_id, 0)

  async function priceOf(reportedCategory?: string) {
    const candidate = (await findCandidacy(tx, message!.candidate_id))!
    const category = reportedCategory ?? (await categoryOfSentMessage(tx, vault, message!, candidate.phone))
    return findUnitPrice(tx, message!, candidate, category)
  }
}

async function categoryOfSentMessage(
  tx: Tx,
  vault: Context['vault'],
  message: StoredMessage,
  phone: string | null,
): Promise<string> {
  const settings = await findCredentials(tx, vault, message.org_id, message.channel)
  const { registered_templates = [], category } = (settings ?? {}) as {
    registered_templates?: RegisteredTemplate[]
    category?: string
  }
  const template = registered_templates.find(
    ({ registry_id }) => registry_id !== null && registry_id === message.template_id,
  )
  return categoryOfMessage(message, phone, template?.category ?? category)
}

async function findMessage(
  tx: Tx,
  orgId: string,
  { channel, providerId, messageId }: InboundStatus,
): Promise<StoredMessage | undefined> {
  const { rows } = await sql<StoredMessage>`
    select ${messageColumns} from messages
    where org_id = ${orgId} and channel = ${channel} and direction = 'out' and mode = 'live'
      and ${messageId === undefined ? sql`provider_id = ${providerId}` : sql`message_id = ${messageId}`} limit 1`.execute(
    tx,
  )
  return rows[0]
}

const messageColumns = sql`message_id, candidate_id, org_id, mode, channel, contact_step, is_code, provider_id, template_id, cost_source`

/** Providers compute the cost some time after the delivery. After the last delay, the estimate remains. */
const FETCH_DELAYS_MS = [MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR]
const FETCH_TIMEOUT_MS = 20 * SECOND

/** Requests the cost of a message from its provider. */
export const fetchCostJob = defineJob<{ message_id: string; attempt: number }>('campaigns.message-cost', {
  concurrency: 2,
  retries: 5,
  retryDelaySeconds: 60,
  timeoutSeconds: 60,
  unique: true,
})

async function enqueueFetch(
  tx: Tx,
  { queue, clock }: Pick<CostDeps, 'queue' | 'clock'>,
  messageId: string,
  attempt: number,
): Promise<void> {
  const delayMs = FETCH_DELAYS_MS[attempt]
  if (delayMs === undefined) return
  const payload = { message_id: messageId, attempt }
  await queue.enqueue(tx, fetchCostJob, payload, { at: clock.now() + delayMs, key: messageId })
}

/** Requests the cost of a message from its provider, and tries again later if the provider does not know it yet. */
export async function fetchCost(
  context: Pick<Context, 'db' | 'vault' | 'clock' | 'queue'>,
  { message_id, attempt }: { message_id: string; attempt: number },
): Promise<void> {
  const { db, vault, clock } = context
  const { rows } = await sql<StoredMessage>`
    select ${messageColumns} from messages where message_id = ${message_id}`.execute(db.queries)
  const message = rows[0]
  if (!message?.provider_id || message.cost_source === 'reported') return
  const { org_id: orgId, channel, mode, provider_id } = message
  const credentials = await findCredentials(db.queries, vault, orgId, channel)
  const cost = await fetchMessageCost(channel, credentials, provider_id, AbortSignal.timeout(FETCH_TIMEOUT_MS))
  if (cost === 'unsupported') return
  await db.transaction(async (tx) => {
    const { prices } = await getSpendingSettings(tx, { orgId, mode })
    const amount = cost === 'pending' ? undefined : convert(prices, cost.amount, cost.currency)
    if (amount !== undefined) await setMessageCost(tx, clock, message_id, amount, 'reported')
    else if (cost === 'pending') await enqueueFetch(tx, context, message_id, attempt + 1)
  })
}
