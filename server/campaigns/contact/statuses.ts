import { sql } from 'kysely'
import type { InboundStatus } from '../../channels/inbound.ts'
import type { Tx } from '../../platform/database/database.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import { recordSteps, type Step } from '../progress.ts'
import { hasReached, reaching } from '../stages.ts'
import type { Surroundings } from './contact.ts'
import { approachElsewhere, completeSend, heedStop, type Send } from './sends.ts'

/** What a provider reports of a message that it took. */
export interface DeliveryStatus extends InboundStatus {
  /** Whose channel it came by, where it came by one: messages of nobody else are touched. */
  orgId?: string
}

type Message = Send & { state: string; error: string | null }

const order = ['unknown', 'sent', 'delivered', 'read']

/**
 * Reports may come twice, late, in any order, and before the provider's answer to the send: a message only ever gets further.
 * Answers false for one that is not ours.
 */
export async function handleStatus(tx: Tx, around: Surroundings, report: DeliveryStatus): Promise<boolean> {
  const found = await findMessage(tx, report)
  if (!found) return false
  // What is old already stays old: repeats cost nothing more.
  if (found.state !== 'sending' && !isNews(found, report)) return true
  let candidate = (await lockCandidacy(tx, found.candidate_id))!
  let message = await readMessage(tx, found.message_id)
  if (message.state === 'sending') {
    // Whatever the provider says of it, the message did get there.
    await completeSend(tx, around, message, { fault: undefined, providerId: report.providerId })
    candidate = (await lockCandidacy(tx, found.candidate_id))!
    message = await readMessage(tx, found.message_id)
  }
  if (!isNews(message, report)) return true
  await writeReport(tx, around, message, report)
  if (report.stop) {
    await heedStop(tx, around, candidate, message)
    return true
  }
  // What answers a reply is not counted; nor does anything follow from its fate.
  if (message.contact_step === null) return true
  const [after] = await recordSteps(tx, around.clock, [stepOf(candidate, message, report, around.clock.now())])
  const lost = report.status === 'failed' || report.status === 'unanswered'
  const waits = candidate.status === 'pending' && !hasReached(candidate.stages, 'responded')
  if (lost && waits && (await takeStepBack(tx, message)))
    await approachElsewhere(tx, around, after!, message.contact_step)
  return true
}

async function findMessage(tx: Tx, { orgId, channel, providerId, messageId }: DeliveryStatus) {
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

function isNews({ state, error }: Pick<Message, 'state' | 'error'>, { status }: DeliveryStatus): boolean {
  if (!order.includes(state)) return false
  if (status === 'failed') return state === 'sent' || state === 'unknown'
  // A call that nobody took stays one that was placed, with the reason beside it.
  if (status === 'unanswered') return state === 'unknown' || (state === 'sent' && error === null)
  return order.indexOf(status) > order.indexOf(state)
}

async function writeReport(tx: Tx, { clock }: Surroundings, { message_id }: Message, report: DeliveryStatus) {
  const state = report.status === 'unanswered' ? 'sent' : report.status
  await sql`update messages set state = ${state}, error = ${report.error?.slice(0, 500) ?? null},
    provider_id = ${report.providerId}, updated_at = ${new Date(clock.now())} where message_id = ${message_id}`.execute(
    tx,
  )
}

function stepOf(before: Candidacy, message: Message, report: DeliveryStatus, now: number): Step {
  const { channel, status, call } = report
  const contactStep = message.contact_step!
  const reached = status === 'failed' ? undefined : status === 'unanswered' ? 'sent' : status
  const passed = (['sent', 'delivered', 'read'] as const).filter(
    (what) =>
      reached !== undefined &&
      order.indexOf(what) > order.indexOf(message.state) &&
      order.indexOf(what) <= order.indexOf(reached),
  )
  // It was not known to have gone out: what was left open then is counted now.
  const unknown = message.state === 'unknown'
  const placed = unknown && channel === 'voice' ? [{ outcome: 'placed' as const, seconds: 0 }] : []
  const stages = reached === undefined ? 0 : reaching(reached === 'sent' ? 'contacted' : 'delivered')
  const contact =
    unknown && reached !== undefined && (before.contact_step ?? -1) < contactStep
      ? {
          contact_step: contactStep,
          channel: before.channel ?? channel,
          started_at: before.started_at ?? new Date(now),
        }
      : {}
  return {
    before,
    now: { stages: before.stages | stages, ...contact },
    channels: status === 'failed' ? [{ channel, what: 'failed' }] : passed.map((what) => ({ channel, what })),
    followUps: unknown && reached !== undefined && contactStep > 0 ? [{ step: contactStep, what: 'sent' }] : [],
    calls: [...placed, ...(call ? [call] : [])],
  }
}

/** The step is open again, as it did not arrive after all, unless the next one has begun meanwhile. */
async function takeStepBack(tx: Tx, { candidate_id, contact_step }: Message): Promise<boolean> {
  const { rows } = await sql`
    update contacts set kind = 'contact', step = ${contact_step}, due_at = null
    where candidate_id = ${candidate_id} and step = ${contact_step! + 1} and due_at is not null returning 1`.execute(tx)
  return rows.length > 0
}
