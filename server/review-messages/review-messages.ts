import { sql } from 'kysely'
import { nextSendTime } from '../campaigns/contact/contact-hours.ts'
import type { ReviewPurpose } from '../channels/templates/template.ts'
import { countReviewMessage } from '../mail/daily-limits.ts'
import type { EmailDeps } from '../mail/mail.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import type { ErasureDeps, ExportSection, PersonRef } from '../people/identity/hooks.ts'
import { findPersonKeys } from '../people/identity/people.ts'
import { openForPeople, sealForPeople } from '../people/identity/person-key.ts'
import { notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { newId } from '../platform/ids.ts'
import { redactAddresses } from '../platform/text/redact-addresses.ts'
import type { ReviewInvitation } from '../verification/reviews/invitation-hook.ts'
import { chooseChannel, messageText, type ReviewChannel, type ReviewMessageContent } from './outgoing-message.ts'
import { findRefusal, phoneOptOutIndex, phoneOwner } from './recipient.ts'

/** Notification topic: a message to a reviewer may be due. */
export const REVIEW_MESSAGE_DUE = 'review message due'

/** IDs of messages to candidates begin with MS_, so that the reports of providers are not confused. */
export const MESSAGE_ID_PREFIX = 'RM_'

/** In TEST mode every channel counts as set up, so that the first one is used. */
const TEST_CHANNEL: ReviewChannel = 'whatsapp'
const MAX_REASON_LENGTH = 500

const LIMIT_REACHED = 'the daily limit of messages to this number is reached'
export const REPLACED = 'a later message replaces this one'
export const ERASED = 'the reviewer or the student was erased'

export const reviewMessageStates = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'read',
  'failed',
  'unknown',
  'skipped',
] as const
export type ReviewMessageState = (typeof reviewMessageStates)[number]

/**
 * Queues the link for the phone of a reviewer who is invited or reminded by email. If the message cannot be sent, it is stored as skipped
 * with the reason, and the email is the only invitation. In TEST mode, the message is stored as delivered and reaches no phone.
 */
export async function queueReviewMessage(tx: Tx, deps: EmailDeps, invitation: ReviewInvitation): Promise<void> {
  const { session, review, link, purpose, organisation } = invitation
  const { scope } = session
  const now = deps.clock.now()
  await skipQueued(tx, session.id, now, REPLACED)
  const { phone } = review
  if (phone === undefined) return
  const content: ReviewMessageContent = {
    messageId: newId(MESSAGE_ID_PREFIX, now),
    orgId: scope.orgId,
    purpose,
    phone,
    reviewer: review.name,
    student: session.student.name,
    organisation,
    link,
  }
  const row = {
    message_id: content.messageId,
    verification_id: session.id,
    org_id: scope.orgId,
    mode: scope.mode,
    person_id: review.personId,
    kind: purpose,
    phone_index: blindIndexOf(tx).phone(scope, phone),
    opt_out_index: phoneOptOutIndex(tx, phoneOwner(scope, phone, session.testClockId)),
    created_at: new Date(now),
    updated_at: new Date(now),
  }
  const refusal = await findRefusal(tx, deps, session, review)
  if (refusal !== undefined) return insertMessage(tx, { ...row, state: 'skipped', reason: refusal })
  if (scope.mode === 'test') {
    const text = messageText(content, TEST_CHANNEL)
    return insertMessage(tx, {
      ...row,
      channel: TEST_CHANNEL,
      state: 'delivered',
      sent_at: new Date(now),
      personal: sealForPeople([session.personKey!, review.personKey!], { text }, textPurpose(content.messageId)),
    })
  }
  const choice = await chooseChannel(tx, deps, content)
  if ('problem' in choice) return insertMessage(tx, { ...row, state: 'skipped', reason: choice.problem })
  if (!(await countReviewMessage(tx, deps, phone)))
    return insertMessage(tx, {
      ...row,
      state: 'skipped',
      reason: LIMIT_REACHED,
    })
  await insertMessage(tx, {
    ...row,
    channel: choice.channel,
    state: 'queued',
    due_at: firstDueTime(phone, choice, now),
  })
}

/** Returns the first time within contact hours. The hours of the text's category are checked when the message is sent. */
function firstDueTime(phone: string, { channel }: { channel: ReviewChannel }, now: number): Date {
  const recipient = { mode: 'live' as const, test_clock_id: null, phone }
  return new Date(nextSendTime(recipient, { channel, isResponse: false, isCode: false }, now))
}

interface NewReviewMessage {
  message_id: string
  verification_id: string
  org_id: string
  mode: 'test' | 'live'
  person_id: string
  kind: ReviewPurpose
  phone_index: Buffer | null
  opt_out_index: Buffer | null
  channel?: ReviewChannel
  state: ReviewMessageState
  reason?: string
  personal?: Buffer
  due_at?: Date
  sent_at?: Date
  created_at: Date
  updated_at: Date
}

async function insertMessage(tx: Tx, message: NewReviewMessage): Promise<void> {
  const reason = message.reason === undefined ? null : toReason(message.reason)
  await tx
    .insertInto('review_messages')
    .values({ ...message, reason })
    .execute()
  if (message.state === 'queued') notifyAfterCommit(tx, REVIEW_MESSAGE_DUE)
}

/** Returns a reason without addresses, which errors of providers can contain. */
export function toReason(text: string): string {
  return redactAddresses(text).slice(0, MAX_REASON_LENGTH)
}

/** Queues a message again on another channel, after the first one failed. It counts for the daily limit of the number. */
export async function queueOnChannel(
  tx: Tx,
  deps: Pick<EmailDeps, 'clock' | 'mailboxes'>,
  message: Pick<
    NewReviewMessage,
    'verification_id' | 'org_id' | 'person_id' | 'kind' | 'phone_index' | 'opt_out_index'
  >,
  { phone, channel }: { phone: string; channel: ReviewChannel },
): Promise<void> {
  const { verification_id, org_id, person_id, kind, phone_index, opt_out_index } = message
  const now = deps.clock.now()
  const isWithinLimit = await countReviewMessage(tx, deps, phone)
  await insertMessage(tx, {
    message_id: newId(MESSAGE_ID_PREFIX, now),
    verification_id,
    org_id,
    mode: 'live',
    person_id,
    kind,
    phone_index,
    opt_out_index,
    channel,
    ...(isWithinLimit
      ? { state: 'queued', due_at: firstDueTime(phone, { channel }, now) }
      : { state: 'skipped', reason: LIMIT_REACHED }),
    created_at: new Date(now),
    updated_at: new Date(now),
  })
}

async function skipQueued(tx: Tx, verificationId: string, now: number, reason: string): Promise<void> {
  await sql`update review_messages set state = 'skipped', reason = ${reason}, due_at = null, updated_at = ${new Date(now)}
    where verification_id = ${verificationId} and state = 'queued'`.execute(tx)
}

function textPurpose(messageId: string) {
  return `review message ${messageId}`
}

/** A message to a reviewer, for the console and for exports. */
export interface ReviewMessage {
  message_id: string
  verification_id: string
  kind: ReviewPurpose
  /** Null if no channel can reach the number. */
  channel: ReviewChannel | null
  state: ReviewMessageState
  reason: string | null
  /** The text of a TEST message; null in LIVE mode, and after the erasure of the student or the reviewer. */
  text: string | null
  created_at: Date
  sent_at: Date | null
}

/** Lists the messages of a verification, newest first. */
export async function listReviewMessages(queries: Queries, verificationId: string): Promise<ReviewMessage[]> {
  return selectMessages(queries, sql`m.verification_id = ${verificationId}`)
}

async function selectMessages(queries: Queries, condition: ReturnType<typeof sql>): Promise<ReviewMessage[]> {
  const { rows } = await sql<
    Omit<ReviewMessage, 'text'> & { personal: Buffer | null; student_id: string; reviewer_id: string }
  >`
    select m.message_id, m.verification_id, m.kind, m.channel, m.state, m.reason, m.personal, m.created_at, m.sent_at,
      s.person_id as student_id, m.person_id as reviewer_id
    from review_messages m join verification_sessions s using (verification_id)
    where ${condition} order by m.message_id desc`.execute(queries)
  const keys = await findPersonKeys(
    queries,
    rows.flatMap(({ student_id, reviewer_id }) => [student_id, reviewer_id]),
  )
  return rows.map(({ personal, student_id, reviewer_id, ...message }) => {
    const personKeys = [keys.get(student_id) ?? null, keys.get(reviewer_id) ?? null]
    const values = openForPeople<{ text: string }>(personKeys, personal, textPurpose(message.message_id))
    return { ...message, text: values?.text ?? null }
  })
}

/**
 * Skips the queued messages of a student or reviewer who is erased, and deletes the texts and the hashes of the number. Locks the rows
 * first, so that the later statements also see an SMS that a concurrent report of the provider queues. After the erasure of a student, a WhatsApp user stays linked to the
 * number of the reviewer if other messages or candidates still have the number.
 */
export async function eraseReviewMessages(tx: Tx, { clock }: ErasureDeps, { personId }: PersonRef): Promise<void> {
  await sql`
    select from review_messages m join verification_sessions s using (verification_id)
    where s.person_id = ${personId} or m.person_id = ${personId} order by m.message_id for update of m`.execute(tx)
  await sql`
    delete from whatsapp_users u using (
      select m.phone_index, bool_or(m.person_id = ${personId}) as is_own
      from review_messages m join verification_sessions s using (verification_id)
      where m.phone_index is not null and (s.person_id = ${personId} or m.person_id = ${personId}) group by m.phone_index) e
    where u.phone_index = e.phone_index and (e.is_own or not (
      exists (select from candidates c where c.phone_index = e.phone_index)
      or exists (select from review_messages o join verification_sessions s using (verification_id)
        where o.phone_index = e.phone_index and s.person_id <> ${personId})))`.execute(tx)
  await sql`
    update review_messages m set personal = null, phone_index = null, opt_out_index = null, due_at = null, updated_at = ${new Date(clock.now())},
      state = case m.state when 'queued' then 'skipped' else m.state end,
      reason = case m.state when 'queued' then ${ERASED} else m.reason end
    from verification_sessions s
    where m.verification_id = s.verification_id and (s.person_id = ${personId} or m.person_id = ${personId})`.execute(
    tx,
  )
}

/** Returns the messages that were sent to the phone of a person as a reviewer. */
export async function exportReviewMessages(
  queries: Queries,
  _deps: ErasureDeps,
  person: PersonRef,
): Promise<ExportSection[]> {
  const messages = await selectMessages(queries, sql`m.person_id = ${person.personId}`)
  const records = messages.map(({ message_id: _, created_at, sent_at, ...message }) => ({
    ...message,
    created_at: created_at.toISOString(),
    sent_at: sent_at?.toISOString() ?? null,
  }))
  return [{ name: 'review_messages', title: 'Messages with links to reviews', records }]
}
