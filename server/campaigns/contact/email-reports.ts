import { sql } from 'kysely'
import type { HandleMessageReport } from '../../mail/report-routes.ts'
import { suppressMailbox } from '../../mail/suppressions.ts'
import { findCandidacy } from '../candidacy.ts'
import type { ContactDeps } from './contact.ts'
import { handleDeliveryStatus } from './statuses.ts'

/** Applies a bounce or a complaint to the email of a candidate. A complaint counts as an opt-out; after a bounce, the next channel is used. */
export function createMessageReportHandler(deps: ContactDeps): HandleMessageReport {
  return async (tx, messageId, { kind, isUnknownAddress, error, recipients }) => {
    const { rows } = await sql<{ candidate_id: string; provider_id: string | null }>`
      select candidate_id, provider_id from messages
      where message_id = ${messageId} and channel = 'email' and direction = 'out' and mode = 'live'`.execute(tx)
    const message = rows[0]
    const address = message && (await findCandidacy(tx, message.candidate_id))?.email
    // The address of an erased person is not known.
    if (!address) return false
    const { provider_id } = message
    const isComplaint = kind === 'complaint'
    const isAboutCandidate = recipients.length === 0 || recipients.includes(address.toLowerCase())
    if (isComplaint || (isUnknownAddress && isAboutCandidate)) {
      const reason = isComplaint ? 'complained' : 'bounced'
      await suppressMailbox(tx, deps, { address, audience: 'all', reason, causedBy: messageId })
    }
    await handleDeliveryStatus(tx, deps, {
      channel: 'email',
      providerId: provider_id ?? messageId,
      messageId,
      status: 'failed',
      error,
      ...(isComplaint ? { stop: true } : {}),
    })
    return true
  }
}
