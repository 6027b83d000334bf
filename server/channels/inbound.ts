import type { RenderedPrompt } from '../conversation/render.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Language } from '../platform/text/languages.ts'
import type { ChannelName } from './channel.ts'
import type { ProviderCost } from './provider-cost.ts'

/** A message from a candidate. */
export interface InboundReply {
  channel: ChannelName
  /** The sender's phone number; absent if the provider sends only a user ID. */
  from?: string
  /** The provider's ID of the sender, scoped to the organisation's account. */
  userId?: string
  /** The provider's message ID, used to ignore duplicates. */
  providerId: string
  /** The provider's ID of our message that this one replies to, if known. */
  inReplyTo?: string
  /** The step and value of a pressed button. */
  step?: number
  value?: string
  text?: string
}

/** A provider's report about a message or a call. */
export interface InboundStatus {
  channel: ChannelName
  providerId: string
  /** Our message ID, if the provider includes it. */
  messageId?: string
  /** The provider's ID of the recipient. */
  userId?: string
  /** `unanswered`: a call that was not answered, or a busy line. */
  status: 'sent' | 'delivered' | 'read' | 'failed' | 'unanswered'
  error?: string
  /** The send failed because the candidate has opted out at the provider. */
  stop?: boolean
  /** The amount that the provider charges, if the report contains it. */
  cost?: ProviderCost
  /** The category that WhatsApp charges for, and whether it charges at all. */
  pricing?: { category: string; isBillable: boolean }
  /** Number of billed segments of an SMS, or minutes of a call. */
  units?: number
  /** The outcome of a finished call. */
  call?: { outcome: 'answered' | 'no_answer' | 'busy' | 'failed'; seconds: number }
}

/** A person whose user ID has changed. */
export interface UserChange {
  previous: string
  current: string
}

/** Keys pressed or words spoken in a call. */
export interface CallAnswer {
  /** Identifies this answer, used to ignore duplicates. */
  providerId: string
  step: number
  /** Languages that the voice speaks; other languages have no key. */
  languages: readonly Language[]
  digits?: string
  speech?: string
}

/** Keys pressed in a call that accepts only keys. */
export interface KeypadAnswer {
  /** The provider's ID of the call. */
  callId: string
  digits: string | undefined
}

/** The next prompts in a call. */
export interface CallTurn {
  language: Language
  /** Text to say first; set only at the start of a call. */
  greeting: string | undefined
  prompts: RenderedPrompt[]
  /** Whether the conversation has ended or does not continue in this call. */
  isOver: boolean
}

/** Handles provider callbacks. Only messages and candidates of the given organisation are changed. */
export interface InboundHandler {
  reply(tx: Tx, orgId: string, reply: InboundReply): Promise<void>
  status(tx: Tx, orgId: string, report: InboundStatus): Promise<void>
  userChange(tx: Tx, orgId: string, change: UserChange): Promise<void>
  /** Returns undefined for an unknown call. Without an answer, returns the current question. */
  turn(tx: Tx, orgId: string, messageId: string, answer: CallAnswer | undefined): Promise<CallTurn | undefined>
  /**
   * Returns the question to ask in a call that accepts only keys; undefined for an unknown call. If the next question cannot be answered
   * with keys, sends it in writing and ends the call. A repeated request returns the same question.
   */
  keypadQuestion(
    tx: Tx,
    orgId: string,
    messageId: string,
    languages: readonly Language[],
  ): Promise<CallTurn | undefined>
  /** Applies the keys pressed after `keypadQuestion`. Returns whether the call continues. A repeated request has no effect. */
  keypadAnswer(
    tx: Tx,
    orgId: string,
    messageId: string,
    languages: readonly Language[],
    answer: KeypadAnswer,
  ): Promise<boolean>
}
