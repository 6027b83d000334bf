import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InboundReply, InboundStatus } from '../inbound.ts'
import { readButtonId, toStorableText } from '../message-text.ts'

/** Verifies `X-Hub-Signature-256` over the raw body. */
export function isSigned(rawBody: Buffer, header: unknown, appSecret: string): boolean {
  if (typeof header !== 'string' || !header.startsWith('sha256=')) return false
  const expected = createHmac('sha256', appSecret).update(rawBody).digest()
  const actual = Buffer.from(header.slice(7), 'hex')
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}

export type WebhookItem = { reply: InboundReply } | { status: InboundStatus }

/** Returns the replies and statuses for the phone number in order, ignoring other items. */
export function readWebhook(body: unknown, phoneNumberId: string): WebhookItem[] {
  return list(field(body, 'entry'))
    .flatMap((entry) => list(field(entry, 'changes')))
    .filter((change) => field(change, 'field') === 'messages')
    .map((change) => field(change, 'value'))
    .filter((value) => field(field(value, 'metadata'), 'phone_number_id') === phoneNumberId)
    .flatMap((value) => [
      ...list(field(value, 'messages')).flatMap(readMessage),
      ...list(field(value, 'statuses')).flatMap(readStatus),
    ])
}

function readMessage(message: unknown): WebhookItem[] {
  const id = readId(field(message, 'id'))
  const from = /^\+?(\d{7,15})$/.exec(text(field(message, 'from')) ?? '')?.[1]
  const content = id === undefined || from === undefined ? undefined : readContent(message)
  if (!content) return []
  const inReplyTo = readId(field(field(message, 'context'), 'id'))
  return [
    {
      reply: {
        channel: 'whatsapp',
        from: `+${from}`,
        providerId: id!,
        ...(inReplyTo ? { inReplyTo } : {}),
        ...content,
      },
    },
  ]
}

/** Images and voice notes count as replies that are not understood; reactions and system messages are ignored. */
function readContent(message: unknown): Pick<InboundReply, 'step' | 'value' | 'text'> | undefined {
  const type = text(field(message, 'type'))
  switch (type) {
    case 'text':
      return { text: text(field(field(message, 'text'), 'body')) ?? '' }
    case 'button':
      return buttonReply(field(field(message, 'button'), 'payload'), field(field(message, 'button'), 'text'))
    case 'interactive': {
      const interactive = field(message, 'interactive')
      const answer = field(interactive, 'button_reply') ?? field(interactive, 'list_reply')
      return buttonReply(field(answer, 'id'), field(answer, 'title'))
    }
    case 'reaction':
    case 'system':
    case 'unsupported':
    case undefined:
      return undefined
    default:
      return { text: text(field(field(message, type), 'caption')) ?? '' }
  }
}

function buttonReply(id: unknown, title: unknown): Pick<InboundReply, 'step' | 'value' | 'text'> {
  return readButtonId(text(id) ?? '') ?? { text: text(title) ?? '' }
}

const statuses = ['sent', 'delivered', 'read', 'failed'] as const

function readStatus(report: unknown): WebhookItem[] {
  const providerId = readId(field(report, 'id'))
  const status = statuses.find((name) => name === field(report, 'status'))
  if (providerId === undefined || status === undefined) return []
  const messageId = readId(field(report, 'biz_opaque_callback_data'))
  const [firstError] = list(field(report, 'errors'))
  const error =
    firstError === undefined ? undefined : toStorableText(`${field(firstError, 'code')}, ${field(firstError, 'title')}`)
  return [
    {
      status: {
        channel: 'whatsapp',
        providerId,
        status,
        ...(messageId === undefined ? {} : { messageId }),
        ...(error === undefined ? {} : { error }),
      },
    },
  ]
}

function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? toStorableText(value) : undefined
}

/** Reads an ID assigned by the provider. */
function readId(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,300}$/.test(value) ? value : undefined
}
