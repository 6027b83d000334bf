import { createHash, hash, timingSafeEqual } from 'node:crypto'
import type { Context } from '../../context.ts'
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts'
import type { Queries, Tx } from '../../platform/database/database.ts'
import { randomToken } from '../../platform/ids.ts'

/** Without a call for so long it is over, and after the second time in any case. */
export const IDLE = 12 * HOUR
export const LONGEST = 7 * DAY
/** Written down at most this often. */
const SEEN_EVERY = MINUTE

/** Somebody who is signed in. */
export interface Session {
  tokenHash: Buffer
  /** What a page of ours sends along with every change; nobody else's page can read it. */
  csrf: string
  /** Null for the operator. */
  email: string | null
  /** Epoch milliseconds. */
  expiresAt: number
}

type Tools = Pick<Context, 'clock' | 'vault' | 'adminKey'>

/** Signs somebody in; the token is in this answer and nowhere else. */
export async function openSession(tx: Tx, tools: Tools, email: string | null): Promise<string> {
  const token = randomToken(32)
  const now = new Date(tools.clock.now())
  await tx
    .insertInto('console_sessions')
    .values({
      token_hash: hashToken(token),
      email,
      key_stamp: email === null ? keyStamp(tools) : null,
      created_at: now,
      seen_at: now,
    })
    .execute()
  return token
}

export async function findSession(queries: Queries, tools: Tools, token: string): Promise<Session | undefined> {
  const tokenHash = hashToken(token)
  const row = await queries
    .selectFrom('console_sessions')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst()
  const now = tools.clock.now()
  if (!row || !isAlive(row, now)) return undefined
  if (row.key_stamp && !timingSafeEqual(row.key_stamp, keyStamp(tools))) return undefined
  if (now - row.seen_at.getTime() >= SEEN_EVERY) {
    await queries
      .updateTable('console_sessions')
      .set({ seen_at: new Date(now) })
      .where('token_hash', '=', tokenHash)
      .execute()
  }
  return { tokenHash, csrf: csrfOf(token), email: row.email, expiresAt: row.created_at.getTime() + LONGEST }
}

function isAlive({ seen_at, created_at }: { seen_at: Date; created_at: Date }, now: number) {
  return now < seen_at.getTime() + IDLE && now < created_at.getTime() + LONGEST
}

export async function endSession(tx: Tx, tokenHash: Buffer): Promise<void> {
  await tx.deleteFrom('console_sessions').where('token_hash', '=', tokenHash).execute()
}

/** Wherever this person is signed in; with null, wherever an operator is. */
export async function endSessionsOf(tx: Tx, email: string | null): Promise<void> {
  const sessions = tx.deleteFrom('console_sessions')
  if (email === null) await sessions.where('email', 'is', null).execute()
  else await sessions.where(({ fn, eb }) => eb(fn('lower', ['email']), '=', email.toLowerCase())).execute()
}

export async function deleteEndedSessions(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('console_sessions')
    .where(({ or, eb }) =>
      or([eb('seen_at', '<=', new Date(now - IDLE)), eb('created_at', '<=', new Date(now - LONGEST))]),
    )
    .execute()
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Follows from the session's token, so that it needs no place of its own and ends with the session. */
function csrfOf(token: string): string {
  return createHash('sha256').update(`console csrf\n${token}`).digest('base64url')
}

/** Compared as digests, which take the same time whatever was sent. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(given), digest(expected))
}

function keyStamp({ vault, adminKey }: Pick<Tools, 'vault' | 'adminKey'>): Buffer {
  return vault.stamp(adminKey, "operator's sessions")
}
