import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InboundReply, InboundStatus } from '../inbound.ts'
import { readButtonId, storable } from '../message-text.ts'

/** `X-Hub-Signature-256` over the bytes as they came. */
export function isSigned(rawBody: Buffer, header: unknown, appSecret: string): boolean {
  if (typeof header !== 'string' || !header.startsWith('sha256=')) return false
  const expected = createHmac('sha256', appSecret).update(rawBody).digest()
  const given = Buffer.from(header.slice(7), 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export type Inbound = { reply: InboundReply } | { status: InboundStatus }

/** Everything in a webhook that concerns the number, in the order in which it came; what is of another kind is passed over. */
export function readWebhook(body: unknown, phoneNumberId: string): Inbound[] {
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

function readMessage(message: unknown): Inbound[] {
  const id = name(field(message, 'id'))
  const from = /^\+?(\d{7,15})$/.exec(text(field(message, 'from')) ?? '')?.[1]
  const said = id === undefined || from === undefined ? undefined : readContent(message)
  if (!said) return []
  const answers = name(field(field(message, 'context'), 'id'))
  return [
    { reply: { channel: 'whatsapp', from: `+${from}`, providerId: id!, ...(answers ? { answers } : {}), ...said } },
  ]
}

/** Pictures and voice notes are replies that cannot be read; a thumb or a change of number is none. */
function readContent(message: unknown): Pick<InboundReply, 'step' | 'value' | 'text'> | undefined {
  const type = text(field(message, 'type'))
  switch (type) {
    case 'text':
      return { text: text(field(field(message, 'text'), 'body')) ?? '' }
    case 'button':
      return pressed(field(field(message, 'button'), 'payload'), field(field(message, 'button'), 'text'))
    case 'interactive': {
      const interactive = field(message, 'interactive')
      const answer = field(interactive, 'button_reply') ?? field(interactive, 'list_reply')
      return pressed(field(answer, 'id'), field(answer, 'title'))
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

function pressed(id: unknown, title: unknown): Pick<InboundReply, 'step' | 'value' | 'text'> {
  return readButtonId(text(id) ?? '') ?? { text: text(title) ?? '' }
}

const statuses = ['sent', 'delivered', 'read', 'failed'] as const

function readStatus(report: unknown): Inbound[] {
  const providerId = name(field(report, 'id'))
  const status = statuses.find((name) => name === field(report, 'status'))
  if (providerId === undefined || status === undefined) return []
  const messageId = name(field(report, 'biz_opaque_callback_data'))
  const [fault] = list(field(report, 'errors'))
  const error = fault === undefined ? undefined : storable(`${field(fault, 'code')}, ${field(fault, 'title')}`)
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
  return typeof value === 'string' ? storable(value) : undefined
}

/** What the provider calls something. */
function name(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,300}$/.test(value) ? value : undefined
}
