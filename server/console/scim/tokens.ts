import type { Context } from '../../context.ts'
import { MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { IdentityProvider } from '../identity-providers/identity-providers.ts'

const TOKEN_PREFIX = 'scim_'
/** Minimum time between two writes of `last_used_at`. */
const LAST_USED_INTERVAL_MS = MINUTE

/** Creates the token of a provider, which replaces its previous one. */
export async function createScimToken(
  tx: Tx,
  { clock }: Pick<Context, 'clock'>,
  { provider_id, org_id }: Pick<IdentityProvider, 'provider_id' | 'org_id'>,
): Promise<string> {
  const token = TOKEN_PREFIX + randomToken(32)
  const values = { token_hash: hashToken(token), created_at: new Date(clock.now()), last_used_at: null }
  await tx
    .insertInto('scim_tokens')
    .values({ provider_id, org_id: org_id!, ...values })
    .onConflict((conflict) => conflict.column('provider_id').doUpdateSet(values))
    .execute()
  return token
}

/** Revokes the token. Returns false if there is none. */
export async function revokeScimToken(tx: Tx, orgId: string): Promise<boolean> {
  const revoked = await tx.deleteFrom('scim_tokens').where('org_id', '=', orgId).returning('org_id').executeTakeFirst()
  return revoked !== undefined
}

export async function findScimToken(queries: Queries, orgId: string) {
  return queries
    .selectFrom('scim_tokens')
    .select(['created_at', 'last_used_at'])
    .where('org_id', '=', orgId)
    .executeTakeFirst()
}

/** Returns the provider and the organisation of a token. */
export async function authenticateScimToken(
  queries: Queries,
  { clock }: Pick<Context, 'clock'>,
  token: string,
): Promise<{ providerId: string; orgId: string } | undefined> {
  const tokenHash = hashToken(token)
  const row = await queries
    .selectFrom('scim_tokens')
    .select(['provider_id', 'org_id', 'last_used_at'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  if (!row) return undefined
  const now = clock.now()
  if (now - (row.last_used_at?.getTime() ?? 0) >= LAST_USED_INTERVAL_MS)
    await queries
      .updateTable('scim_tokens')
      .set({ last_used_at: new Date(now) })
      .where('token_hash', '=', tokenHash)
      .execute()
  return { providerId: row.provider_id, orgId: row.org_id }
}
