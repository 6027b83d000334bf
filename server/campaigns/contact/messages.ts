import { sql } from 'kysely'
import type { ChannelName } from '../../channels/channel.ts'
import { rulesFor } from '../../channels/rules.ts'
import { scheduleReplies } from '../../channels/simulator/pending-replies.ts'
import { REPLY_DELAY_MS } from '../../channels/simulator/test-numbers.ts'
import { behaviourOf } from '../../channels/simulator/test-script.ts'
import type { Prompt } from '../../conversation/conversation.ts'
import { type Medium, type RenderedPrompt, render, renderFollowUp } from '../../conversation/render.ts'
import { openPersonKey } from '../../people/identity/person-key.ts'
import { type Clock, SECOND } from '../../platform/clock.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../../platform/database/database.ts'
import { vaultOf } from '../../platform/database/database-vault.ts'
import { newId } from '../../platform/ids.ts'
import type { Candidacy } from '../candidacy.ts'
import { openMessage, sealMessage } from '../personal-values.ts'
import { nextSendTime } from './contact-hours.ts'

/** Notification topic: a contact or a send may be due. */
export const CONTACT_DUE = 'contact due'

export type MessageState =
  | 'queued'
  | 'sending'
  | 'sent'
  | 'delivered'
  | 'read'
  | 'failed'
  | 'unknown'
  | 'dropped'
  | 'received'

/** A messaging channel or the candidate's page (`page`), which only receives replies. */
export type ConversationChannel = ChannelName | 'page'

export interface NewMessage {
  candidate: Candidacy
  channel: ConversationChannel
  prompts: Prompt[]
  /** A text that is not part of the conversation, such as a confirmation code, in place of prompts. */
  text?: string
  /**
   * The confirmation code in the text, which only the candidate may read: in LIVE mode, the console hides it. A message with a code is sent
   * also to people who are restricted, and while the campaign or the organisation is paused.
   */
  code?: string
  /** 0 for the first message, then 1, 2, … for the follow-ups; absent in a response to a reply. */
  followUpNumber?: number
  /** Whether the candidate asked for this contact. */
  isRequested?: boolean
  /** Whether the message is spoken in the current call, so that it is not sent. */
  inCall?: boolean
}

/**
 * Outcome of a message: the simulator, the page and calls deliver immediately; messages on other channels are queued for their
 * provider.
 */
export type QueueOutcome = 'queued' | 'delivered' | 'failed'

/** Stores outgoing messages and delivers those that need no provider. */
export async function queueMessages(tx: Tx, clock: Clock, messages: NewMessage[]): Promise<QueueOutcome[]> {
  if (messages.length === 0) return []
  const now = clock.now()
  const outcomes = messages.map(outcomeOf)
  const dueTimes = messages.map(({ candidate, channel, followUpNumber, code }, index) => {
    if (outcomes[index] !== 'queued' || channel === 'page') return null
    const kind = { channel, isResponse: followUpNumber === undefined, isCode: code !== undefined }
    return new Date(nextSendTime(candidate, kind, now))
  })
  const messageIds = messages.map(() => newId('MS_', now))
  await sql`
    insert into messages (message_id, candidate_id, campaign_id, org_id, mode, direction, channel, state, contact_step,
      requested, is_code, conversation_step, personal, error, due_at, sent_at, created_at, updated_at)
    select message_id, candidate_id, campaign_id, org_id, mode, 'out', channel, state, contact_step, requested, is_code, conversation_step, personal,
      case state when 'failed' then 'simulated: this candidate is unreachable' end, due_at,
      case state when 'delivered' then ${new Date(now)}::timestamptz end, ${new Date(now)}, ${new Date(now)}
    from unnest(${messageIds}::text[], ${messages.map(({ candidate }) => candidate.candidate_id)}::text[],
      ${messages.map(({ candidate }) => candidate.campaign_id)}::text[], ${messages.map(({ candidate }) => candidate.org_id)}::text[],
      ${messages.map(({ candidate }) => candidate.mode)}::text[], ${messages.map(({ channel }) => channel)}::text[], ${outcomes}::text[],
      ${messages.map(({ followUpNumber }) => followUpNumber ?? null)}::int[], ${messages.map(({ isRequested }) => isRequested === true)}::bool[],
      ${messages.map(({ code }) => code !== undefined)}::bool[],
      ${messages.map(({ candidate }) => candidate.state.step)}::int[],
      ${messages.map((message, index) => sealMessage(message.candidate.person_key, messageIds[index]!, renderContent(message)))}::bytea[], ${dueTimes}::timestamptz[])
      as n (message_id, candidate_id, campaign_id, org_id, mode, channel, state, contact_step, requested, is_code, conversation_step, personal, due_at)`.execute(
    tx,
  )
  const deliveredMessages = messages.filter(
    ({ channel, text }, index) => outcomes[index] === 'delivered' && channel !== 'page' && text === undefined,
  )
  await scheduleTestReplies(
    tx,
    clock,
    deliveredMessages.map(({ candidate }) => candidate),
  )
  await retainAgain(tx, messages)
  notifyAfterCommit(tx, CONTACT_DUE)
  return outcomes
}

/** Lets the retention job process the messages of ended conversations again, if it has erased the earlier ones. */
async function retainAgain(tx: Tx, messages: { candidate: Candidacy }[]): Promise<void> {
  const endedIds = messages.flatMap(({ candidate }) => (candidate.status === 'pending' ? [] : [candidate.candidate_id]))
  if (endedIds.length > 0)
    await sql`update candidate_progress set messages_erased_at = null
      where candidate_id = any (${endedIds}) and messages_erased_at is not null`.execute(tx)
}

/** Schedules the replies of simulated candidates to delivered messages. */
export async function scheduleTestReplies(tx: Tx, clock: Clock, candidates: Candidacy[]): Promise<void> {
  await scheduleReplies(
    tx,
    clock,
    candidates.flatMap((candidate) => {
      const { candidate_id, mode, state, test_clock_id } = candidate
      const behaviour = mode === 'test' && state.ending === null ? behaviourOf(candidate) : undefined
      if (!behaviour) return []
      const delayMs = Math.max(REPLY_DELAY_MS, (behaviour.reply_delay_seconds ?? 0) * SECOND)
      return [{ candidateId: candidate_id, step: state.step, delayMs, testClockId: test_clock_id }]
    }),
  )
}

function outcomeOf({ candidate, channel, inCall, code }: NewMessage): QueueOutcome {
  if (channel === 'page' || inCall) return 'delivered'
  // While a campaign is paused, responses are queued too. (First messages and follow-ups are not created at all.)
  if (candidate.mode === 'live' || (candidate.hold === 'paused' && code === undefined)) return 'queued'
  return behaviourOf(candidate)?.unreachable ? 'failed' : 'delivered'
}

const mediumOfChannel: Partial<Record<ConversationChannel, Medium>> = { email: 'email', voice: 'call', page: 'page' }

/** Returns the medium of a message. A LIVE SMS that cannot be answered has the words of an email, which do not ask for a reply. */
function mediumOf({ mode, phone }: Candidacy, channel: ConversationChannel): Medium {
  const isLinkOnlySms = channel === 'sms' && mode === 'live' && rulesFor(phone).channels.sms.use === 'link_only'
  return isLinkOnlySms ? 'email' : (mediumOfChannel[channel] ?? 'text')
}

function renderContent({
  candidate,
  channel,
  prompts,
  text,
  code,
  followUpNumber,
  isRequested,
}: NewMessage): RenderedPrompt[] {
  const { state, flow } = candidate
  if (text !== undefined)
    return [
      { step: state.step, kind: 'notice', text, choices: [], ...(code === undefined ? {} : { isCode: true, code }) },
    ]
  const medium = mediumOf(candidate, channel)
  const renderedPrompts = prompts.map((prompt) => render(prompt, state, flow, candidate, medium))
  return followUpNumber
    ? [
        renderFollowUp(isRequested ? 'requested' : followUpNumber, state.step, state.language, flow, candidate),
        ...renderedPrompts,
      ]
    : renderedPrompts
}

export interface IncomingReply {
  candidate: Candidacy
  channel: ConversationChannel
  /** The provider's message ID, used to ignore duplicates. */
  providerId?: string | undefined
  value?: string | undefined
  text?: string | undefined
}

/** Stores replies; returns for each reply whether it is new. */
export async function recordReplies(tx: Tx, clock: Clock, replies: IncomingReply[]): Promise<boolean[]> {
  const now = clock.now()
  const messageIds = replies.map(() => newId('MS_', now))
  const { rows } = await sql<{ message_id: string }>`
    insert into messages (message_id, candidate_id, campaign_id, org_id, mode, direction, channel, state, conversation_step,
      personal, provider_id, created_at, updated_at)
    select message_id, candidate_id, campaign_id, org_id, mode, 'in', channel, 'received', conversation_step, personal, provider_id,
      ${new Date(now)}, ${new Date(now)}
    from unnest(${messageIds}::text[], ${replies.map(({ candidate }) => candidate.candidate_id)}::text[],
      ${replies.map(({ candidate }) => candidate.campaign_id)}::text[], ${replies.map(({ candidate }) => candidate.org_id)}::text[],
      ${replies.map(({ candidate }) => candidate.mode)}::text[], ${replies.map(({ channel }) => channel)}::text[],
      ${replies.map(({ candidate }) => candidate.state.step)}::int[],
      ${replies.map(({ candidate, value, text }, index) => sealMessage(candidate.person_key, messageIds[index]!, { value, text }))}::bytea[], ${replies.map(({ providerId }) => providerId ?? null)}::text[])
      as n (message_id, candidate_id, campaign_id, org_id, mode, channel, conversation_step, personal, provider_id)
    on conflict do nothing returning message_id`.execute(tx)
  await retainAgain(tx, replies)
  const insertedIds = new Set(rows.map(({ message_id }) => message_id))
  return messageIds.map((id) => insertedIds.has(id))
}

export interface CandidateMessage {
  message_id: string
  candidate_id: string
  direction: 'in' | 'out'
  channel: ConversationChannel
  state: MessageState
  contact_step: number | null
  conversation_step: number
  /** Prompts of an outgoing message; value or text of an incoming one. */
  content: RenderedPrompt[] | { value?: string; text?: string }
  /** Why the message failed or is retried. */
  error: string | null
  created_at: Date
}

/** Lists a candidate's messages in both directions, oldest first. */
export async function listMessages(tx: Queries, candidateId: string): Promise<CandidateMessage[]> {
  const { rows } = await sql<
    Omit<CandidateMessage, 'content'> & { personal: Buffer | null; person_id: string; sealed_key: Buffer | null }
  >`
    select m.message_id, m.candidate_id, m.direction, m.channel, m.state, m.contact_step, m.conversation_step, m.personal, m.error,
      m.created_at, o.person_id, o.sealed_key
    from messages m join candidates c using (candidate_id) join people o on o.person_id = c.person_id
    where m.candidate_id = ${candidateId} and m.state <> 'dropped' order by m.message_id`.execute(tx)
  const [first] = rows
  if (!first) return []
  const key = openPersonKey(vaultOf(tx), first.person_id, first.sealed_key)
  return rows.map(({ personal, person_id: _, sealed_key: __, ...row }) => ({
    ...row,
    content: openMessage<CandidateMessage['content']>(key, { ...row, personal }),
  }))
}
