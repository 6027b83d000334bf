import { sql } from 'kysely'
import type { InboundStatus } from '../../channels/inbound.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import { type CandidateTransition, recordTransitions } from '../progress.ts'
import { hasReached, stagesUpTo } from '../stages.ts'
import type { ContactDeps } from './contact.ts'
import { applyOptOut, completeSend, contactOnNextChannel, type Send } from './sends.ts'

/** A provider's report about a message it accepted. */
export interface MessageDeliveryStatus extends InboundStatus {
  /** The organisation whose webhook received the report; limits it to that organisation's messages. */
  orgId?: string
}

type Message = Send & { state: string; error: string | null }

const stateOrder = ['unknown', 'sent', 'delivered', 'read']

/**
 * Applies a report. Reports may be duplicated, late, out of order or earlier than the response to the send, so a message's state
 * only ever advances. Returns false for an unknown message.
 */
export async function handleStatus(tx: Tx, deps: ContactDeps, report: MessageDeliveryStatus): Promise<boolean> {
  const found = await findMessage(tx, report)
  if (!found) return false
  // Skip duplicates before locking anything.
  if (found.state !== 'sending' && !advances(found, report)) return true
  let candidate = (await lockCandidacy(tx, found.candidate_id))!
  let message = await readMessage(tx, found.message_id)
  if (message.state === 'sending') {
    // Any report means that the provider has accepted the message.
    await completeSend(tx, deps, message, { errorReason: undefined, providerId: report.providerId })
    candidate = (await lockCandidacy(tx, found.candidate_id))!
    message = await readMessage(tx, found.message_id)
  }
  if (!advances(message, report)) return true
  await writeReport(tx, deps, message, report)
  if (report.stop) {
    await applyOptOut(tx, deps, candidate, message)
    return true
  }
  // Responses to replies are not counted and have no fallback channel.
  if (message.contact_step === null) return true
  const [after] = await recordTransitions(tx, deps.clock, [transitionFor(candidate, message, report, deps.clock.now())])
  const undelivered = report.status === 'failed' || report.status === 'unanswered'
  const isWaiting = candidate.status === 'pending' && !hasReached(candidate.stages, 'responded')
  if (undelivered && isWaiting && (await reopenContact(tx, message)))
    await contactOnNextChannel(tx, deps, after!, message.contact_step)
  return true
}

async function findMessage(tx: Tx, { orgId, channel, providerId, messageId }: MessageDeliveryStatus) {
  const { rows } = await sql<Pick<Message, 'candidate_id' | 'message_id' | 'state' | 'error'>>`
    select candidate_id, message_id, state, error from messages
    where channel = ${channel} and direction = 'out' and mode = 'live' and (${orgId ?? null}::text is null or org_id = ${orgId ?? null})
      and ${messageId === undefined ? sql`provider_id = ${providerId}` : sql`message_id = ${messageId}`} limit 1`.execute(
    tx,
  )
  return rows[0]
}

async function readMessage(tx: Tx, messageId: string): Promise<Message> {
  const { rows } = await sql<Message>`
    select message_id, candidate_id, org_id, channel, contact_step, content, attempts, created_at, state, error
    from messages where message_id = ${messageId}`.execute(tx)
  return rows[0]!
}

function advances({ state, error }: Pick<Message, 'state' | 'error'>, { status }: MessageDeliveryStatus): boolean {
  if (!stateOrder.includes(state)) return false
  if (status === 'failed') return state === 'sent' || state === 'unknown'
  // An unanswered call stays `sent`, with the reason in `error`.
  if (status === 'unanswered') return state === 'unknown' || (state === 'sent' && error === null)
  return stateOrder.indexOf(status) > stateOrder.indexOf(state)
}

async function writeReport(tx: Tx, { clock }: ContactDeps, { message_id }: Message, report: MessageDeliveryStatus) {
  const state = report.status === 'unanswered' ? 'sent' : report.status
  await sql`update messages set state = ${state}, error = ${report.error?.slice(0, 500) ?? null},
    provider_id = ${report.providerId}, updated_at = ${new Date(clock.now())} where message_id = ${message_id}`.execute(
    tx,
  )
}

function transitionFor(
  before: Candidacy,
  message: Message,
  report: MessageDeliveryStatus,
  now: number,
): CandidateTransition {
  const { channel, status, call } = report
  const followUpNumber = message.contact_step!
  const reached = status === 'failed' ? undefined : status === 'unanswered' ? 'sent' : status
  const passed = (['sent', 'delivered', 'read'] as const).filter(
    (what) =>
      reached !== undefined &&
      stateOrder.indexOf(what) > stateOrder.indexOf(message.state) &&
      stateOrder.indexOf(what) <= stateOrder.indexOf(reached),
  )
  // The outcome of the send was unknown, so the send itself is counted now.
  const wasUnknown = message.state === 'unknown'
  const placed = wasUnknown && channel === 'voice' ? [{ outcome: 'placed' as const, seconds: 0 }] : []
  const stages = reached === undefined ? 0 : stagesUpTo(reached === 'sent' ? 'contacted' : 'delivered')
  const contact =
    wasUnknown && reached !== undefined && (before.contact_step ?? -1) < followUpNumber
      ? {
          contact_step: followUpNumber,
          channel: before.channel ?? channel,
          started_at: before.started_at ?? new Date(now),
        }
      : {}
  return {
    before,
    changes: { stages: before.stages | stages, ...contact },
    channels: status === 'failed' ? [{ channel, what: 'failed' }] : passed.map((what) => ({ channel, what })),
    followUps:
      wasUnknown && reached !== undefined && followUpNumber > 0 ? [{ step: followUpNumber, what: 'sent' }] : [],
    calls: [...placed, ...(call ? [call] : [])],
  }
}

/** Reopens the contact of an undelivered message, unless the next follow-up has started; returns whether it did. */
async function reopenContact(tx: Tx, { candidate_id, contact_step }: Message): Promise<boolean> {
  const { rows } = await sql`
    update contacts set kind = 'contact', step = ${contact_step}, due_at = null
    where candidate_id = ${candidate_id} and step = ${contact_step! + 1} and due_at is not null returning 1`.execute(tx)
  return rows.length > 0
}
