import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'
import { findPublicCredential, type PublicCredential } from '../credentials.ts'

/** How long an offer and its access token are valid. The page of the offer states this time. */
const OFFER_VALID_MS = 10 * MINUTE

type OfferDeps = Pick<Context, 'clock'>

/** Creates the code of an offer. Only its hash is stored. */
export async function createOffer(tx: Tx, { clock }: OfferDeps, credentialId: string): Promise<string> {
  const code = `wof_${randomToken(32)}`
  const now = clock.now()
  await sql`insert into wallet_offers (code_hash, credential_id, org_id, mode, created_at, expires_at)
    select ${hashToken(code)}, credential_id, org_id, mode, ${new Date(now)}, ${new Date(now + OFFER_VALID_MS)}
    from credentials where credential_id = ${credentialId}`.execute(tx)
  return code
}

/** Returns whether a code can still be exchanged. */
export async function isOpenOffer(queries: Queries, { clock }: OfferDeps, code: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from wallet_offers
    where code_hash = ${hashToken(code)} and redeemed_at is null and expires_at > ${new Date(clock.now())}`.execute(
    queries,
  )
  return rows.length > 0
}

/** Exchanges a code for an access token; undefined if the code is unknown, expired or was used before. */
export async function redeemCode(
  tx: Tx,
  { clock }: OfferDeps,
  code: string,
): Promise<{ token: string; expiresInSeconds: number } | undefined> {
  const token = `wat_${randomToken(32)}`
  const now = clock.now()
  const { rows } = await sql<{ expires_at: Date }>`
    update wallet_offers set redeemed_at = ${new Date(now)}, token_hash = ${hashToken(token)}
    where code_hash = ${hashToken(code)} and redeemed_at is null and expires_at > ${new Date(now)}
    returning expires_at`.execute(tx)
  return rows[0] && { token, expiresInSeconds: Math.floor((rows[0].expires_at.getTime() - now) / 1000) }
}

/** Returns the credential of an access token: its newest version, if the person still wants it. */
export async function findOfferedCredential(
  queries: Queries,
  { clock }: OfferDeps,
  token: string,
): Promise<PublicCredential | 'withdrawn' | undefined> {
  const { rows } = await sql<{ credential_id: string }>`
    select credential_id from wallet_offers
    where token_hash = ${hashToken(token)} and expires_at > ${new Date(clock.now())}`.execute(queries)
  if (!rows[0]) return undefined
  const credential = await findPublicCredential(queries, rows[0].credential_id)
  return credential && credential.revokedAt === null ? credential : 'withdrawn'
}

export async function deleteExpiredOffers({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<void> {
  await sql`delete from wallet_offers where expires_at <= ${new Date(clock.now())}`.execute(db.queries)
}
