import { createHash, timingSafeEqual } from 'node:crypto'
import type { Context } from '../../context.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'

/** A session without requests for this long expires. */
const SESSION_IDLE_TIMEOUT_MS = 12 * HOUR
export const MAX_SESSION_AGE_MS = 7 * DAY
/** Minimum time between two writes of `seen_at`. */
const SEEN_AT_UPDATE_INTERVAL_MS = MINUTE

export interface SignedInSession {
  tokenHash: Buffer
  /** CSRF token: required with every write, and not readable by pages of other origins. */
  csrf: string
  /** Email address of the member, or null for the operator. */
  email: string | null
  /** Expiry time in epoch milliseconds. */
  expiresAt: number
}

type SessionDeps = Pick<Context, 'clock' | 'vault' | 'adminKey'>

/** Creates a session and returns its token, of which only the hash is stored. */
export async function createSession(tx: Tx, deps: SessionDeps, email: string | null): Promise<string> {
  const token = randomToken(32)
  const now = new Date(deps.clock.now())
  await tx
    .insertInto('console_sessions')
    .values({
      token_hash: hashToken(token),
      email,
      key_stamp: email === null ? adminKeyMac(deps) : null,
      created_at: now,
      seen_at: now,
    })
    .execute()
  return token
}

export async function findSession(
  queries: Queries,
  deps: SessionDeps,
  token: string,
): Promise<SignedInSession | undefined> {
  const tokenHash = hashToken(token)
  const row = await queries
    .selectFrom('console_sessions')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  const now = deps.clock.now()
  if (!row || !isActive(row, now)) return undefined
  if (row.key_stamp && !timingSafeEqual(row.key_stamp, adminKeyMac(deps))) return undefined
  if (now - row.seen_at.getTime() >= SEEN_AT_UPDATE_INTERVAL_MS) {
    await queries
      .updateTable('console_sessions')
      .set({ seen_at: new Date(now) })
      .where('token_hash', '=', tokenHash)
      .execute()
  }
  return {
    tokenHash,
    csrf: deriveCsrfToken(token),
    email: row.email,
    expiresAt: row.created_at.getTime() + MAX_SESSION_AGE_MS,
  }
}

function isActive({ seen_at, created_at }: { seen_at: Date; created_at: Date }, now: number) {
  return now < seen_at.getTime() + SESSION_IDLE_TIMEOUT_MS && now < created_at.getTime() + MAX_SESSION_AGE_MS
}

export async function endSession(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.deleteFrom('console_sessions').where('token_hash', '=', tokenHash).execute()
}

/** Ends all sessions of a member, or of the operator if `email` is null. */
export async function endAllSessions(tx: Tx, email: string | null): Promise<void> {
  const sessions = tx.deleteFrom('console_sessions')
  if (email === null) await sessions.where('email', 'is', null).execute()
  else await sessions.where(({ fn, eb }) => eb(fn('lower', ['email']), '=', email.toLowerCase())).execute()
}

export async function deleteExpiredSessions(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('console_sessions')
    .where(({ or, eb }) =>
      or([
        eb('seen_at', '<=', new Date(now - SESSION_IDLE_TIMEOUT_MS)),
        eb('created_at', '<=', new Date(now - MAX_SESSION_AGE_MS)),
      ]),
    )
    .execute()
}

/** Derives the CSRF token from the session token, so that it is not stored separately and expires with the session. */
function deriveCsrfToken(token: string): string {
  return createHash('sha256').update(`console csrf\n${token}`).digest('base64url')
}

/** Returns a MAC of the admin key: changing the key ends the operator's sessions. */
function adminKeyMac({ vault, adminKey }: Pick<SessionDeps, 'vault' | 'adminKey'>): Buffer {
  return vault.mac(adminKey, "operator's sessions")
}
