import { sql } from 'kysely'
import type { ChannelName } from '../../channels/channel.ts'
import { planTurns } from '../../channels/simulator/pending-replies.ts'
import { partOf } from '../../channels/simulator/test-numbers.ts'
import type { Prompt } from '../../conversation/conversation.ts'
import { type Rendered, render, renderFollowUp } from '../../conversation/render.ts'
import type { Clock } from '../../platform/clock.ts'
import { announce, type Queries, type Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import type { Candidacy } from '../candidacy.ts'
import { nextContactTime } from './contact-hours.ts'

/** Announced when there may be something to do at once for whoever contacts people. */
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

/** `page` is the candidate's own page, which is no way to approach anybody. */
export type Place = ChannelName | 'page'

export interface ToSay {
  candidate: Candidacy
  channel: Place
  prompts: Prompt[]
  /** Of a message that approaches the candidate; absent where it answers. */
  contactStep?: number
  /** It is said in the call that is going on, by whoever asked for it. */
  spoken?: boolean
}

/** What became of it at once: the simulator and the page deliver on the spot, everything else waits for its provider. */
export type Said = 'queued' | 'delivered' | 'failed'

/** Writes down what is to be said, and says it where that takes no other system. */
export async function say(tx: Tx, clock: Clock, list: ToSay[]): Promise<Said[]> {
  if (list.length === 0) return []
  const now = clock.now()
  const said = list.map(outcomeOf)
  const dues = list.map(({ contactStep }, index) =>
    said[index] === 'queued' ? new Date(contactStep === undefined ? now : nextContactTime(now)) : null,
  )
  await sql`
    insert into messages (message_id, candidate_id, campaign_id, org_id, mode, direction, channel, state, contact_step,
      conversation_step, content, error, due_at, created_at, updated_at)
    select message_id, candidate_id, campaign_id, org_id, mode, 'out', channel, state, contact_step, conversation_step, content,
      case state when 'failed' then 'the simulator plays somebody who cannot be reached' end, due_at, ${new Date(now)}, ${new Date(now)}
    from unnest(${list.map(() => newId('MS_', now))}::text[], ${list.map(({ candidate }) => candidate.candidate_id)}::text[],
      ${list.map(({ candidate }) => candidate.campaign_id)}::text[], ${list.map(({ candidate }) => candidate.org_id)}::text[],
      ${list.map(({ candidate }) => candidate.mode)}::text[], ${list.map(({ channel }) => channel)}::text[], ${said}::text[],
      ${list.map(({ contactStep }) => contactStep ?? null)}::int[], ${list.map(({ candidate }) => candidate.state.step)}::int[],
      ${list.map((message) => JSON.stringify(contentOf(message)))}::text[], ${dues}::timestamptz[])
      as n (message_id, candidate_id, campaign_id, org_id, mode, channel, state, contact_step, conversation_step, content, due_at)`.execute(
    tx,
  )
  const heard = list.filter(({ channel }, index) => said[index] === 'delivered' && channel !== 'page')
  await planAnswers(
    tx,
    clock,
    heard.map(({ candidate }) => candidate),
  )
  announce(tx, CONTACT_DUE)
  return said
}

/** Test numbers answer what has reached them. */
export async function planAnswers(tx: Tx, clock: Clock, candidates: Candidacy[]): Promise<void> {
  const played = candidates.filter(
    ({ mode, phone, state }) => mode === 'test' && partOf(phone) && state.ending === null,
  )
  await planTurns(
    tx,
    clock,
    played.map(({ candidate_id, state }) => ({ candidateId: candidate_id, step: state.step })),
  )
}

function outcomeOf({ candidate, channel, spoken }: ToSay): Said {
  if (channel === 'page' || spoken) return 'delivered'
  // While the campaign is paused an answer waits too; it was not paused when somebody was approached.
  if (candidate.mode === 'live' || candidate.hold === 'paused') return 'queued'
  return partOf(candidate.phone) === 'unreachable' ? 'failed' : 'delivered'
}

function contentOf({ candidate, prompts, contactStep }: ToSay): Rendered[] {
  const { state, flow } = candidate
  const said = prompts.map((prompt) => render(prompt, state.language, flow, candidate))
  return contactStep ? [renderFollowUp(contactStep, state.step, state.language, flow, candidate), ...said] : said
}

/** What a candidate said, as it came in. */
export interface Heard {
  candidate: Candidacy
  channel: Place
  /** The provider's name for it: the same message delivered twice counts once. */
  providerId?: string | undefined
  value?: string | undefined
  text?: string | undefined
}

/** Writes down what was heard; answers which of it is new. */
export async function hear(tx: Tx, clock: Clock, list: Heard[]): Promise<boolean[]> {
  const now = clock.now()
  const ids = list.map(() => newId('MS_', now))
  const { rows } = await sql<{ message_id: string }>`
    insert into messages (message_id, candidate_id, campaign_id, org_id, mode, direction, channel, state, conversation_step,
      content, provider_id, created_at, updated_at)
    select message_id, candidate_id, campaign_id, org_id, mode, 'in', channel, 'received', conversation_step, content, provider_id,
      ${new Date(now)}, ${new Date(now)}
    from unnest(${ids}::text[], ${list.map(({ candidate }) => candidate.candidate_id)}::text[],
      ${list.map(({ candidate }) => candidate.campaign_id)}::text[], ${list.map(({ candidate }) => candidate.org_id)}::text[],
      ${list.map(({ candidate }) => candidate.mode)}::text[], ${list.map(({ channel }) => channel)}::text[],
      ${list.map(({ candidate }) => candidate.state.step)}::int[],
      ${list.map(({ value, text }) => JSON.stringify({ value, text }))}::text[], ${list.map(({ providerId }) => providerId ?? null)}::text[])
      as n (message_id, candidate_id, campaign_id, org_id, mode, channel, conversation_step, content, provider_id)
    on conflict do nothing returning message_id`.execute(tx)
  const kept = new Set(rows.map(({ message_id }) => message_id))
  return ids.map((id) => kept.has(id))
}

export interface Message {
  message_id: string
  candidate_id: string
  direction: 'in' | 'out'
  channel: Place
  state: MessageState
  contact_step: number | null
  conversation_step: number
  /** Prompts one way, a value or a text the other. */
  content: Rendered[] | { value?: string; text?: string }
  /** Why it failed, or is tried again. */
  error: string | null
  created_at: Date
}

/** Everything said with a candidate, oldest first: for the page and the console's phone. */
export async function listMessages(tx: Queries, candidateId: string): Promise<Message[]> {
  const { rows } = await sql<Omit<Message, 'content'> & { content: string }>`
    select message_id, candidate_id, direction, channel, state, contact_step, conversation_step, content, error, created_at
    from messages where candidate_id = ${candidateId} and state <> 'dropped' order by message_id`.execute(tx)
  return rows.map(({ content, ...row }) => ({ ...row, content: JSON.parse(content) }))
}
