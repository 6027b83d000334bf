import type { Rendered } from '../conversation/render.ts'
import type { Language } from '../questions/questions.ts'

export const channelNames = ['whatsapp', 'voice', 'sms', 'email'] as const
export type ChannelName = (typeof channelNames)[number]

/** Which address a channel writes to. */
export const addressOf = { whatsapp: 'phone', voice: 'phone', sms: 'phone', email: 'email' } as const

/** A message on its way to a candidate. */
export interface Outgoing {
  message_id: string
  org_id: string
  /** A phone number or a mail address. */
  to: string
  name: string
  language: Language
  /** What is said, one after the other; the last one may ask for an answer. */
  prompts: Rendered[]
  /** The personal link, which every written message carries. */
  link: string
  company: string
  title: string
  /** 0 for the first message, then the follow-ups; absent in an answer to a reply. */
  contactStep?: number
}

/**
 * How a send went wrong.
 * - `refused`: the provider took the message for wrong (credentials, template, content): another channel may do
 * - `unreachable`: the person cannot be reached there
 * - `stopped`: the person has told the provider STOP, which holds for the organisation
 * - `busy`: nothing was sent; the same message goes out later
 * - `unknown`: it may have been sent; it is not repeated
 */
export type SendFault = 'refused' | 'unreachable' | 'stopped' | 'busy' | 'unknown'

export class SendError extends Error {
  readonly fault: SendFault
  /** Seconds for which a busy provider wants to be left alone by the whole organisation, not by this message only. */
  readonly retryAfter: number | undefined

  constructor(fault: SendFault, message: string, retryAfter?: number) {
    super(message)
    this.fault = fault
    this.retryAfter = retryAfter
  }
}

/** A way to reach people. Any error that is not a `SendError` counts as an unknown outcome. */
export interface Channel {
  readonly name: ChannelName
  /** Hands the message to the provider; answers the provider's name for it. `credentials` are those the organisation saved. */
  send(message: Outgoing, credentials: unknown, signal: AbortSignal): Promise<{ providerId: string | undefined }>
}

const open = new Map<ChannelName, Channel>()

/** Adapters make themselves known here; the last one of a name serves. */
export function registerChannel(channel: Channel): void {
  open.set(channel.name, channel)
}

export function findChannel(name: ChannelName): Channel | undefined {
  return open.get(name)
}
