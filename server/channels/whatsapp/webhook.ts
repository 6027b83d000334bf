import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InboundReply, InboundStatus } from '../inbound.ts'
import { readButtonId, toStorableText } from '../message-text.ts'

/** Verifies `X-Hub-Signature-256` over the raw body. */
export function hasValidSignature(rawBody: Buffer, header: unknown, appSecret: string): boolean {
  if (typeof header !== 'string' || !header.startsWith('sha256=')) return false
  const expectedSignature = createHmac('sha256', appSecret).update(rawBody).digest()
  const actualSignature = Buffer.from(header.slice(7), 'hex')
  return actualSignature.length === expectedSignature.length && timingSafeEqual(actualSignature, expectedSignature)
}

export type WebhookItem = { reply: InboundReply } | { status: InboundStatus }

/** Returns the replies and statuses for the phone number in order, ignoring other items. */
export function readWebhook(body: unknown, phoneNumberId: string): WebhookItem[] {
  return asList(readField(body, 'entry'))
    .flatMap((entry) => asList(readField(entry, 'changes')))
    .filter((change) => readField(change, 'field') === 'messages')
    .map((change) => readField(change, 'value'))
    .filter((value) => readField(readField(value, 'metadata'), 'phone_number_id') === phoneNumberId)
    .flatMap((value) => [
      ...asList(readField(value, 'messages')).flatMap((message) =>
        readMessage(message, asList(readField(value, 'contacts'))),
      ),
      ...asList(readField(value, 'statuses')).flatMap(readStatus),
    ])
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
        ...(error === undefined ? {} : { error }),
      },
    },
  ]
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
