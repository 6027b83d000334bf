import { sql } from 'kysely'
import type { OrgScope } from '../../access/caller.ts'
import { problem } from '../../api/problem.ts'
import type { RenderedPrompt } from '../../conversation/render.ts'
import type { ContactConsent } from '../../notices/contact-basis.ts'
import type { Tx } from '../../platform/database/database.ts'
import { findCandidacy } from '../candidacy.ts'
import { openMessage } from '../personal-values.ts'
import { kindOfMessage, type SentMessageKind } from './message-kind.ts'
import type { ConversationChannel, MessageState } from './messages.ts'
import { findOptedOut } from './opt-outs.ts'

/** Proof of the messages that were sent to a candidate, and of their basis. */
export interface ContactRecord {
  candidate_id: string
  external_candidate_id: string
  campaign_id: string
  consent: ContactConsent | null
  opted_out: boolean
  /** Result of the DND check before the first contact; null without one. */
  dnd_check: { checked_at: string; blocked: boolean } | null
  messages: {
    message_id: string
    kind: SentMessageKind
    channel: ConversationChannel
    state: MessageState
    sent_at: string | null
    template_id: string | null
    provider_id: string | null
    text: string
    error: string | null
  }[]
}

interface MessageRow {
  message_id: string
  channel: ConversationChannel
  state: MessageState
  contact_step: number | null
  requested: boolean
  is_code: boolean
  personal: Buffer | null
  sent_at: Date | null
  template_id: string | null
  provider_id: string | null
  error: string | null
}

/** Returns the messages that were sent to a candidate of a campaign, with the basis of the contact. */
export async function getContactRecord(
  tx: Tx,
  { orgId, mode }: OrgScope,
  campaignId: string,
  candidateId: string,
): Promise<ContactRecord> {
  const candidate = await findCandidacy(tx, candidateId)
  if (candidate?.org_id !== orgId || candidate.mode !== mode || candidate.campaign_id !== campaignId)
    throw problem('NOT_FOUND', `Candidate ${candidateId} not found in campaign ${campaignId}.`)
  const { rows } = await sql<MessageRow>`
    select message_id, channel, state, contact_step, requested, is_code, personal, sent_at, template_id, provider_id, error
    from messages where candidate_id = ${candidateId} and direction = 'out' and channel <> 'page' and state <> 'dropped'
    order by message_id`.execute(tx)
  return {
    candidate_id: candidateId,
    external_candidate_id: candidate.external_candidate_id,
    campaign_id: campaignId,
    consent: candidate.consent ?? null,
    opted_out: (await findOptedOut(tx, [candidate])).length > 0,
    dnd_check: await findDndResult(tx, candidateId),
    messages: rows.map((row) => ({
      message_id: row.message_id,
      kind: kindOfMessage(row),
      channel: row.channel,
      state: row.state,
      sent_at: row.sent_at?.toISOString() ?? null,
      template_id: row.template_id,
      provider_id: row.provider_id,
      text: openMessage<RenderedPrompt[]>(candidate.person_key, { ...row, direction: 'out' })
        .map(({ text }) => text)
        .join('\n\n'),
      error: row.error,
    })),
  }
}

async function findDndResult(tx: Tx, candidateId: string): Promise<ContactRecord['dnd_check']> {
  const { rows } = await sql<{ dnd_checked_at: Date | null; dnd_blocked: boolean }>`
    select dnd_checked_at, dnd_blocked from candidates where candidate_id = ${candidateId}`.execute(tx)
  const { dnd_checked_at, dnd_blocked } = rows[0]!
  return dnd_checked_at && { checked_at: dnd_checked_at.toISOString(), blocked: dnd_blocked }
}
