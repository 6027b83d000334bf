import { sql } from 'kysely'
import { isNotPaused, type PausedOrganisations } from '../../access/service-switch.ts'
import { findEmailBrand } from '../../branding/email-brand.ts'
import { addressField, type ChannelName, type OutgoingMessage } from '../../channels/channel.ts'
import { findCredentials, sendRates } from '../../channels/credentials.ts'
import { isSlotValid, listPauses, releaseUnusedSlots, reserveSlots } from '../../channels/send-rate.ts'
import { categoryInSettings } from '../../channels/templates/render.ts'
import { lockMessagingLimits } from '../../channels/whatsapp/limits.ts'
import type { Context } from '../../context.ts'
import { estimateMinutes, type RenderedPrompt } from '../../conversation/render.ts'
import { countEmail, secondsUntilReset, uncountEmail } from '../../mail/daily-limits.ts'
import { findSuppression, suppressMailbox } from '../../mail/suppressions.ts'
import { DAY, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { type DueRow, isNoDeadLetter } from '../../platform/jobs/dead-letters.ts'
import { redactAddresses } from '../../platform/text/redact-addresses.ts'
import { getWorkflow } from '../../workflows/workflows.ts'
import { isPausedCampaign } from '../campaigns.ts'
import { type Candidacy, lockCandidacy } from '../candidacy.ts'
import { candidatePageUrl, candidateUnsubscribeUrl } from '../candidate-page/links.ts'
import { openMessage } from '../personal-values.ts'
import { type CandidateChange, type CandidateTransition, recordTransitions } from '../progress.ts'
import { estimateMessageCost } from '../spending/message-cost.ts'
import { pauseForCap, releaseCost, reserveCost } from '../spending/spending.ts'
import { stagesUpTo } from '../stages.ts'
import { type ContactDeps, contactCandidates, declineOptedOut, recordContacts, scheduleNextContact } from './contact.ts'
import { nextContactTime, nextSendTime } from './contact-hours.ts'
import { publishMessageEvents } from './message-changes.ts'
import { type MessageState, scheduleTestReplies } from './messages.ts'
import { findOptedOut, lockCandidatesWithSameAddress, recordOptOut } from './opt-outs.ts'
import { busyDelayMs, MAX_BUSY_MS, type SendOutcome, sendThroughProvider } from './provider-call.ts'

/** A message being sent to a provider. */
export interface ClaimedMessage {
  message_id: string
  candidate_id: string
  org_id: string
  channel: ChannelName
  contact_step: number | null
  requested: boolean
  /** Whether the message contains a confirmation code. */
  is_code: boolean
  personal: Buffer | null
  attempts: number
  created_at: Date
}

/** A claimed message with the slot that was reserved for it earlier. */
type MessageWithSlot = ClaimedMessage & { mode: 'test' | 'live'; slot_at: Date | null }

/** Longer than the timeout of a send: if a lease expires, the sending process has died. */
const LEASE_MS = 2 * MINUTE
/** A confirmation code that is older is not sent: it has expired. */
const CODE_VALID_MS = 15 * MINUTE

/**
 * Whether a message of a candidate may be sent now: the person is neither erased nor restricted, and neither the campaign `g` nor the
 * organisation is paused. Confirmation codes, with which people use their rights, are sent also to people who are restricted, and during a pause.
 * Checked by the statement that claims the message.
 */
function maySend(paused: PausedOrganisations, now: number) {
  return sql`case when m.is_code then m.created_at > ${new Date(now - CODE_VALID_MS)}
    else not ${isPausedCampaign} and ${isNotPaused(sql`m.org_id`, paused)} end
    and exists (select from candidates c join people o on o.person_id = c.person_id
      where c.candidate_id = m.candidate_id and o.erased_at is null and (m.is_code or o.restricted_at is null))`
}

/**
 * Claims due messages by marking them as `sending` before they are sent, and defers those over a rate or limit. A message whose lease has
 * expired may have been sent, so it is not sent again. `hasMore` tells whether more messages may be due.
 */
export async function claimSends(
  tx: Tx,
  { clock }: ContactDeps,
  limit: number,
  paused: PausedOrganisations,
): Promise<{ messages: ClaimedMessage[]; hasMore: boolean }> {
  const now = clock.now()
  const isDue = sql`m.state = 'queued' and m.due_at <= ${new Date(now)} and g.test_clock_id is null and ${maySend(paused, now)}
    and (${nextContactTime(now) === now} or m.contact_step is null or m.mode = 'test')`
  // One message of each organisation at a time, so that an organisation with many messages does not delay the others.
  const { rows } = await sql<MessageWithSlot>`
    with recursive waiting as (
      (select org_id from messages where state = 'queued' order by org_id limit 1)
      union all
      select (select org_id from messages where state = 'queued' and org_id > waiting.org_id order by org_id limit 1)
      from waiting where waiting.org_id is not null
    ), due as (
      select next.message_id, next.due_at, next.position from waiting cross join lateral (
        select message_id, due_at, row_number() over (order by due_at) as position from (
          select m.message_id, m.due_at from messages m join campaigns g using (campaign_id)
          where m.org_id = waiting.org_id and ${isDue} order by m.due_at limit ${limit}) as first_due
      ) as next where waiting.org_id is not null
    )
    update messages set state = 'sending', attempts = attempts + 1, leased_until = ${new Date(now + LEASE_MS)}, updated_at = ${new Date(now)}
    where message_id in (
      select m.message_id from messages m
      where m.message_id in (select message_id from due order by position, due_at limit ${limit}) and m.state = 'queued'
      order by m.due_at for update skip locked
    )
    returning message_id, candidate_id, org_id, channel, contact_step, requested, is_code, personal, attempts, created_at, mode, slot_at`.execute(
    tx,
  )
  const overLimitIds = await deferOverMessagingLimit(tx, rows, now)
  const withinLimit = rows.filter(({ message_id }) => !overLimitIds.has(message_id))
  const deferredIds = await deferOverRate(tx, withinLimit, now)
  const messages = withinLimit.filter(({ message_id }) => !deferredIds.has(message_id))
  return { messages, hasMore: rows.length === limit }
}

/**
 * Returns the earliest due time of a queued message, in epoch milliseconds. Ignores paused campaigns and organisations:
 * resuming one triggers a notification.
 */
export async function nextSendDue(
  queries: Queries,
  paused: PausedOrganisations,
  now: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ due_at: Date }>`
    select m.due_at from messages m join campaigns g using (campaign_id)
    where m.state = 'queued' and m.due_at is not null and g.test_clock_id is null and ${maySend(paused, now)}
    order by m.due_at limit 1`.execute(queries)
  return rows[0]?.due_at.getTime()
}

/**
 * Delivers the queued messages of campaigns with a test clock, which are TEST campaigns that were paused. The simulator needs no
 * provider, so that each is claimed and completed in one transaction.
 */
export async function deliverOnTestClock(
  tx: Tx,
  deps: ContactDeps,
  testClockId: string,
  limit: number,
): Promise<number> {
  const { rows } = await sql<ClaimedMessage>`
    update messages set state = 'sending', attempts = attempts + 1
    where message_id in (
      select m.message_id from messages m join campaigns g using (campaign_id)
      where g.test_clock_id = ${testClockId} and m.state = 'queued' and m.due_at <= ${new Date(deps.clock.now())}
        and ${maySend([], deps.clock.now())}
      order by m.due_at limit ${limit} for update of m skip locked
    )
    returning message_id, candidate_id, org_id, channel, contact_step, requested, is_code, personal, attempts, created_at`.execute(
    tx,
  )
  for (const message of rows) await completeSend(tx, deps, message, { errorReason: undefined, providerId: undefined })
  return rows.length
}

/** Delay before messages above the messaging limit of WhatsApp are tried again. */
const LIMIT_RETRY_MS = 60 * MINUTE

/** Defers first messages and follow-ups by WhatsApp to more people than the account may contact within 24 hours, and returns their IDs. */
async function deferOverMessagingLimit(tx: Tx, claimed: ClaimedMessage[], now: number): Promise<Set<string>> {
  const contacts = claimed.filter(({ channel, contact_step }) => channel === 'whatsapp' && contact_step !== null)
  const deferredIds: string[] = []
  if (contacts.length === 0) return new Set()
  const limits = await lockMessagingLimits(tx, [...new Set(contacts.map(({ org_id }) => org_id))])
  for (const [orgId, limit] of limits) {
    // Claimed messages are counted as well, because they are being sent.
    const { rows } = await sql<{ people: number }>`
      select count(distinct candidate_id)::int as people from (
        select candidate_id from messages where org_id = ${orgId} and channel = 'whatsapp' and contact_step is not null
          and direction = 'out' and mode = 'live' and sent_at > ${new Date(now - DAY)}
        union all select candidate_id from messages where state = 'sending' and org_id = ${orgId} and channel = 'whatsapp'
          and contact_step is not null and mode = 'live') as contacted`.execute(tx)
    const excess = Math.max(0, rows[0]!.people - limit)
    const ofOrganisation = contacts.filter(({ org_id }) => org_id === orgId)
    deferredIds.push(
      ...ofOrganisation.slice(Math.max(0, ofOrganisation.length - excess)).map((each) => each.message_id),
    )
  }
  if (deferredIds.length > 0)
    await sql`update messages set state = 'queued', attempts = attempts - 1, leased_until = null,
      due_at = ${new Date(nextContactTime(now + LIMIT_RETRY_MS))}, error = 'the messaging limit of WhatsApp is reached'
      where message_id = any (${deferredIds})`.execute(tx)
  return new Set(deferredIds)
}

/**
 * Defers LIVE first messages and follow-ups above the provider's rate or during its pause, and returns their IDs. Responses to replies are
 * never deferred. A message that was deferred before is sent in its slot, unless the provider was paused in the meantime.
 */
async function deferOverRate(tx: Tx, claimed: MessageWithSlot[], now: number): Promise<Set<string>> {
  const contacts = claimed.filter(({ contact_step, mode }) => contact_step !== null && mode === 'live')
  if (contacts.length === 0) return new Set()
  const orgIds = [...new Set(contacts.map(({ org_id }) => org_id))]
  const pauses = await listPauses(tx, orgIds)
  const messages = contacts.filter(
    ({ org_id, channel, slot_at }) => !isSlotValid(slot_at, pauses.get(`${org_id} ${channel}`), now),
  )
  if (messages.length === 0) return new Set()
  const rates = await sendRates(tx, orgIds)
  const deferred: { id: string; slotTime: number }[] = []
  // The rates are locked in the same order by all workers.
  const groups = [...Map.groupBy(messages, ({ org_id, channel }) => `${org_id} ${channel}`)].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  for (const [key, group] of groups) {
    await releaseUnusedSlots(tx, group[0]!, rates.get(key), now)
    const slotTimes = await reserveSlots(tx, group[0]!, group.length, rates.get(key), now)
    group.forEach(({ message_id }, index) => {
      if (slotTimes[index]! > now) deferred.push({ id: message_id, slotTime: slotTimes[index]! })
    })
  }
  if (deferred.length > 0)
    await sql`update messages m set state = 'queued', attempts = attempts - 1, leased_until = null, due_at = n.due_at, slot_at = n.slot_at
      from unnest(${deferred.map(({ id }) => id)}::text[], ${deferred.map(({ slotTime }) => new Date(nextContactTime(slotTime)))}::timestamptz[],
        ${deferred.map(({ slotTime }) => new Date(slotTime))}::timestamptz[])
        as n (message_id, due_at, slot_at) where m.message_id = n.message_id`.execute(tx)
  return new Set(deferred.map(({ id }) => id))
}

/**
 * Returns when a claimed message may be sent by the rules of the recipient's country, which may be now. The category of a message is that of
 * its registered text.
 */
export async function findSendTime(
  { db, vault, clock }: Pick<Context, 'db' | 'vault' | 'clock'>,
  message: ClaimedMessage,
  candidate: Candidacy,
): Promise<number> {
  const { org_id, channel, contact_step, is_code } = message
  const now = clock.now()
  if (candidate.mode === 'test') return now
  const settings = await findCredentials(db.queries, vault, org_id, channel)
  const category = categoryInSettings(templateUse(message, candidate), settings)
  return nextSendTime(candidate, { channel, isResponse: contact_step === null, isCode: is_code, category }, now)
}

/** Returns a claimed message to the queue until a later time. Nothing was sent. */
export async function postponeSend(tx: Tx, { message_id }: ClaimedMessage, dueTime: number): Promise<void> {
  await sql`update messages set state = 'queued', attempts = attempts - 1, leased_until = null, due_at = ${new Date(dueTime)}
    where message_id = ${message_id} and state = 'sending'`.execute(tx)
}

/** Sends one message to its provider, outside of any transaction. */
export async function sendMessage(
  context: Pick<Context, 'db' | 'vault' | 'channels' | 'config' | 'clock' | 'log' | 'mailboxes'>,
  message: ClaimedMessage,
  candidate: Candidacy,
): Promise<SendOutcome> {
  if (candidate.mode === 'test') return { errorReason: undefined, providerId: undefined } // the simulator delivers without a provider
  if (message.channel !== 'email') return callProvider(context, message, candidate)
  const obstacle = await findEmailObstacle(context, candidate)
  if (obstacle) return obstacle
  const outcome = await callProvider(context, message, candidate)
  if (outcome.errorReason !== undefined && outcome.errorReason !== 'unknown')
    await context.db.transaction((tx) => uncountEmail(tx, context, { group: 'candidate', address: candidate.email! }))
  return outcome
}

/** Returns why a candidate must not get an email now, or counts the email for the daily limit of their mailbox. */
async function findEmailObstacle(
  context: Pick<Context, 'db' | 'config' | 'clock' | 'mailboxes'>,
  { org_id: orgId, email }: Candidacy,
): Promise<SendOutcome | undefined> {
  const { db, clock } = context
  const address = email!
  const suppression = await findSuppression(db.queries, context, { address, audience: 'candidate', orgId })
  if (suppression?.reason === 'bounced')
    return { errorReason: 'unreachable', message: 'earlier emails to this address bounced', retryAfter: undefined }
  if (suppression)
    return { errorReason: 'stopped', message: 'the mailbox is on the suppression list', retryAfter: undefined }
  const limit = await db.transaction((tx) => countEmail(tx, context, { orgId: undefined, group: 'candidate', address }))
  return (
    limit && {
      errorReason: 'busy',
      message: 'the daily limit of emails to this mailbox is reached',
      retryAfter: secondsUntilReset(clock.now()),
    }
  )
}

/** Returns the message as the adapter of its channel needs it. */
function toOutgoingMessage(
  context: Pick<Context, 'vault' | 'config'>,
  message: ClaimedMessage,
  candidate: Candidacy,
): OutgoingMessage {
  const prompts = openMessage<RenderedPrompt[]>(candidate.person_key, { ...message, direction: 'out' })
  const code = prompts.find((prompt) => prompt.code !== undefined)?.code
  return {
    message_id: message.message_id,
    org_id: message.org_id,
    to: candidate[addressField[message.channel]]!,
    name: candidate.name,
    prompts,
    link: candidatePageUrl(context, candidate),
    unsubscribeUrl: candidateUnsubscribeUrl(context, candidate),
    company: candidate.flow.company_name,
    title: candidate.flow.title,
    minutes: estimateMinutes(candidate.flow),
    asksConsent: candidate.state.point.at === 'consent',
    ...(code === undefined ? {} : { code }),
    ...templateUse(message, candidate),
  }
}

/** Returns the fields of a message that its template depends on. */
function templateUse({ contact_step, requested, is_code }: ClaimedMessage, { state }: Candidacy) {
  return {
    ...(contact_step === null ? {} : { followUpNumber: contact_step }),
    isRequested: requested,
    isCode: is_code,
    language: state.language,
  }
}

/**
 * Adds the estimated cost of a claimed LIVE message to the amounts spent. If that would exceed a cap, returns the message to the queue,
 * pauses its campaign and returns false.
 */
export async function reserveSendCost(
  context: Pick<Context, 'db' | 'vault' | 'config' | 'clock'>,
  message: ClaimedMessage,
  candidate: Candidacy,
): Promise<boolean> {
  if (candidate.mode === 'test') return true
  const { db, clock } = context
  const spending = { ...message, campaign_id: candidate.campaign_id, mode: candidate.mode }
  const cost = await estimateMessageCost(context, message, candidate, toOutgoingMessage(context, message, candidate))
  const cap = await reserveCost(db.transaction, clock, spending, cost)
  if (cap) await db.transaction((tx) => pauseForCap(tx, clock, spending, cost, cap))
  return cap === undefined
}

async function callProvider(
  context: Pick<Context, 'db' | 'vault' | 'channels' | 'config' | 'clock' | 'log'>,
  message: ClaimedMessage,
  candidate: Candidacy,
): Promise<SendOutcome> {
  return sendThroughProvider(context, message, async () => ({
    ...toOutgoingMessage(context, message, candidate),
    ...(message.channel === 'email'
      ? { brand: await findEmailBrand(context.db.queries, context.config, message.org_id) }
      : {}),
  }))
}

/**
 * Returns whether a claimed LIVE message may still be sent, immediately before it is sent. If the candidate has opted out or the conversation
 * has ended since the claim, drops the message. If the person was restricted, the campaign or the organisation was paused, or the lease has
 * expired, returns the message to the queue.
 */
export async function confirmSend(
  context: Pick<Context, 'db' | 'clock' | 'config' | 'mailboxes' | 'keyring'>,
  message: ClaimedMessage,
  candidate: Candidacy,
): Promise<boolean> {
  if (candidate.mode === 'test') return true
  const { db, clock, keyring } = context
  const { message_id, candidate_id, contact_step } = message
  const now = clock.now()
  const { rows } = await sql<{ may_send: boolean; status: string }>`
    select m.leased_until > ${new Date(now)} and ${maySend(keyring.pausedOrganisations(), now)} as may_send, p.status
    from messages m join campaigns g using (campaign_id) join candidate_progress p using (candidate_id)
    where m.message_id = ${message_id} and m.state = 'sending'`.execute(db.queries)
  const isContact = contact_step !== null
  const isOptedOut = isContact && (await findOptedOut(db.queries, [candidate])).length > 0
  const mustDrop = isOptedOut || (isContact && rows[0]?.status !== 'pending')
  if (rows[0]?.may_send && !mustDrop) return true
  await db.transaction(async (tx) => {
    const lockedCandidate = (await lockCandidacy(tx, candidate_id))!
    await releaseCost(tx, clock, message_id)
    if (!mustDrop) return postponeSend(tx, message, now)
    await dropSend(tx, context, message)
    if (isOptedOut && lockedCandidate.status === 'pending')
      await recordTransitions(tx, clock, [declineOptedOut(lockedCandidate)])
  })
  return false
}

/** Drops a claimed message that must not be sent. */
export async function dropSend(tx: Tx, { clock }: ContactDeps, { message_id }: ClaimedMessage): Promise<void> {
  await sql`update messages set state = 'dropped', leased_until = null, updated_at = ${new Date(clock.now())}
    where message_id = ${message_id} and state = 'sending'`.execute(tx)
}

/** Stores the outcome of a send and schedules the next retry, channel or follow-up. */
export async function completeSend(
  tx: Tx,
  deps: ContactDeps,
  message: ClaimedMessage,
  outcome: SendOutcome,
): Promise<void> {
  const candidate = (await lockCandidacy(tx, message.candidate_id))!
  const now = deps.clock.now()
  if (outcome.errorReason !== undefined && outcome.errorReason !== 'unknown')
    await releaseCost(tx, deps.clock, message.message_id)
  if (outcome.errorReason === 'busy' && now - message.created_at.getTime() < MAX_BUSY_MS) {
    return requeue(tx, message, now, now + busyDelayMs(message, outcome.retryAfter), outcome.message)
  }
  const state = stateAfter(candidate, outcome)
  const { rows } = await sql`
    update messages set state = ${state}, leased_until = null, updated_at = ${new Date(now)},
      provider_id = ${outcome.errorReason === undefined ? (outcome.providerId ?? null) : null},
      template_id = ${outcome.errorReason === undefined ? (outcome.templateId ?? null) : null},
      sent_at = ${outcome.errorReason === undefined ? new Date(now) : null},
      error = ${outcome.errorReason === undefined ? null : redactAddresses(outcome.message).slice(0, 500)}
    where message_id = ${message.message_id} and state = 'sending' returning 1`.execute(tx)
  if (rows.length === 0) return recordTemplate(tx, message, outcome) // a report or another process has settled the send
  await publishMessageEvents(tx, deps.clock, candidate, message, {
    events: [outcome.errorReason === undefined ? 'sent' : outcome.errorReason === 'unknown' ? 'unknown' : 'failed'],
    ...(outcome.errorReason === undefined ? { templateId: outcome.templateId } : { error: outcome.message }),
  })
  if (outcome.errorReason !== undefined && outcome.isUnknownAddress && candidate.email !== null)
    await suppressMailbox(tx, deps, {
      address: candidate.email,
      audience: 'all',
      reason: 'bounced',
      causedBy: message.message_id,
    })
  if (outcome.errorReason === 'stopped') return applyOptOut(tx, deps, candidate, message)
  if (candidate.status !== 'pending') return countLateSend(tx, deps, candidate, message, state)
  await scheduleTestReplies(tx, deps.clock, [candidate])
  if (message.contact_step === null) return
  const scope = { orgId: candidate.org_id, mode: candidate.mode }
  const workflow = await getWorkflow(tx, scope, candidate.workflow_id)
  const contact = {
    candidate,
    followUpNumber: message.contact_step,
    isRequested: message.requested,
    channel: message.channel,
    triedChannels: [],
    failedChannels: [],
    workflow,
  }
  if (state === 'sent' || state === 'delivered') await recordContacts(tx, deps, [contact], state === 'delivered')
  else if (state === 'unknown') await scheduleNextContact(tx, deps, [contact])
  else await contactOnNextChannel(tx, deps, candidate, message, message.channel)
}

/** Stores the template of a message whose delivery was reported before the provider responded to the send. */
async function recordTemplate(tx: Tx, { message_id }: ClaimedMessage, outcome: SendOutcome): Promise<void> {
  if (outcome.errorReason !== undefined || outcome.templateId === undefined) return
  await sql`update messages set template_id = ${outcome.templateId}
    where message_id = ${message_id} and template_id is null`.execute(tx)
}

/** Applies an opt-out that the provider reported: the whole organisation no longer contacts the candidate. */
export async function applyOptOut(
  tx: Tx,
  { clock }: ContactDeps,
  candidate: Candidacy,
  { channel, contact_step }: Pick<ClaimedMessage, 'channel' | 'contact_step'>,
): Promise<void> {
  await recordOptOut(tx, clock, candidate)
  const sameAddressCandidates = await lockCandidatesWithSameAddress(tx, [candidate], [candidate.candidate_id])
  const channelEvents = contact_step === null ? [] : [{ channel, event: 'failed' as const }]
  const ownTransition: CandidateTransition[] =
    candidate.status === 'pending' ? [{ ...declineOptedOut(candidate), channels: channelEvents }] : []
  await recordTransitions(tx, clock, [...ownTransition, ...sameAddressCandidates.map(declineOptedOut)])
}

/** Counts a send that completed after the candidate's conversation had ended. */
async function countLateSend(
  tx: Tx,
  { clock }: ContactDeps,
  before: Candidacy,
  message: ClaimedMessage,
  state: MessageState,
) {
  const { channel, contact_step: followUpNumber } = message
  if (followUpNumber === null || state === 'unknown') return
  const wasSent = state !== 'failed'
  const placedCalls: CandidateChange['calls'] = channel === 'voice' ? [{ outcome: 'placed', seconds: 0 }] : []
  await recordTransitions(tx, clock, [
    {
      before,
      changes: wasSent ? { stages: before.stages | stagesUpTo(state === 'delivered' ? 'delivered' : 'contacted') } : {},
      channels:
        state === 'delivered'
          ? [
              { channel, event: 'sent' },
              { channel, event: 'delivered' },
            ]
          : [{ channel, event: wasSent ? 'sent' : 'failed' }],
      followUps: wasSent && followUpNumber > 0 && !message.requested ? [{ followUpNumber, event: 'sent' }] : [],
      calls: wasSent
        ? placedCalls
        : [...placedCalls, ...placedCalls.map(() => ({ outcome: 'failed' as const, seconds: 0 }))],
    },
  ])
}

/**
 * Repeats a contact on the next channel after a failure. If no channel is left, fails the candidate or schedules the next
 * follow-up.
 */
export async function contactOnNextChannel(
  tx: Tx,
  deps: ContactDeps,
  candidate: Candidacy,
  { contact_step, requested }: Pick<ClaimedMessage, 'contact_step' | 'requested'>,
  failedChannel?: ChannelName,
): Promise<void> {
  const followUpNumber = contact_step!
  const { rows } = await sql<{ channel: ChannelName }>`
    select channel from messages where candidate_id = ${candidate.candidate_id} and contact_step = ${followUpNumber}`.execute(
    tx,
  )
  const triedChannels = rows.map(({ channel }) => channel)
  await contactCandidates(tx, deps, [
    {
      candidate,
      followUpNumber,
      isRequested: requested,
      triedChannels,
      failedChannels: failedChannel ? [failedChannel] : [],
    },
  ])
}

function stateAfter({ mode }: Candidacy, { errorReason }: SendOutcome): MessageState {
  if (errorReason === undefined) return mode === 'test' ? 'delivered' : 'sent'
  return errorReason === 'unknown' ? 'unknown' : 'failed'
}

async function requeue(tx: Tx, message: ClaimedMessage, now: number, due: number, error: string) {
  const dueAt = new Date(message.contact_step === null ? due : nextContactTime(due))
  await sql`update messages set state = 'queued', leased_until = null, due_at = ${dueAt}, error = ${redactAddresses(error).slice(0, 500)},
    updated_at = ${new Date(now)} where message_id = ${message.message_id} and state = 'sending'`.execute(tx)
}

/** Settles sends whose process died. They may have been sent, so they are not repeated; the next follow-up is scheduled. */
export async function settleLostSends(tx: Tx, deps: ContactDeps, limit: number, onlyId?: string): Promise<number> {
  const { rows } = await sql<ClaimedMessage>`
    select message_id, candidate_id, org_id, channel, contact_step, requested, is_code, personal, attempts, created_at from messages
    where ${isSendLost(deps.clock.now(), onlyId)}
    order by leased_until limit ${limit} for update skip locked`.execute(tx)
  for (const message of rows) {
    await completeSend(tx, deps, message, {
      errorReason: 'unknown',
      message: 'the sending process ended before the outcome was known',
      retryAfter: undefined,
    })
  }
  return rows.length
}

function isSendLost(now: number, onlyId?: string) {
  return sql`state = 'sending' and leased_until < ${new Date(now)}
    and ${onlyId === undefined ? isNoDeadLetter('lost-sends', sql`message_id`) : sql`message_id = ${onlyId}`}`
}

/** Lists the sends that `settleLostSends` would settle. */
export async function listLostSends(queries: Queries, now: number, limit: number): Promise<DueRow[]> {
  const { rows } = await sql<DueRow>`
    select message_id as id, org_id as "orgId", mode from messages where ${isSendLost(now)}
    order by leased_until limit ${limit}`.execute(queries)
  return rows
}
