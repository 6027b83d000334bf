import type { Clock } from '../../platform/clock.ts'
import { HOUR, MINUTE } from '../../platform/clock.ts'
import type { Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import { hashToken } from './sessions.ts'

/** How long a link waits to be used. */
export const OPERATOR_LINK_LIFE = HOUR
export const MAIL_LINK_LIFE = 15 * MINUTE

/** A token that signs somebody in, once. With null it is the operator's. */
export async function makeLink(tx: Tx, clock: Clock, email: string | null): Promise<string> {
  const now = clock.now()
  const token = randomToken(32)
  await tx
    .insertInto('console_links')
    .values({
      token_hash: hashToken(token),
      email,
      created_at: new Date(now),
      expires_at: new Date(now + (email === null ? OPERATOR_LINK_LIFE : MAIL_LINK_LIFE)),
    })
    .execute()
  return token
}

/** Whom the token signs in; nobody where it was used, has ended or never was. */
export async function takeLink(tx: Tx, clock: Clock, token: string): Promise<{ email: string | null } | undefined> {
  const now = new Date(clock.now())
  return tx
    .updateTable('console_links')
    .set({ used_at: now })
    .where('token_hash', '=', hashToken(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .returning('email')
    .executeTakeFirst()
}

/** The token stands behind the hash: no server, proxy or mail scanner that only fetches the address sees or uses it. */
export function linkTo(publicUrl: string, token: string): string {
  return `${publicUrl}/console/sign-in#token=${token}`
}

export async function deleteOldLinks(tx: Tx, now: number): Promise<void> {
  await tx.deleteFrom('console_links').where('expires_at', '<=', new Date(now)).execute()
}
