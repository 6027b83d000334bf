import type { Rendered } from '../conversation/render.ts'
import type { Tx } from '../platform/database/database.ts'
import type { Language } from '../questions/questions.ts'
import type { ChannelName } from './channel.ts'

/** Somebody wrote. */
export interface InboundReply {
  channel: ChannelName
  /** The phone number that it came from. */
  from: string
  /** The provider's name for it: the same one again does nothing. */
  providerId: string
  /** The provider's name for the message of ours that it answers, where it says so. */
  answers?: string
  /** Of a button, with the step that it belongs to. */
  step?: number
  value?: string
  text?: string
}

/** What became of a message. */
export interface InboundStatus {
  channel: ChannelName
  providerId: string
  /** Our own name for it, where the provider gives it back. */
  messageId?: string
  /** `unanswered`: the phone rang, or was engaged. */
  status: 'sent' | 'delivered' | 'read' | 'failed' | 'unanswered'
  error?: string
  /** It failed because the person has told the provider STOP. */
  stop?: boolean
  /** Of a call that is over. */
  call?: { outcome: 'answered' | 'no_answer' | 'busy' | 'failed'; seconds: number }
}

/** What a person in a call pressed or said. */
export interface CallAnswer {
  /** Names this answer: the same one again does nothing. */
  providerId: string
  step: number
  digits?: string
  speech?: string
}

/** What is said next in a call. */
export interface CallTurn {
  language: Language
  /** The candidate is greeted: nothing was said in this call yet. */
  greeting: string | undefined
  prompts: Rendered[]
  /** The conversation is over, or is not to go on here. */
  over: boolean
}

/** Whoever has conversations is told here of what providers report. Nothing of another organisation is ever touched. */
export interface Receiver {
  reply(tx: Tx, orgId: string, reply: InboundReply): Promise<void>
  status(tx: Tx, orgId: string, report: InboundStatus): Promise<void>
  /** Undefined where no such call was placed. Without an answer the conversation is told as it stands. */
  turn(tx: Tx, orgId: string, messageId: string, answer: CallAnswer | undefined): Promise<CallTurn | undefined>
}
