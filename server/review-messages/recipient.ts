import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { findOptedOut, optOutAddressesOf } from '../campaigns/contact/opt-outs.ts'
import type { Context } from '../context.ts'
import { blindIndexOf } from '../people/identity/blind-index.ts'
import type { Queries } from '../platform/database/database.ts'
import { isSuppressed } from '../verification/reviews/review-requests.ts'
import type { Review } from '../verification/reviews/reviews.ts'
import type { Session } from '../verification/sessions.ts'

/** Returns a phone number in the form that the opt-out functions expect. */
export function phoneOwner({ orgId, mode }: OrgScope, phone: string, testClockId: string | null = null) {
  return { org_id: orgId, mode, phone, email: null, test_clock_id: testClockId }
}

/** Returns the hash by which an opt-out of a phone number is stored. */
export function phoneOptOutIndex(queries: Queries, owner: ReturnType<typeof phoneOwner>): Buffer {
  return optOutAddressesOf(queries, owner)[0]!
}

/** Returns why a reviewer must not get messages on their phone: opted out, restricted, or unsubscribed from review requests. */
export async function findRefusal(
  queries: Queries,
  deps: Pick<Context, 'mailboxes'>,
  session: Session,
  review: Review,
): Promise<string | undefined> {
  const phone = review.phone!
  const owner = phoneOwner(session.scope, phone, session.testClockId)
  if ((await findOptedOut(queries, [owner])).length > 0)
    return 'the number has opted out of the messages of the organisation'
  if (await isRestricted(queries, session, review))
    return 'the processing of the data of the reviewer or the student is restricted'
  if (await isSuppressed(queries, deps, session, review.email)) return 'the reviewer does not accept review requests'
  return undefined
}

/** Whether the reviewer, the student or the person whom the number identifies is restricted. */
async function isRestricted(queries: Queries, { scope, personId }: Session, review: Review): Promise<boolean> {
  const { orgId, mode } = scope
  const { rows } = await sql`
    select 1 from people o where o.restricted_at is not null and (o.person_id = any (${[personId, review.personId]})
      or o.person_id in (select person_id from person_addresses
        where org_id = ${orgId} and mode = ${mode} and is_key and address = ${blindIndexOf(queries).phone(scope, review.phone!)}))
    limit 1`.execute(queries)
  return rows.length > 0
}
