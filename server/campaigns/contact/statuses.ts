import { sql } from 'kysely'
import type { InboundStatus } from '../../channels/inbound.ts'
import type { Tx } from '../../platform/database/database.ts'
import { redactAddresses } from '../../platform/text/redact-addresses.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import { type CandidateTransition, recordTransitions } from '../progress.ts'
import { hasReached, stagesUpTo } from '../stages.ts'
import type { ContactDeps } from './contact.ts'
import { publishMessageEvents } from './message-changes.ts'
import { applyOptOut, type ClaimedMessage, completeSend, contactOnNextChannel } from './sends.ts'

/** A provider's report about a message it accepted. */
export interface MessageDeliveryStatus extends InboundStatus {
  /** The organisation whose webhook received the report. Only its messages match. */
  orgId?: string
}

type Message = ClaimedMessage & { state: string; error: string | null; template_id: string | null }

const stateOrder = ['unknown', 'sent', 'delivered', 'read']

/**
 * Applies a provider's report to its message. Reports may be duplicated, late, out of order or earlier than the response to the
 * send, so a message's state only ever advances. Returns the ID of the
 * candidate; undefined for an unknown message.
 */
export async function handleDeliveryStatus(
  tx: Tx,
  deps: ContactDeps,
  report: MessageDeliveryStatus,
): Promise<string | undefined> {
  const storedMessage = await findMessage(tx, report)
  if (!storedMessage) return undefined
  // Skip duplicates before locking anything.
  if (storedMessage.state !== 'sending' && !advancesState(storedMessage, report)) return storedMessage.candidate_id
  let candidate = (await lockCandidacy(tx, storedMessage.candidate_id))!
  let message = await readMessage(tx, storedMessage.message_id)
  if (message.state === 'sending') {
    // Any report means that the provider has accepted the message.
    await completeSend(tx, deps, message, { errorReason: undefined, providerId: report.providerId })
    candidate = (await lockCandidacy(tx, storedMessage.candidate_id))!
    message = await readMessage(tx, storedMessage.message_id)
  }
  if (!advancesState(message, report)) return storedMessage.candidate_id
  await writeReport(tx, deps, message, report)
  await publishMessageEvents(tx, deps.clock, candidate, message, {
    events: report.status === 'failed' ? ['failed'] : newEventsOf(message, report),
    templateId: message.template_id,
    error: report.error,
  })
  if (report.stop) {
    await applyOptOut(tx, deps, candidate, message)
    return storedMessage.candidate_id
  }
  // Responses to replies are not counted and have no fallback channel.
  if (message.contact_step === null) return storedMessage.candidate_id
  const [updatedCandidate] = await recordTransitions(tx, deps.clock, [
    transitionFor(candidate, message, report, deps.clock.now()),
  ])
  const isUndelivered = report.status === 'failed' || report.status === 'unanswered'
  const isAwaitingReply =
    candidate.status === 'pending' && (message.requested || !hasReached(candidate.stages, 'responded'))
  if (isUndelivered && isAwaitingReply && (await reopenContact(tx, message)))
    await contactOnNextChannel(tx, deps, updatedCandidate!, message)
  return storedMessage.candidate_id
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
    select message_id, candidate_id, org_id, channel, contact_step, requested, is_code, personal, attempts, created_at, state, error, template_id
    from messages where message_id = ${messageId}`.execute(tx)
  return rows[0]!
}

function advancesState({ state, error }: Pick<Message, 'state' | 'error'>, { status }: MessageDeliveryStatus): boolean {
  if (!stateOrder.includes(state)) return false
  if (status === 'failed') return state === 'sent' || state === 'unknown'
  // An unanswered call stays `sent`, with the reason in `error`.
  if (status === 'unanswered') return state === 'unknown' || (state === 'sent' && error === null)
  return stateOrder.indexOf(status) > stateOrder.indexOf(state)
}

async function writeReport(tx: Tx, { clock }: ContactDeps, { message_id }: Message, report: MessageDeliveryStatus) {
  const state = report.status === 'unanswered' ? 'sent' : report.status
  await sql`update messages set state = ${state}, error = ${report.error === undefined ? null : redactAddresses(report.error).slice(0, 500)},
    provider_id = ${report.providerId}, updated_at = ${new Date(clock.now())},
    sent_at = coalesce(sent_at, ${state === 'failed' ? null : new Date(clock.now())}) where message_id = ${message_id}`.execute(
    tx,
  )
}

function reachedStateOf({ status }: MessageDeliveryStatus): 'sent' | 'delivered' | 'read' | undefined {
  return status === 'failed' ? undefined : status === 'unanswered' ? 'sent' : status
}

/** Returns the states that a report adds to those that the message has reached before. */
function newEventsOf({ state }: Message, report: MessageDeliveryStatus): ('sent' | 'delivered' | 'read')[] {
  const reachedState = reachedStateOf(report)
  return (['sent', 'delivered', 'read'] as const).filter(
    (event) =>
      reachedState !== undefined &&
      stateOrder.indexOf(event) > stateOrder.indexOf(state) &&
      stateOrder.indexOf(event) <= stateOrder.indexOf(reachedState),
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
  const reachedState = reachedStateOf(report)
  const newEvents = newEventsOf(message, report)
  // A send with an unknown outcome was not counted, so it is counted now.
  const wasUnknown = message.state === 'unknown'
  const placedCalls = wasUnknown && channel === 'voice' ? [{ outcome: 'placed' as const, seconds: 0 }] : []
  const reachedStages = reachedState === undefined ? 0 : stagesUpTo(reachedState === 'sent' ? 'contacted' : 'delivered')
  const contactChanges =
    wasUnknown && reachedState !== undefined && (before.contact_step ?? -1) < followUpNumber
      ? {
          contact_step: followUpNumber,
          channel: before.channel ?? channel,
          started_at: before.started_at ?? new Date(now),
        }
      : {}
  return {
    before,
    changes: { stages: before.stages | reachedStages, ...contactChanges },
    channels: status === 'failed' ? [{ channel, event: 'failed' }] : newEvents.map((event) => ({ channel, event })),
    followUps:
      wasUnknown && reachedState !== undefined && followUpNumber > 0 && !message.requested
        ? [{ followUpNumber, event: 'sent' }]
        : [],
    calls: [...placedCalls, ...(call ? [call] : [])],
  }
}

/**
 * Reopens the contact of an undelivered message, unless the next follow-up has started or the candidate has replied to a contact that
 * they asked for. Returns whether the contact was reopened.
 */
async function reopenContact(tx: Tx, { candidate_id, contact_step, requested }: Message): Promise<boolean> {
  const { rows } = await sql`
    update contacts set kind = 'contact', step = ${contact_step}, due_at = null
    where candidate_id = ${candidate_id} and step = ${contact_step! + 1} and due_at is not null and requested = ${requested} returning 1`.execute(
    tx,
  )
  return rows.length > 0
}
