import { sql } from 'kysely'
import { storeOptOuts } from '../campaigns/contact/opt-outs.ts'
import { findPhoneOfUser, hasUserOptedOut, linkUserToPhone } from '../campaigns/contact/whatsapp-users.ts'
import type { InboundHandler, InboundReply, InboundStatus } from '../channels/inbound.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../platform/database/database.ts'
import { isOptOutReply } from '../questions/prompts.ts'
import { MESSAGE_ID_PREFIX, type ReviewMessageState, toReason } from './review-messages.ts'
import { type ClaimedReviewMessage, releaseCost, sendBySms } from './sends.ts'

type InboundDeps = Pick<Context, 'clock' | 'vault' | 'config' | 'mailboxes'>
type SentMessage = Omit<ClaimedReviewMessage, 'attempts' | 'slot_at' | 'created_at'> & { state: ReviewMessageState }

const stateOrder: ReviewMessageState[] = ['sending', 'unknown', 'sent', 'delivered', 'read']

/**
 * Adds the reports of providers about messages to reviewers to the handler of messages to candidates. An opt-out from a phone number is
 * stored by that handler, also if the number belongs to no candidate; an opt-out without a number is matched by the message it replies to, or
 * by the number that the WhatsApp user had in earlier reports.
 */
export function withReviewMessages(deps: InboundDeps, handler: InboundHandler): InboundHandler {
  return {
    ...handler,
    async reply(tx, orgId, reply) {
      await handler.reply(tx, orgId, reply)
      if (reply.from === undefined && isOptOutReply(reply.text ?? '')) await recordOptOutOfReply(tx, orgId, reply)
    },
    async status(tx, orgId, report) {
      const message = await lockMessage(tx, orgId, report)
      if (message) {
        await applyReport(tx, deps, message, report)
        if (report.userId !== undefined) await linkReviewer(tx, deps, message, report.userId)
      } else if (!report.messageId?.startsWith(MESSAGE_ID_PREFIX)) await handler.status(tx, orgId, report)
    },
  }

  async function recordOptOutOfReply(tx: Tx, orgId: string, reply: InboundReply): Promise<void> {
    const { channel, inReplyTo, userId } = reply
    if (inReplyTo !== undefined) {
      const message = await lockMessage(tx, orgId, { channel, providerId: inReplyTo })
      if (message) await recordOptOutOf(tx, deps, message)
    }
    if (userId === undefined) return
    const message = await findMessageToUser(tx, orgId, userId)
    if (message) await recordOptOutOf(tx, deps, message)
  }
}

type OptOutIndex = Pick<SentMessage, 'org_id' | 'opt_out_index'>

/** Stores the opt-out of the number that a message was sent to. Its hash is still known, unless the reviewer or the student was erased. */
async function recordOptOutOf(tx: Tx, { clock }: InboundDeps, { org_id, opt_out_index }: OptOutIndex): Promise<void> {
  if (opt_out_index !== null) await storeOptOuts(tx, clock, { org_id, mode: 'live' }, [opt_out_index])
}

/** Stores the number of a WhatsApp user. If the user opted out before the number was known, the opt-out applies to the number. */
async function linkReviewer(tx: Tx, deps: InboundDeps, message: SentMessage, userId: string): Promise<void> {
  const { org_id: orgId, phone_index: phoneIndex } = message
  if (phoneIndex === null) return
  const scope = { orgId, mode: 'live' as const }
  await linkUserToPhone(tx, deps.clock, scope, { userId, phoneIndex })
  if (await hasUserOptedOut(tx, scope, userId)) await recordOptOutOf(tx, deps, message)
}

async function findMessageToUser(tx: Tx, orgId: string, userId: string): Promise<OptOutIndex | undefined> {
  const phoneIndex = await findPhoneOfUser(tx, { orgId, mode: 'live' }, userId)
  if (phoneIndex === undefined) return undefined
  const { rows } = await sql<OptOutIndex>`
    select org_id, opt_out_index from review_messages
    where phone_index = ${phoneIndex} and org_id = ${orgId} and mode = 'live' limit 1`.execute(tx)
  return rows[0]
}

async function lockMessage(
  tx: Tx,
  orgId: string,
  { channel, providerId, messageId }: Pick<InboundStatus, 'channel' | 'providerId' | 'messageId'>,
): Promise<SentMessage | undefined> {
  const { rows } = await sql<SentMessage>`
    select message_id, verification_id, org_id, person_id, kind, channel, phone_index, opt_out_index, state from review_messages
    where org_id = ${orgId} and mode = 'live' and channel = ${channel}
      and ${messageId === undefined ? sql`provider_id = ${providerId}` : sql`message_id = ${messageId}`}
    limit 1 for update`.execute(tx)
  return rows[0]
}

/** Reports may be duplicated, late, out of order or earlier than the response to the send, so a state only ever advances. */
async function applyReport(tx: Tx, deps: InboundDeps, message: SentMessage, report: InboundStatus): Promise<void> {
  const { status, providerId, error, stop } = report
  if (status === 'unanswered') return // calls only
  const isFailure = status === 'failed'
  const rank = stateOrder.indexOf(message.state)
  if (rank === -1 || (isFailure ? rank > stateOrder.indexOf('sent') : stateOrder.indexOf(status) <= rank)) return
  const now = new Date(deps.clock.now())
  await sql`update review_messages set state = ${status}, provider_id = ${providerId}, leased_until = null, due_at = null, updated_at = ${now},
    reason = ${isFailure ? toReason(error ?? 'the provider did not deliver the message') : null},
    sent_at = coalesce(sent_at, ${isFailure ? null : now}::timestamptz) where message_id = ${message.message_id}`.execute(
    tx,
  )
  if (isFailure && message.channel === 'whatsapp') await releaseCost(tx, message) // WhatsApp charges only for delivered messages
  if (stop) return recordOptOutOf(tx, deps, message)
  if (isFailure) await sendBySms(tx, deps, message)
}
