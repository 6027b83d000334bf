import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InboundReply, InboundStatus, UserChange } from '../inbound.ts'
import { readButtonId, toStorableText } from '../message-text.ts'
import type { RegistryReport } from '../templates/register.ts'
import { type MessagingLimit, readTier } from './limits.ts'
import { readCategory, readQuality, readTemplateStatus } from './template-api.ts'
import { OPTED_OUT_CODE } from './whatsapp.ts'

/** Verifies `X-Hub-Signature-256` over the raw body. */
export function hasValidSignature(rawBody: Buffer, header: unknown, appSecret: string): boolean {
  if (typeof header !== 'string' || !header.startsWith('sha256=')) return false
  const expectedSignature = createHmac('sha256', appSecret).update(rawBody).digest()
  const actualSignature = Buffer.from(header.slice(7), 'hex')
  return actualSignature.length === expectedSignature.length && timingSafeEqual(actualSignature, expectedSignature)
}

export type WebhookItem =
  | { reply: InboundReply }
  | { status: InboundStatus }
  | { userChange: UserChange }
  | { template: RegistryReport }
  | { limit: MessagingLimit }

interface WebhookAccount {
  phone_number_id: string
  business_account_id?: string
}

/** Returns the items for the phone number and the business account in order, ignoring others. */
export function readWebhook(body: unknown, { phone_number_id, business_account_id }: WebhookAccount): WebhookItem[] {
  return asList(readField(body, 'entry')).flatMap((entry) => {
    const isOwnAccount = business_account_id !== undefined && readField(entry, 'id') === business_account_id
    return asList(readField(entry, 'changes')).flatMap((change) => {
      const value = readField(change, 'value')
      const field = asText(readField(change, 'field')) ?? ''
      if (readField(readField(value, 'metadata'), 'phone_number_id') === phone_number_id)
        return readNumberChange(field, value)
      return isOwnAccount ? readAccountChange(field, value) : []
    })
  })
}

/** Reads a change of the phone number: messages, statuses and new user IDs. */
function readNumberChange(field: string, value: unknown): WebhookItem[] {
  if (field === 'user_id_update') return asList(readField(value, 'user_id_update')).flatMap(readUserChange)
  if (field !== 'messages') return []
  return [
    ...asList(readField(value, 'messages')).flatMap((message) => [
      ...readSystemMessage(message),
      ...readMessage(message, asList(readField(value, 'contacts'))),
    ]),
    ...asList(readField(value, 'statuses')).flatMap(readStatus),
  ]
}

/** Reads a change of the business account: its templates and its messaging limit. */
function readAccountChange(field: string, value: unknown): WebhookItem[] {
  if (field === 'phone_number_quality_update') {
    const dailyLimit = readTier(readField(value, 'current_limit'))
    return dailyLimit === undefined ? [] : [{ limit: { dailyLimit, event: readEvent(value) } }]
  }
  if (field === 'business_capability_update') {
    const dailyLimit = readField(value, 'max_daily_conversation_per_phone')
    if (typeof dailyLimit !== 'number' || !Number.isSafeInteger(dailyLimit)) return []
    // -1 means that the number of people is unlimited.
    return [{ limit: { dailyLimit: dailyLimit < 0 ? null : Math.min(dailyLimit, 2 ** 31 - 1), event: null } }]
  }
  const name = asText(readField(value, 'message_template_name'))
  const languageCode = asText(readField(value, 'message_template_language'))
  if (name === undefined || languageCode === undefined) return []
  const template = { name, languageCode, registryId: readTemplateId(readField(value, 'message_template_id')) }
  if (field === 'message_template_status_update') {
    const status = readTemplateStatus(readField(value, 'event'))
    const reason = asText(readField(value, 'reason'))
    const statusReason = reason === undefined || reason === 'NONE' ? null : reason
    return status === undefined ? [] : [{ template: { ...template, status, statusReason } }]
  }
  if (field === 'message_template_quality_update')
    return [{ template: { ...template, quality: readQuality(readField(value, 'new_quality_score')) } }]
  if (field === 'template_category_update')
    return [{ template: { ...template, category: readCategory(readField(value, 'new_category')) } }]
  return []
}

/** Reads the ID of a template, which is a number in webhooks and a text in the responses of the API. */
function readTemplateId(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : readId(value)
}

function readEvent(value: unknown): string | null {
  const event = asText(readField(value, 'event'))
  return event !== undefined && /^[A-Z_]{1,40}$/.test(event) ? event : null
}

/** Reads the change of a user ID, such as after a change of the phone number. */
function readUserChange(update: unknown): WebhookItem[] {
  const ids = readField(update, 'user_id')
  const previous = readUserId(readField(ids, 'previous'))
  const current = readUserId(readField(ids, 'current'))
  return previous === undefined || current === undefined ? [] : [{ userChange: { previous, current } }]
}

/** Reads the system message about the change of a user ID. */
function readSystemMessage(message: unknown): WebhookItem[] {
  const system = readField(message, 'system')
  if (readField(message, 'type') !== 'system' || readField(system, 'type') !== 'user_changed_user_id') return []
  const previous = readUserId(readField(message, 'from_user_id'))
  const current = readUserId(readField(system, 'user_id'))
  return previous === undefined || current === undefined ? [] : [{ userChange: { previous, current } }]
}

/** Reads a message. It has the phone number of the sender, the user ID, or both. */
function readMessage(message: unknown, contacts: unknown[]): WebhookItem[] {
  const id = readId(readField(message, 'id'))
  const senderDigits = /^\+?(\d{7,15})$/.exec(asText(readField(message, 'from')) ?? '')?.[1]
  const userId = readUserId(readField(message, 'from_user_id')) ?? userIdInContacts(contacts, senderDigits)
  if (id === undefined || (senderDigits === undefined && userId === undefined)) return []
  const content = readContent(message)
  if (!content) return []
  const inReplyTo = readId(readField(readField(message, 'context'), 'id'))
  return [
    {
      reply: {
        channel: 'whatsapp',
        ...(senderDigits ? { from: `+${senderDigits}` } : {}),
        ...(userId ? { userId } : {}),
        providerId: id,
        ...(inReplyTo ? { inReplyTo } : {}),
        ...content,
      },
    },
  ]
}

/** Returns the user ID of the contact with the sender's phone number, or of the only contact if the message has no number. */
function userIdInContacts(contacts: unknown[], senderDigits: string | undefined): string | undefined {
  const contact =
    senderDigits === undefined
      ? contacts.length === 1 && contacts[0]
      : contacts.find((each) => readField(each, 'wa_id') === senderDigits)
  return readUserId(readField(contact, 'user_id'))
}

/** Reads a business-scoped user ID: a country code, a dot and up to 128 letters and digits, such as IN.13491208655302741918. */
function readUserId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{2}\.[A-Za-z0-9.]{1,140}$/.test(value) ? value : undefined
}

/** Images and voice notes count as replies that are not understood; reactions and system messages are ignored. */
function readContent(message: unknown): Pick<InboundReply, 'step' | 'value' | 'text'> | undefined {
  const type = asText(readField(message, 'type'))
  switch (type) {
    case 'text':
      return { text: asText(readField(readField(message, 'text'), 'body')) ?? '' }
    case 'button':
      return buttonReply(
        readField(readField(message, 'button'), 'payload'),
        readField(readField(message, 'button'), 'text'),
      )
    case 'interactive': {
      const interactive = readField(message, 'interactive')
      const answer = readField(interactive, 'button_reply') ?? readField(interactive, 'list_reply')
      return buttonReply(readField(answer, 'id'), readField(answer, 'title'))
    }
    case 'reaction':
    case 'system':
    case 'unsupported':
    case undefined:
      return undefined
    default:
      return { text: asText(readField(readField(message, type), 'caption')) ?? '' }
  }
}

function buttonReply(id: unknown, title: unknown): Pick<InboundReply, 'step' | 'value' | 'text'> {
  return readButtonId(asText(id) ?? '') ?? { text: asText(title) ?? '' }
}

const statuses = ['sent', 'delivered', 'read', 'failed'] as const

function readStatus(report: unknown): WebhookItem[] {
  const providerId = readId(readField(report, 'id'))
  const status = statuses.find((name) => name === readField(report, 'status'))
  if (providerId === undefined || status === undefined) return []
  const messageId = readId(readField(report, 'biz_opaque_callback_data'))
  const userId = readUserId(readField(report, 'recipient_user_id'))
  const pricing = readPricing(readField(report, 'pricing'))
  const [firstError] = asList(readField(report, 'errors'))
  const error =
    firstError === undefined
      ? undefined
      : toStorableText(`${readField(firstError, 'code')}, ${readField(firstError, 'title')}`)
  return [
    {
      status: {
        channel: 'whatsapp',
        providerId,
        status,
        ...(messageId === undefined ? {} : { messageId }),
        ...(userId === undefined ? {} : { userId }),
        ...(pricing === undefined ? {} : { pricing }),
        ...(error === undefined ? {} : { error }),
        ...(readField(firstError, 'code') === OPTED_OUT_CODE ? { stop: true } : {}),
      },
    },
  ]
}

/** Reads the category that is charged. Messages are charged unless `billable` is false. */
function readPricing(pricing: unknown): { category: string; isBillable: boolean } | undefined {
  const category = asText(readField(pricing, 'category'))
  if (category === undefined || !/^[\w-]{1,40}$/.test(category)) return undefined
  return { category, isBillable: readField(pricing, 'billable') !== false }
}

function readField(value: unknown, name: string): unknown {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? toStorableText(value) : undefined
}

/** Reads an ID assigned by the provider. */
function readId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,300}$/.test(value) ? value : undefined
}
