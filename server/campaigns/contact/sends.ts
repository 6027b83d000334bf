import { sql } from 'kysely'
import { addressOf, type ChannelName, findChannel, SendError, type SendFault } from '../../channels/channel.ts'
import { findCredentials, ratesOf } from '../../channels/credentials.ts'
import { restUntil, takePlace } from '../../channels/send-rate.ts'
import type { Context } from '../../context.ts'
import type { Rendered } from '../../conversation/render.ts'
import { MINUTE, SECOND } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { getWorkflow } from '../../workflows/workflows.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import { linkOf } from '../candidate-page/links.ts'
import { type CandidateChange, recordSteps, type Step } from '../progress.ts'
import { reaching } from '../stages.ts'
import { approach, declineStopped, planNext, recordContacts, type Surroundings } from './contact.ts'
import { nextContactTime } from './contact-hours.ts'
import { type MessageState, planAnswers } from './messages.ts'
import { keepStop, lockNamesakes } from './opt-outs.ts'

/** A message that is being handed to a provider. */
export interface Send {
  message_id: string
  candidate_id: string
  org_id: string
  channel: ChannelName
  contact_step: number | null
  content: string
  attempts: number
  created_at: Date
}

/** Longest that a provider is waited for, and how long after that a send whose process died is given up. */
const TIMEOUT = 20 * SECOND
const LEASE = 2 * MINUTE
/** A provider that is busy for longer than this has failed. */
const LONGEST_BUSY = 24 * 60 * MINUTE

/**
 * Takes messages that are due and marks them as being sent, before anybody sends them: whoever finds one so marked that nobody
 * works on any more knows that it may have gone out, and leaves it.
 */
export async function claimSends(tx: Tx, { clock }: Surroundings, limit: number): Promise<Send[]> {
  const now = clock.now()
  const { rows } = await sql<Send>`
    update messages set state = 'sending', attempts = attempts + 1, leased_until = ${new Date(now + LEASE)}, updated_at = ${new Date(now)}
    where message_id in (
      select m.message_id from messages m join campaigns g using (campaign_id)
      where m.state = 'queued' and m.due_at <= ${new Date(now)} and g.hold is distinct from 'paused'
        and (${nextContactTime(now) === now} or m.contact_step is null)
      order by m.due_at limit ${limit} for update of m skip locked
    )
    returning message_id, candidate_id, org_id, channel, contact_step, content, attempts, created_at`.execute(tx)
  const later = await putBack(tx, rows, now)
  return rows.filter(({ message_id }) => !later.has(message_id))
}

/** When a message is to be sent next, in epoch milliseconds, and possibly past; those of paused campaigns wait for an announcement. */
export async function soonestSend(queries: Queries): Promise<number | undefined> {
  const { rows } = await sql<{ due_at: Date }>`
    select m.due_at from messages m join campaigns g using (campaign_id)
    where m.state = 'queued' and g.hold is distinct from 'paused' order by m.due_at limit 1`.execute(queries)
  return rows[0]?.due_at.getTime()
}

/** Those who would be sent faster than their provider allows wait for their place; answers, which somebody waits for, do not. */
async function putBack(tx: Tx, claimed: Send[], now: number): Promise<Set<string>> {
  const contacts = claimed.filter(({ contact_step }) => contact_step !== null)
  if (contacts.length === 0) return new Set()
  const rates = await ratesOf(tx, [...new Set(contacts.map(({ org_id }) => org_id))])
  const later = contacts
    .map((send) => {
      const at = takePlace(send, send.message_id, rates.get(`${send.org_id} ${send.channel}`), now)
      return { id: send.message_id, at }
    })
    .filter(({ at }) => at > now)
  if (later.length > 0)
    await sql`update messages m set state = 'queued', attempts = attempts - 1, leased_until = null, due_at = n.due_at
      from unnest(${later.map(({ id }) => id)}::text[], ${later.map(({ at }) => new Date(nextContactTime(at)))}::timestamptz[])
        as n (message_id, due_at) where m.message_id = n.message_id`.execute(tx)
  return new Set(later.map(({ id }) => id))
}

export type SendOutcome =
  | { fault: undefined; providerId: string | undefined }
  | { fault: SendFault; message: string; retryAfter: number | undefined }

/** Hands one message to its provider. Outside of any transaction. */
export async function send(
  context: Pick<Context, 'db' | 'vault' | 'config' | 'clock' | 'log'>,
  message: Send,
  candidate: Candidacy,
): Promise<SendOutcome> {
  if (candidate.mode === 'test') return { fault: undefined, providerId: undefined } // the simulator is no other system
  const channel = findChannel(message.channel)
  if (!channel)
    return { fault: 'refused', message: `there is no adapter for ${message.channel}`, retryAfter: undefined }
  const signal = AbortSignal.timeout(TIMEOUT)
  try {
    const credentials = await findCredentials(context.db.queries, context.vault, message.org_id, message.channel)
    const outgoing = {
      message_id: message.message_id,
      org_id: message.org_id,
      to: candidate[addressOf[message.channel]]!,
      name: candidate.name,
      language: candidate.state.language,
      prompts: JSON.parse(message.content) as Rendered[],
      link: linkOf(context, candidate),
      company: candidate.flow.company_name,
      title: candidate.flow.title,
      ...(message.contact_step === null ? {} : { contactStep: message.contact_step }),
    }
    const { providerId } = await channel.send(outgoing, credentials, signal)
    return { fault: undefined, providerId }
  } catch (error) {
    // A provider that asks for it, or does not answer at all, is left alone for a while.
    const rest =
      error instanceof SendError && error.retryAfter ? error.retryAfter * SECOND : signal.aborted ? MINUTE : 0
    if (rest > 0) restUntil(message, context.clock.now() + rest)
    if (error instanceof SendError && error.fault === 'refused')
      context.log.warn(
        { org: message.org_id, channel: message.channel, reason: withoutNumbers(error.message) },
        'a provider refused a message: are the credentials and the template right?',
      )
    if (error instanceof SendError) return { fault: error.fault, message: error.message, retryAfter: error.retryAfter }
    return { fault: 'unknown', message: error instanceof Error ? error.message : String(error), retryAfter: undefined }
  }
}

/** Providers repeat the number in what they say of it; the log has no use for whose it is. */
function withoutNumbers(text: string): string {
  return text.slice(0, 300).replace(/\+?\d{7,}/g, '…')
}

/** Writes down what became of a send, and what follows from it. */
export async function completeSend(tx: Tx, around: Surroundings, message: Send, outcome: SendOutcome): Promise<void> {
  const candidate = (await lockCandidacy(tx, message.candidate_id))!
  const now = around.clock.now()
  if (outcome.fault === 'busy' && now - message.created_at.getTime() < LONGEST_BUSY) {
    return requeue(tx, message, now, now + busyWait(message, outcome.retryAfter), outcome.message)
  }
  const state = stateAfter(candidate, outcome)
  const { rows } = await sql`
    update messages set state = ${state}, leased_until = null, updated_at = ${new Date(now)},
      provider_id = ${outcome.fault === undefined ? (outcome.providerId ?? null) : null},
      error = ${outcome.fault === undefined ? null : outcome.message.slice(0, 500)}
    where message_id = ${message.message_id} and state = 'sending' returning 1`.execute(tx)
  if (rows.length === 0) return // given up on meanwhile
  if (outcome.fault === 'stopped') return heedStop(tx, around, candidate, message)
  if (candidate.status !== 'pending') return countLate(tx, around, candidate, message, state)
  await planAnswers(tx, around.clock, [candidate])
  if (message.contact_step === null) return
  const scope = { orgId: candidate.org_id, mode: candidate.mode }
  const workflow = await getWorkflow(tx, scope, candidate.workflow_id)
  const contact = { candidate, step: message.contact_step, channel: message.channel, tried: [], failed: [], workflow }
  if (state === 'sent' || state === 'delivered') await recordContacts(tx, around, [contact], state === 'delivered')
  else if (state === 'unknown') await planNext(tx, around, [contact])
  else await approachElsewhere(tx, around, candidate, message.contact_step, message.channel)
}

/** Who has told the provider STOP has told the organisation. */
export async function heedStop(
  tx: Tx,
  { clock }: Surroundings,
  candidate: Candidacy,
  { channel, contact_step }: Pick<Send, 'channel' | 'contact_step'>,
): Promise<void> {
  await keepStop(tx, clock, candidate)
  const namesakes = await lockNamesakes(tx, [candidate], [candidate.candidate_id])
  const failed = contact_step === null ? [] : [{ channel, what: 'failed' as const }]
  const own: Step[] = candidate.status === 'pending' ? [{ ...declineStopped(candidate), channels: failed }] : []
  await recordSteps(tx, clock, [...own, ...namesakes.map(declineStopped)])
}

/** Whoever it was for is through meanwhile: nothing follows from it, but it counts. */
async function countLate(tx: Tx, { clock }: Surroundings, before: Candidacy, message: Send, state: MessageState) {
  const { channel, contact_step: step } = message
  if (step === null || state === 'unknown') return
  const out = state !== 'failed'
  const placed: CandidateChange['calls'] = channel === 'voice' ? [{ outcome: 'placed', seconds: 0 }] : []
  await recordSteps(tx, clock, [
    {
      before,
      now: out ? { stages: before.stages | reaching(state === 'delivered' ? 'delivered' : 'contacted') } : {},
      channels:
        state === 'delivered'
          ? [
              { channel, what: 'sent' },
              { channel, what: 'delivered' },
            ]
          : [{ channel, what: out ? 'sent' : 'failed' }],
      followUps: out && step > 0 ? [{ step, what: 'sent' }] : [],
      calls: out ? placed : [...placed, ...placed.map(() => ({ outcome: 'failed' as const, seconds: 0 }))],
    },
  ])
}

/** After a failure: the next channel that this step has not tried, or what follows where there is none. */
export async function approachElsewhere(
  tx: Tx,
  around: Surroundings,
  candidate: Candidacy,
  step: number,
  failed?: ChannelName,
): Promise<void> {
  const { rows } = await sql<{ channel: ChannelName }>`
    select channel from messages where candidate_id = ${candidate.candidate_id} and contact_step = ${step}`.execute(tx)
  const tried = rows.map(({ channel }) => channel)
  await approach(tx, around, [{ candidate, step, tried, failed: failed ? [failed] : [] }])
}

function stateAfter({ mode }: Candidacy, { fault }: SendOutcome): MessageState {
  if (fault === undefined) return mode === 'test' ? 'delivered' : 'sent'
  return fault === 'unknown' ? 'unknown' : 'failed'
}

async function requeue(tx: Tx, message: Send, now: number, due: number, error: string) {
  const at = new Date(message.contact_step === null ? due : nextContactTime(due))
  await sql`update messages set state = 'queued', leased_until = null, due_at = ${at}, error = ${error.slice(0, 500)},
    updated_at = ${new Date(now)} where message_id = ${message.message_id} and state = 'sending'`.execute(tx)
}

/** Longer each time, up to ten minutes. */
function busyWait({ attempts }: Send, retryAfter: number | undefined): number {
  return Math.max((retryAfter ?? 0) * SECOND, Math.min(10 * MINUTE, 5 * SECOND * 2 ** Math.min(attempts, 10)))
}

/** Sends whose process died: they may have gone out, so they are not repeated, and the next step is planned. */
export async function giveUpLostSends(tx: Tx, around: Surroundings, limit: number): Promise<number> {
  const { rows } = await sql<Send>`
    select message_id, candidate_id, org_id, channel, contact_step, content, attempts, created_at from messages
    where state = 'sending' and leased_until < ${new Date(around.clock.now())}
    order by leased_until limit ${limit} for update skip locked`.execute(tx)
  for (const message of rows) {
    await completeSend(tx, around, message, {
      fault: 'unknown',
      message: 'the process that sent it ended before the outcome was known',
      retryAfter: undefined,
    })
  }
  return rows.length
}
