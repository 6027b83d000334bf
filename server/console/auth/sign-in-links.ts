import type { Clock } from '../../platform/clock.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'

/** Validity of links that are printed on the server, for its operators. */
export const PRINTED_LINK_VALID_MS = HOUR
export const EMAIL_LINK_VALID_MS = 15 * MINUTE
export const INVITATION_VALID_MS = 7 * DAY

/** Creates a one-time sign-in token for a member or an operator. */
export async function createSignInLink(
  tx: Tx,
  clock: Clock,
  email: string,
  validMs = EMAIL_LINK_VALID_MS,
  invitedMemberId: string | null = null,
): Promise<string> {
  const now = clock.now()
  const token = randomToken(32)
  await tx
    .insertInto('console_links')
    .values({
      token_hash: hashToken(token),
      email,
      member_id: invitedMemberId,
      created_at: new Date(now),
      expires_at: new Date(now + validMs),
    })
    .execute()
  return token
}

/** Creates a one-time sign-in token that invites a member. Earlier invitations of the member end. */
export async function createInvitation(
  tx: Tx,
  clock: Clock,
  { member_id, email }: { member_id: string; email: string },
): Promise<string> {
  await endInvitations(tx, member_id)
  return createSignInLink(tx, clock, email, INVITATION_VALID_MS, member_id)
}

export async function endInvitations(tx: Tx, memberId: string): Promise<void> {
  await tx.deleteFrom('console_links').where('member_id', '=', memberId).execute()
}

/** Marks the token as used and returns its email address. Returns undefined if it was used, has expired or does not exist. */
export async function consumeSignInLink(tx: Tx, clock: Clock, token: string): Promise<string | undefined> {
  const now = new Date(clock.now())
  const link = await tx
    .updateTable('console_links')
    .set({ used_at: now })
    .where('token_hash', '=', hashToken(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .where('email', 'is not', null)
    .returning('email')
    .executeTakeFirst()
  return link?.email ?? undefined
}

/** Returns the link with the token in the fragment, which servers, proxies and link scanners never receive. */
export function signInUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/console/sign-in#token=${token}`
}

/** Returns the link that signs an invited member in and opens the organisation. */
export function invitationUrl(publicUrl: string, orgId: string, token: string): string {
  return `${publicUrl}/console/sign-in?invitation=${orgId}#token=${token}`
}

export async function deleteExpiredLinks(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('console_links').where('expires_at', '<=', new Date(now)).execute()
}
