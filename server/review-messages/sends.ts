import { sql } from 'kysely'
import { isNotPaused } from '../access/service-switch.ts'
import { nextContactTime, nextSendTime } from '../campaigns/contact/contact-hours.ts'
import { recordOptOut } from '../campaigns/contact/opt-outs.ts'
import { busyDelayMs, MAX_BUSY_MS, type SendOutcome, sendThroughProvider } from '../campaigns/contact/provider-call.ts'
import { checkNumber } from '../campaigns/dnd/run-checks.ts'
import { estimateMessageCost } from '../campaigns/spending/message-cost.ts'
import { releaseDailyCost, reserveDailyCost } from '../campaigns/spending/spending.ts'
import type { OutgoingMessage } from '../channels/channel.ts'
import { findCredentials, sendRates } from '../channels/credentials.ts'
import { isSlotValid, listPauses, reserveSlots } from '../channels/send-rate.ts'
import { categoryInSettings } from '../channels/templates/render.ts'
import type { ReviewPurpose } from '../channels/templates/template.ts'
import { lockMessagingLimits } from '../channels/whatsapp/limits.ts'
import type { Context } from '../context.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { indianDate } from '../platform/india-time.ts'
import { findSender, unsealLink } from '../verification/reviews/review-requests.ts'
import { findReview } from '../verification/reviews/reviews.ts'
import { findVerification } from '../verification/sessions.ts'
import { chooseChannel, type ReviewChannel, type ReviewMessageContent, toOutgoingMessage } from './outgoing-message.ts'
import { findRefusal, phoneOwner } from './recipient.ts'
import { ERASED, queueOnChannel, REPLACED, toReason } from './review-messages.ts'

/** A LIVE message to a reviewer that is being sent. */
export interface ClaimedReviewMessage {
  message_id: string
  verification_id: string
  org_id: string
  person_id: string
  kind: ReviewPurpose
  channel: ReviewChannel
  phone_index: Buffer | null
  opt_out_index: Buffer | null
  attempts: number
  slot_at: Date | null
  created_at: Date
}

type SendDeps = Pick<Context, 'db' | 'vault' | 'channels' | 'config' | 'clock' | 'log' | 'mailboxes' | 'keyring'>

/** Longer than the timeout of a send: if a lease expires, the sending process has died. */
const LEASE_MS = 2 * MINUTE
/** Delay before a message over a cap or a limit, or without a result of the DND check, is tried again. */
const CAP_RETRY_MS = HOUR
const DND_RETRY_MS = 5 * MINUTE
/** Delay before a message is tried again after an error of the platform itself. */
const ERROR_RETRY_MS = MINUTE

const claimedColumns = sql`message_id, verification_id, org_id, person_id, kind, channel, phone_index, opt_out_index, attempts, slot_at,
  created_at`

/** Claims due messages by marking them as `sending` before they are sent. Messages of paused organisations wait. */
export async function claimReviewMessages(
  tx: Tx,
  { clock, keyring }: Pick<Context, 'clock' | 'keyring'>,
  limit: number,
): Promise<ClaimedReviewMessage[]> {
  const now = clock.now()
  const { rows } = await sql<ClaimedReviewMessage>`
    update review_messages set state = 'sending', attempts = attempts + 1, reason = null, leased_until = ${new Date(now + LEASE_MS)},
      call_started_at = null, updated_at = ${new Date(now)}
    where message_id in (
      select message_id from review_messages m
      where m.state = 'queued' and m.due_at <= ${new Date(now)} and ${isNotPaused(sql`m.org_id`, keyring.pausedOrganisations())}
      order by m.due_at limit ${limit} for update skip locked)
    returning ${claimedColumns}`.execute(tx)
  return rows
}

/** Returns the time of the next send or the next expiry of a lease, in epoch milliseconds. */
export async function nextReviewMessageDue(
  queries: Queries,
  { keyring }: Pick<Context, 'keyring'>,
): Promise<number | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select least(
      (select min(due_at) from review_messages m where state = 'queued' and ${isNotPaused(sql`m.org_id`, keyring.pausedOrganisations())}),
      (select min(leased_until) from review_messages where state = 'sending')) as due`.execute(queries)
  return rows[0]!.due?.getTime()
}

/**
 * Settles sends whose process died. If the call to the provider had begun, the message may have been sent, so that it is not repeated;
 * otherwise it returns to the queue.
 */
export async function settleLostReviewMessages(tx: Tx, { clock }: Pick<Context, 'clock'>): Promise<void> {
  const now = new Date(clock.now())
  await sql`update review_messages set state = 'unknown', leased_until = null, updated_at = ${now},
    reason = 'the sending process ended before the outcome was known'
    where state = 'sending' and leased_until < ${now} and call_started_at is not null`.execute(tx)
  const { rows } = await sql<ClaimedReviewMessage>`
    select ${claimedColumns} from review_messages
    where state = 'sending' and leased_until < ${now} and call_started_at is null
    order by message_id for update skip locked`.execute(tx)
  for (const message of rows) await returnToQueue(tx, message, { dueTime: now.getTime() })
}

/** Sends a claimed message, unless a rule skips or postpones it. After an error before the call to the provider, it is tried again later. */
export async function sendReviewMessage(deps: SendDeps, message: ClaimedReviewMessage): Promise<void> {
  const { db, clock, log } = deps
  let prepared: PreparedMessage | undefined
  try {
    prepared = await prepareSend(deps, message)
  } catch (error) {
    log.warn({ err: error, message: message.message_id }, 'a message to a reviewer was not sent, retrying')
    const delay = { dueTime: clock.now() + ERROR_RETRY_MS, reason: 'an error occurred before the message was sent' }
    return db.transaction((tx) => returnToQueue(tx, message, delay))
  }
  if (!prepared) return
  const { content, outgoing } = prepared
  const outcome = await sendThroughProvider(deps, message, async () => outgoing)
  await db.transaction((tx) => completeSend(tx, deps, message, content, outcome))
}

interface PreparedMessage {
  content: ReviewMessageContent
  outgoing: OutgoingMessage
}

/** Checks everything that must be true before the send. Returns undefined if the message was skipped or postponed. */
async function prepareSend(deps: SendDeps, message: ClaimedReviewMessage): Promise<PreparedMessage | undefined> {
  const { db } = deps
  const content = await readContent(db.queries, deps, message)
  if (typeof content === 'string') {
    await db.transaction((tx) => skip(tx, deps.clock, message, content))
    return undefined
  }
  const outgoing = toOutgoingMessage(content, message.channel)
  const obstacle = await findObstacle(deps, message, content, outgoing)
  if (obstacle !== undefined) {
    await db.transaction((tx) =>
      typeof obstacle === 'string' ? skip(tx, deps.clock, message, obstacle) : postpone(tx, message, obstacle),
    )
    return undefined
  }
  return (await confirmSend(deps, message)) ? { content, outgoing } : undefined
}

/** Returns why a message must not be sent, or until when it must wait. Otherwise its cost is reserved. */
async function findObstacle(
  deps: SendDeps,
  message: ClaimedReviewMessage,
  content: ReviewMessageContent,
  outgoing: OutgoingMessage,
): Promise<string | Delay | undefined> {
  const delay = await findDelay(deps, message, outgoing)
  if (delay) return delay
  const dndAnswer = await checkNumber(deps, message.org_id, { id: message.message_id, phone: content.phone })
  if (dndAnswer === 'blocked') return 'the DND check of the organisation blocks the number'
  if (dndAnswer === 'failed')
    return { dueTime: deps.clock.now() + DND_RETRY_MS, reason: 'the DND check of the organisation failed' }
  if (await reserveCost(deps, message, outgoing)) return undefined
  return { dueTime: deps.clock.now() + CAP_RETRY_MS, reason: 'the daily cap of the organisation is reached' }
}

/** Returns the content of a message from the review as it is now, or why the message must not be sent. */
async function readContent(
  queries: Queries,
  deps: Pick<Context, 'clock' | 'vault' | 'config' | 'mailboxes'>,
  message: Pick<
    ClaimedReviewMessage,
    'message_id' | 'verification_id' | 'org_id' | 'person_id' | 'kind' | 'phone_index'
  >,
): Promise<ReviewMessageContent | string> {
  const { clock, vault, config } = deps
  const session = await findVerification(queries, clock, message.verification_id)
  const review = await findReview(queries, message.verification_id)
  if (!session || !review || session.personKey === null || review.personKey === null) return ERASED
  const isPending = session.status === 'pending_review' && review.submittedAt === undefined
  if (!isPending || !review.link || clock.now() >= review.link.expiresAt) return 'the review is no longer pending'
  const isSameNumber =
    review.phone !== undefined &&
    message.phone_index?.equals(blindIndexOf(queries).phone(session.scope, review.phone)) === true
  if (!isSameNumber || review.personId !== message.person_id) return 'the reviewer or the phone number has changed'
  if (await isReplaced(queries, message)) return REPLACED
  const refusal = await findRefusal(queries, deps, session, review)
  if (refusal !== undefined) return refusal
  const { organisation } = await findSender(queries, config, session)
  return {
    messageId: message.message_id,
    orgId: message.org_id,
    purpose: message.kind,
    phone: review.phone!,
    reviewer: review.name,
    student: session.student.name,
    organisation,
    link: unsealLink(vault, session.id, review.link.sealed),
  }
}

/** Whether the verification has a later message, such as a reminder that was queued while this message was being sent. */
async function isReplaced(
  queries: Queries,
  { message_id, verification_id }: Pick<ClaimedReviewMessage, 'message_id' | 'verification_id'>,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from review_messages where verification_id = ${verification_id} and message_id > ${message_id} limit 1`.execute(
    queries,
  )
  return rows.length > 0
}

interface Delay {
  dueTime: number
  reason?: string
  /** The slot of the sender's rate that was reserved for the message. */
  slotAt?: Date
}

/** Returns the delay that contact hours, the send rate or the messaging limit of WhatsApp require, with the reason. */
async function findDelay(
  deps: SendDeps,
  message: ClaimedReviewMessage,
  outgoing: OutgoingMessage,
): Promise<Delay | undefined> {
  const { db, vault, clock } = deps
  const { org_id, channel } = message
  const now = clock.now()
  const settings = await findCredentials(db.queries, vault, org_id, channel)
  const category = categoryInSettings(outgoing, settings)
  const recipient = { mode: 'live' as const, test_clock_id: null, phone: outgoing.to }
  const sendTime = nextSendTime(recipient, { channel, isResponse: false, isCode: false, category }, now)
  if (sendTime > now) return { dueTime: sendTime }
  return db.transaction(
    async (tx) => (await findLimitDelay(tx, message, now)) ?? (await findRateDelay(tx, message, now)),
  )
}

async function findRateDelay(tx: Tx, message: ClaimedReviewMessage, now: number): Promise<Delay | undefined> {
  const key = `${message.org_id} ${message.channel}`
  const pauses = await listPauses(tx, [message.org_id])
  if (isSlotValid(message.slot_at, pauses.get(key), now)) return undefined
  const rates = await sendRates(tx, [message.org_id])
  const [slotTime] = await reserveSlots(tx, message, 1, rates.get(key), now)
  return slotTime! > now ? { dueTime: nextContactTime(slotTime!), slotAt: new Date(slotTime!) } : undefined
}

/**
 * Postpones a message by WhatsApp if the account has reached the number of people whom it may contact within 24 hours. Of messages to
 * reviewers that are being sent, only earlier ones count, so that those claimed together do not all wait for each other.
 */
async function findLimitDelay(tx: Tx, message: ClaimedReviewMessage, now: number): Promise<Delay | undefined> {
  if (message.channel !== 'whatsapp') return undefined
  const limit = (await lockMessagingLimits(tx, [message.org_id])).get(message.org_id)
  if (limit === undefined) return undefined
  const since = new Date(now - DAY)
  const { rows } = await sql<{ people: number }>`
    select ((select count(distinct candidate_id) from messages where org_id = ${message.org_id} and channel = 'whatsapp'
        and contact_step is not null and direction = 'out' and mode = 'live' and (sent_at > ${since} or state = 'sending'))
      + (select count(distinct phone_index) from review_messages where org_id = ${message.org_id} and channel = 'whatsapp'
        and mode = 'live' and (sent_at > ${since} or (state = 'sending' and message_id < ${message.message_id}))))::int as people`.execute(
    tx,
  )
  return rows[0]!.people < limit
    ? undefined
    : { dueTime: now + CAP_RETRY_MS, reason: 'the messaging limit of WhatsApp is reached' }
}

/** Adds the estimated cost to the amount that the organisation spent today. Returns false if that would exceed the daily cap. */
async function reserveCost(deps: SendDeps, message: ClaimedReviewMessage, outgoing: OutgoingMessage): Promise<boolean> {
  const { db, clock } = deps
  const { message_id, org_id, channel } = message
  const pricedMessage = { org_id, channel, contact_step: 0, is_code: false }
  const cost = await estimateMessageCost(deps, pricedMessage, { mode: 'live', phone: outgoing.to }, outgoing)
  if (cost === 0) return true
  return db.transaction(async (tx) => {
    const day = indianDate(clock.now())
    if (!(await reserveDailyCost(tx, { orgId: org_id, mode: 'live' }, { day, cost }))) return false
    await sql`update review_messages set cost = ${cost}, cost_day = ${day}::date where message_id = ${message_id}`.execute(
      tx,
    )
    return true
  })
}

/** Removes the cost of a message that was not sent from the amount spent on its day. */
export async function releaseCost(
  tx: Tx,
  { message_id, org_id }: Pick<ClaimedReviewMessage, 'message_id' | 'org_id'>,
): Promise<void> {
  const { rows } = await sql<{ cost: number; cost_day: string }>`
    select cost, cost_day::text from review_messages where message_id = ${message_id} and cost > 0 for update`.execute(
    tx,
  )
  const [reserved] = rows
  if (!reserved) return
  const { cost, cost_day: day } = reserved
  await releaseDailyCost(tx, { orgId: org_id, mode: 'live' }, { day, cost })
  await sql`update review_messages set cost = null, cost_day = null where message_id = ${message_id}`.execute(tx)
}

/**
 * Returns whether a claimed message may still be sent, immediately before it is sent, and stores that the call to the provider begins. If
 * the reviewer has opted out or was erased since the claim, skips the message. If the organisation was paused or the lease has expired, returns it to the queue.
 */
async function confirmSend(deps: SendDeps, message: ClaimedReviewMessage): Promise<boolean> {
  const { db, clock, keyring } = deps
  const content = await readContent(db.queries, deps, message)
  const now = clock.now()
  if (typeof content !== 'string' && !keyring.isServicePaused(message.org_id)) {
    const { rows } = await sql`
      update review_messages set call_started_at = ${new Date(now)}
      where message_id = ${message.message_id} and state = 'sending' and leased_until > ${new Date(now)} returning 1`.execute(
      db.queries,
    )
    if (rows.length > 0) return true
  }
  await db.transaction(async (tx) => {
    if (typeof content !== 'string') return returnToQueue(tx, message, { dueTime: now })
    await releaseCost(tx, message)
    await skip(tx, clock, message, content)
  })
  return false
}

async function skip(tx: Tx, clock: Clock, { message_id }: ClaimedReviewMessage, reason: string): Promise<void> {
  await sql`update review_messages set state = 'skipped', reason = ${reason}, leased_until = null, due_at = null,
    updated_at = ${new Date(clock.now())} where message_id = ${message_id} and state = 'sending'`.execute(tx)
  if (reason === ERASED)
    await sql`update review_messages set phone_index = null, opt_out_index = null where message_id = ${message_id}`.execute(
      tx,
    )
}

/** Postpones a message whose cost may have been reserved. */
async function returnToQueue(tx: Tx, message: ClaimedReviewMessage, delay: Delay): Promise<void> {
  await releaseCost(tx, message)
  await postpone(tx, message, delay)
}

/** Returns a claimed message to the queue until a later time. Nothing was sent. */
async function postpone(
  tx: Tx,
  { message_id }: ClaimedReviewMessage,
  { dueTime, reason, slotAt }: Delay,
): Promise<void> {
  await sql`update review_messages set state = 'queued', attempts = attempts - 1, leased_until = null, due_at = ${new Date(dueTime)},
    slot_at = ${slotAt ?? null}, reason = ${reason ?? null} where message_id = ${message_id} and state = 'sending'`.execute(
    tx,
  )
}

/** Stores the outcome of a send. A message that a busy provider did not accept is sent again later; a failed one by SMS, if possible. */
async function completeSend(
  tx: Tx,
  deps: SendDeps,
  message: ClaimedReviewMessage,
  content: ReviewMessageContent,
  outcome: SendOutcome,
): Promise<void> {
  const now = deps.clock.now()
  if (outcome.errorReason === undefined) {
    await sql`update review_messages set state = 'sent', leased_until = null, due_at = null, sent_at = ${new Date(now)},
      provider_id = ${outcome.providerId ?? null}, updated_at = ${new Date(now)}
      where message_id = ${message.message_id} and state = 'sending'`.execute(tx)
    // A report can arrive before the response to the send.
    await sql`update review_messages set template_id = ${outcome.templateId ?? null}
      where message_id = ${message.message_id}`.execute(tx)
    return
  }
  if (outcome.errorReason !== 'unknown') await releaseCost(tx, message)
  if (outcome.errorReason === 'busy' && now - message.created_at.getTime() < MAX_BUSY_MS) {
    const dueAt = new Date(nextContactTime(now + busyDelayMs(message, outcome.retryAfter)))
    await sql`update review_messages set state = 'queued', leased_until = null, due_at = ${dueAt}, reason = ${toReason(outcome.message)}
      where message_id = ${message.message_id} and state = 'sending'`.execute(tx)
    return
  }
  const state = outcome.errorReason === 'unknown' ? 'unknown' : 'failed'
  const { rows } = await sql`
    update review_messages set state = ${state}, leased_until = null, due_at = null, reason = ${toReason(outcome.message)},
      updated_at = ${new Date(now)} where message_id = ${message.message_id} and state = 'sending' returning 1`.execute(
    tx,
  )
  if (rows.length === 0) return
  if (outcome.errorReason === 'stopped')
    return recordOptOut(tx, deps.clock, phoneOwner({ orgId: message.org_id, mode: 'live' }, content.phone))
  if (state === 'failed') await sendBySms(tx, deps, message)
}

/**
 * Queues a message that WhatsApp did not deliver as an SMS, if the organisation can send one. The row of the message must be locked: the
 * content is read again after that, so that nothing is stored about a person who was erased in the meantime.
 */
export async function sendBySms(
  tx: Tx,
  deps: Pick<Context, 'vault' | 'clock' | 'config' | 'mailboxes'>,
  message: Omit<ClaimedReviewMessage, 'attempts' | 'slot_at' | 'created_at'>,
): Promise<void> {
  if (message.channel !== 'whatsapp') return
  const content = await readContent(tx, deps, message)
  if (typeof content === 'string') return
  const choice = await chooseChannel(tx, deps, content, ['sms'])
  if ('channel' in choice) await queueOnChannel(tx, deps, message, { phone: content.phone, channel: choice.channel })
}
