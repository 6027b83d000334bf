import type { EmailBrand } from '../branding/email-brand.ts'
import type { RenderedPrompt } from '../conversation/render.ts'
import type { Language } from '../platform/text/languages.ts'
import type { ReviewPurpose } from './templates/template.ts'

export const channelNames = ['whatsapp', 'voice', 'sms', 'email'] as const
export type ChannelName = (typeof channelNames)[number]

/** The candidate field that holds a channel's address. */
export const addressField = { whatsapp: 'phone', voice: 'phone', sms: 'phone', email: 'email' } as const

/** A message to a candidate or a reviewer. */
export interface OutgoingMessage {
  message_id: string
  org_id: string
  /** A phone number or an email address. */
  to: string
  name: string
  language: Language
  /** The prompts in order; the last one may be a question. */
  prompts: RenderedPrompt[]
  /** The candidate's personal link, included in every written message. */
  link: string
  /** The link with which the candidate opts out, included in every email. */
  unsubscribeUrl: string
  company: string
  title: string
  /** Estimated duration of the conversation. */
  minutes: number
  /** 0 for the first message, then 1, 2, … for the follow-ups; absent in a response to a reply. */
  followUpNumber?: number
  /** Whether the candidate asked for this contact. */
  isRequested: boolean
  /** Whether the message asks for consent, and not a later question. */
  asksConsent: boolean
  /** Whether the message contains a confirmation code. */
  isCode: boolean
  /** The confirmation code. */
  code?: string
  /** Set in messages to reviewers: the purpose of the text, and the name of the student. */
  review?: { purpose: ReviewPurpose; student: string }
  /** The look of emails; undefined if the organisation has not set it, and for other channels. */
  brand?: EmailBrand | undefined
}

/**
 * Why a send failed.
 * - `rejected`: the provider rejected the message (credentials, template, content); another channel may work
 * - `unreachable`: the candidate cannot be reached on this channel
 * - `stopped`: the candidate has opted out at the provider, which applies to the whole organisation
 * - `busy`: nothing was sent; the message is retried later
 * - `unknown`: the message may have been sent; it is not retried
 */
export type SendErrorReason = 'rejected' | 'unreachable' | 'stopped' | 'busy' | 'unknown'

export class SendError extends Error {
  readonly reason: SendErrorReason
  /** Seconds for which the organisation must not send anything to a busy provider. */
  readonly retryAfter: number | undefined
  /** Whether the email address does not exist. */
  readonly isUnknownAddress: boolean

  constructor(reason: SendErrorReason, message: string, retryAfter?: number, isUnknownAddress = false) {
    super(message)
    this.reason = reason
    this.retryAfter = retryAfter
    this.isUnknownAddress = isUnknownAddress
  }
}

/** Sends messages through a provider. Errors other than `SendError` count as an unknown outcome. */
export interface ChannelAdapter {
  readonly name: ChannelName
  /** Sends the message with the organisation's credentials. */
  send(message: OutgoingMessage, credentials: unknown, signal: AbortSignal): Promise<AcceptedMessage>
}

/** A message that the provider accepted. */
export interface AcceptedMessage {
  /** The provider's ID of the message. */
  providerId: string | undefined
  /** ID or name of the registered template that was used. */
  templateId?: string
}

/** The adapter of every channel. */
export type ChannelAdapters = Record<ChannelName, ChannelAdapter>
