import { sql } from 'kysely'
import { getOrganisation } from '../../access/organisations.ts'
import type { Context } from '../../context.ts'
import { findPersonKeys } from '../../people/identity/people.ts'
import type { SealedColumn } from '../../platform/data-key-rotation.ts'
import type { Tx } from '../../platform/database/database.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob } from '../../platform/jobs/queue.ts'
import type { Language } from '../../platform/text/languages.ts'
import { createHolderLink, type Holder } from '../holders/holders.ts'
import { emailManageLink } from '../holders/manage-link-email.ts'

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
    const { rows: holders } = await sql<Holder & { person_id: string }>`
      select h.holder_id, h.org_id, h.mode, h.profile_slug, h.is_profile_public, c.person_id
      from credential_holders h cross join lateral (
        select person_id from credentials
        where holder_id = h.holder_id and credential is not null and person_id is not null order by credential_id desc limit 1
      ) c
      where h.contact_kind = 'email' and h.contact_hash = ${mailboxes.hash(address)}
      order by h.created_at desc limit ${MAX_LINKS_PER_REQUEST}`.execute(tx)
    const keys = await findPersonKeys(
      tx,
      holders.map(({ person_id }) => person_id),
    )
    for (const holder of holders) {
      const key = keys.get(holder.person_id)
      if (!key) continue // the person was erased
      const { name } = await getOrganisation(tx, holder.org_id)
      await emailManageLink(tx, context, {
        scope: { orgId: holder.org_id, mode: holder.mode },
        person: { personId: holder.person_id, key },
        address,
        url: await createHolderLink(tx, clock, config, holder),
        language: requests[0].language,
        organisation: name,
      })
    }
  })
}
