import { sql } from 'kysely'
import type { InboundHandler, InboundReply } from '../../channels/inbound.ts'
import { matchChoice } from '../../channels/message-text.ts'
import type { Context } from '../../context.ts'
import { type ConversationInput, isAcknowledgement } from '../../conversation/reply-meaning.ts'
import { blindIndexOf } from '../../people/identity/blind-index.ts'
import type { Tx } from '../../platform/database/database.ts'
import { isOptOutReply } from '../../questions/prompts.ts'
import { type Candidacy, findCandidacy, lockCandidacy } from '../candidacy.ts'
import { recordReportedCost } from '../spending/message-cost.ts'
import { createCallHandler } from './calls.ts'
import type { ContactDeps } from './contact.ts'
import { currentQuestion } from './current-question.ts'
import { recordOptOut } from './opt-outs.ts'
import { handleReply } from './replies.ts'
import { handleDeliveryStatus } from './statuses.ts'
import { changeUserId, findPhoneOfUser, linkUser, recordUserOptOut } from './whatsapp-users.ts'

/**
 * Applies provider callbacks to conversations. Only LIVE conversations use providers. While the organisation is paused, replies and
 * reports are stored, so that none is lost, and responses wait in the queue; a call ends.
 */
export function createInboundHandler(deps: ContactDeps & Pick<Context, 'keyring' | 'vault' | 'queue'>): InboundHandler {
  return {
    async reply(tx, orgId, reply) {
      const candidateId = await findSender(tx, orgId, reply)
      if (candidateId === undefined) return recordUnknownOptOut(tx, orgId, reply)
      const { channel, providerId, userId } = reply
      if (userId !== undefined) await linkUser(tx, deps, userId, (await lockCandidacy(tx, candidateId))!)
      const candidate = (await lockCandidacy(tx, candidateId))!
      // An erased person has no stored address, so that the opt-out is stored for the address of the reply.
      if (candidate.person_key === null) return recordUnknownOptOut(tx, orgId, reply)
      await handleReply(tx, deps, candidate, { channel, providerId, input: inputOf(candidate, reply) })
    },
    async status(tx, orgId, report) {
      const candidateId = await handleDeliveryStatus(tx, deps, { ...report, orgId })
      await recordReportedCost(tx, deps, orgId, report)
      if (report.userId === undefined || candidateId === undefined) return
      await linkUser(tx, deps, report.userId, (await findCandidacy(tx, candidateId))!)
    },
    userChange: (tx, orgId, change) => changeUserId(tx, deps.clock, { orgId, mode: 'live' }, change),
    ...createCallHandler(deps),
  }

  /** Records an opt-out from a number or a user that matches no candidate. */
  async function recordUnknownOptOut(tx: Tx, orgId: string, { from, userId, text }: InboundReply) {
    if (!isOptOutReply(text ?? '')) return
    if (userId !== undefined) await recordUserOptOut(tx, deps.clock, { orgId, mode: 'live' }, userId)
    if (from !== undefined)
      await recordOptOut(tx, deps.clock, { org_id: orgId, mode: 'live', phone: from, email: null, test_clock_id: null })
  }
}

/** Returns the option of the current question that a text reply names by its number or label. */
export function matchCurrentChoice(candidate: Candidacy, text: string): string | undefined {
  if (isAcknowledgement(candidate.state, text)) return undefined
  return matchChoice(currentQuestion(candidate), text)
}

/** Returns the input for a reply. The value of a button belongs to the step of the button; a text answers the current question. */
function inputOf(candidate: Candidacy, { step, value, text }: InboundReply): ConversationInput {
  if (value !== undefined) return { kind: 'reply', value, ...(step === undefined ? {} : { step }) }
  const chosenValue = matchCurrentChoice(candidate, text ?? '')
  return chosenValue === undefined ? { kind: 'reply', text: text ?? '' } : { kind: 'reply', value: chosenValue }
}

/**
 * Returns the candidate who sent a reply: the one it was already assigned to (a duplicate), else the recipient of the message it
 * replies to, else the candidate with that number who was last contacted; pending candidates and the same channel come first. The
 * number of a sender who is known only by a user ID is the one that the user had in earlier callbacks.
 */
async function findSender(tx: Tx, orgId: string, reply: InboundReply): Promise<string | undefined> {
  const { channel, from, userId, inReplyTo, providerId } = reply
  const scope = { orgId, mode: 'live' as const }
  const phone =
    from !== undefined
      ? blindIndexOf(tx).phone(scope, from)
      : userId !== undefined && (await findPhoneOfUser(tx, scope, userId))
  if (phone) {
    const { rows: duplicates } = await sql<{ candidate_id: string }>`
      select candidate_id from candidates c join messages m using (candidate_id)
      where c.org_id = ${orgId} and c.mode = 'live' and c.phone_index = ${phone} and m.direction = 'in' and m.channel = ${channel}
        and m.provider_id = ${providerId} limit 1`.execute(tx)
    if (duplicates[0]) return duplicates[0].candidate_id
  }
  // Without a phone number, the ID of our message identifies the person: it is unique, and the callback is signed.
  const isSender = phone ? sql`c.phone_index = ${phone}` : sql`true`
  if (inReplyTo !== undefined) {
    const { rows } = await sql<{ candidate_id: string }>`
      select m.candidate_id from messages m join candidates c using (candidate_id)
      where m.channel = ${channel} and m.provider_id = ${inReplyTo} and m.direction = 'out' and m.org_id = ${orgId}
        and m.mode = 'live' and ${isSender} limit 1`.execute(tx)
    if (rows[0]) return rows[0].candidate_id
  }
  if (!phone) return undefined
  const { rows } = await sql<{ candidate_id: string }>`
    select candidate_id from candidates c join candidate_progress p using (candidate_id) left join lateral (
      select max(message_id) filter (where channel = ${channel}) as here, max(message_id) as anywhere from messages m
      where m.candidate_id = c.candidate_id and m.direction = 'out' and m.state not in ('queued', 'dropped')
    ) sent on true
    where c.org_id = ${orgId} and c.mode = 'live' and c.phone_index = ${phone}
    order by (p.status = 'pending' and sent.anywhere is not null) desc, sent.here desc nulls last, sent.anywhere desc nulls last, c.candidate_id desc limit 1`.execute(
    tx,
  )
  return rows[0]?.candidate_id
}
