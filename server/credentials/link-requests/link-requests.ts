import { sql } from 'kysely'
import { getOrganisation } from '../../access/organisations.ts'
import type { Context } from '../../context.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import type { Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import type { Language } from '../../platform/text/languages.ts'
import { createHolderLink, type Holder } from '../holders.ts'
import { emailManageLink } from '../manage-link-email.ts'

/** Emails a person new links to their credentials, if the address has any. */
export const emailHolderLinks = defineJob<{ request_id: string }>('email-holder-links', { retries: 20 })

/** An address can be that of several people, for example in a family; each person of each organisation gets a link of their own. */
const MAX_LINKS_PER_REQUEST = 20

const addressPurpose = (requestId: string) => `address of the link request ${requestId}`

export const sealedLinkRequests: SealedColumn = {
  table: 'credential_link_requests',
  column: 'address',
  id: ['request_id'],
  purpose: addressPurpose,
}

/**
 * Stores the request of a person who lost the link. The work is done by a job, for every address alike, so that neither the response nor
 * its time shows whether the address has credentials.
 */
export async function requestHolderLinks(
  tx: Tx,
  { clock, vault, queue }: Pick<Context, 'clock' | 'vault' | 'queue'>,
  { email, language }: { email: string; language: Language },
): Promise<void> {
  const now = clock.now()
  const requestId = newId('LR_', now)
  await sql`insert into credential_link_requests (request_id, address, language, created_at)
    values (${requestId}, ${vault.seal(email, addressPurpose(requestId))}, ${language}, ${new Date(now)})`.execute(tx)
  await queue.enqueue(tx, emailHolderLinks, { request_id: requestId })
}

/** Emails the links of a request and deletes the request in the same transaction, so that a retry sends nothing twice. */
export async function sendHolderLinks(context: Context, requestId: string): Promise<void> {
  const { db, clock, config, vault, mailboxes } = context
  await db.transaction(async (tx) => {
    const { rows: requests } = await sql<{ address: Buffer; language: string }>`
      delete from credential_link_requests where request_id = ${requestId} returning address, language`.execute(tx)
    if (!requests[0]) return
    const address = vault.open(requests[0].address, addressPurpose(requestId))
    const { rows: holders } = await sql<Holder>`
      select holder_id, org_id, mode, profile_slug, is_profile_public from credential_holders h
      where contact_kind = 'email' and contact_hash = ${mailboxes.hash(address)}
        and exists (select from credentials c where c.holder_id = h.holder_id and c.credential is not null)
      order by created_at desc limit ${MAX_LINKS_PER_REQUEST}`.execute(tx)
    for (const holder of holders) {
      const { name } = await getOrganisation(tx, holder.org_id)
      await emailManageLink(tx, context, {
        scope: { orgId: holder.org_id, mode: holder.mode },
        address,
        url: await createHolderLink(tx, clock, config, holder),
        language: requests[0].language,
        organisation: name,
      })
    }
  })
}
