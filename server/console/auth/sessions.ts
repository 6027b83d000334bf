import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { type Clock, DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { newId, randomToken } from '../../platform/ids.ts'
import { hashToken } from '../../platform/token-hash.ts'
import type { AuditSource } from '../audit.ts'

/** A session without requests for this long expires. */
const SESSION_IDLE_TIMEOUT_MS = 12 * HOUR
export const MAX_SESSION_AGE_MS = 7 * DAY
/** Sensitive changes require a sign-in or a confirmation within this time. */
const CONFIRMATION_VALID_MS = 15 * MINUTE
/** Minimum time between two writes of `seen_at`. */
const SEEN_AT_UPDATE_INTERVAL_MS = MINUTE
const MAX_USER_AGENT_LENGTH = 300

export interface SignedInSession {
  tokenHash: Buffer
  sessionId: string
  /** CSRF token: required with every write, and not readable by pages of other origins. */
  csrf: string
  email: string
  /** Whether the person is an operator now. */
  isOperator: boolean
  /** Expiry time in epoch milliseconds. */
  expiresAt: number
  /** Time until which sensitive changes are allowed, in epoch milliseconds. */
  confirmedUntil: number
}

type SessionDeps = Pick<Context, 'clock'>

/** Creates a session and returns its token, of which only the hash is stored. */
export async function createSession(
  tx: Tx,
  { clock }: SessionDeps,
  email: string,
  { address, userAgent }: AuditSource = {},
): Promise<string> {
  const token = randomToken(32)
  const now = clock.now()
  await tx
    .insertInto('console_sessions')
    .values({
      token_hash: hashToken(token),
      session_id: newId('CS_', now),
      email,
      created_at: new Date(now),
      seen_at: new Date(now),
      confirmed_at: new Date(now),
      address: address ?? null,
      user_agent: userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    })
    .execute()
  return token
}

export async function findSession(
  queries: Queries,
  { clock }: SessionDeps,
  token: string,
): Promise<SignedInSession | undefined> {
  const tokenHash = hashToken(token)
  const row = await queries
    .selectFrom('console_sessions as s')
    .select(['s.session_id', 's.email', 's.created_at', 's.seen_at', 's.confirmed_at'])
    .select(
      sql<boolean>`exists (
        select from console_operators as o
        where lower(o.email collate "C") = lower(s.email collate "C") and o.disabled_at is null
      )`.as('is_operator'),
    )
    .where('s.token_hash', '=', tokenHash)
    .executeTakeFirst()
  const now = clock.now()
  if (!row || row.email === null || !isActive(row, now)) return undefined
  if (now - row.seen_at.getTime() >= SEEN_AT_UPDATE_INTERVAL_MS) {
    await queries
      .updateTable('console_sessions')
      .set({ seen_at: new Date(now) })
      .where('token_hash', '=', tokenHash)
      .execute()
  }
  return {
    tokenHash,
    sessionId: row.session_id,
    csrf: deriveCsrfToken(token),
    email: row.email,
    isOperator: row.is_operator,
    expiresAt: row.created_at.getTime() + MAX_SESSION_AGE_MS,
    confirmedUntil: (row.confirmed_at?.getTime() ?? 0) + CONFIRMATION_VALID_MS,
  }
}

function isActive({ seen_at, created_at }: { seen_at: Date; created_at: Date }, now: number) {
  return now < seen_at.getTime() + SESSION_IDLE_TIMEOUT_MS && now < created_at.getTime() + MAX_SESSION_AGE_MS
}

/** Allows sensitive changes in the session for the next minutes. */
export async function confirmSession(tx: Tx, clock: Clock, tokenHash: Buffer): Promise<void> {
  await tx
    .updateTable('console_sessions')
    .set({ confirmed_at: new Date(clock.now()) })
    .where('token_hash', '=', tokenHash)
    .execute()
}

export interface ListedSession {
  session_id: string
  created_at: Date
  seen_at: Date
  address: string | null
  user_agent: string | null
}

/** Returns the active sessions of a person, newest first. */
export async function listSessions(queries: Queries, clock: Clock, email: string): Promise<ListedSession[]> {
  const rows = await queries
    .selectFrom('console_sessions')
    .select(['session_id', 'created_at', 'seen_at', 'address', 'user_agent'])
    .where(hasEmail(email))
    .orderBy('created_at', 'desc')
    .orderBy('session_id', 'desc')
    .execute()
  return rows.filter((row) => isActive(row, clock.now()))
}

/** Ends one session of a person. Returns false if they have no such session. */
export async function endOwnSession(tx: Tx, email: string, sessionId: string): Promise<boolean> {
  const endedSession = await tx
    .deleteFrom('console_sessions')
    .where(hasEmail(email))
    .where('session_id', '=', sessionId)
    .returning('session_id')
    .executeTakeFirst()
  return endedSession !== undefined
}

/** Ends a session, and returns the email address of its person. */
export async function endSession(tx: Tx, tokenHash: Buffer): Promise<string | undefined> {
  const endedSession = await tx
    .deleteFrom('console_sessions')
    .where('token_hash', '=', tokenHash)
    .returning('email')
    .executeTakeFirst()
  return endedSession?.email ?? undefined
}

/** Ends all sessions of a person. */
export async function endAllSessions(tx: Tx, email: string): Promise<void> {
  await tx.deleteFrom('console_sessions').where(hasEmail(email)).execute()
}

/** Compares addresses as for operators: a person must not see or end sessions of a person whose address only resembles theirs. */
const hasEmail = (email: string) => sql<boolean>`lower(email collate "C") = lower(${email}::text collate "C")`

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
