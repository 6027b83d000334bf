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
  /** The identity provider that the person signed in with. The session has only the access that this provider manages. */
  provider: SessionProvider | undefined
  /** The organisations that were opened in the session. */
  orgIds: string[]
}

export interface SessionProvider {
  providerId: string
  name: string
  /** Null for the provider of the operators. */
  orgId: string | null
}

/** Starts the tokens of sessions with a provider. Earlier versions, which do not know the limits of these sessions, reject such tokens. */
const PROVIDER_TOKEN_PREFIX = 'p.'

export interface NewSession {
  email: string
  source?: AuditSource | undefined
  /** The identity provider that authenticated the person. */
  providerId?: string | undefined
  /** Time of the authentication in epoch milliseconds, null if it is unknown. Default: now. */
  confirmedAt?: number | null | undefined
}

type SessionDeps = Pick<Context, 'clock'>

/** Creates a session and returns its token, of which only the hash is stored. */
export async function createSession(
  tx: Tx,
  { clock }: SessionDeps,
  { email, source: { address, userAgent } = {}, providerId, confirmedAt }: NewSession,
): Promise<string> {
  const token = (providerId === undefined ? '' : PROVIDER_TOKEN_PREFIX) + randomToken(32)
  const now = clock.now()
  await tx
    .insertInto('console_sessions')
    .values({
      token_hash: hashToken(token),
      session_id: newId('CS_', now),
      email,
      created_at: new Date(now),
      seen_at: new Date(now),
      confirmed_at: confirmedAt === null ? null : new Date(Math.min(confirmedAt ?? now, now)),
      address: address ?? null,
      user_agent: userAgent?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
      provider_id: providerId ?? null,
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
    .leftJoin('identity_providers as p', 'p.provider_id', 's.provider_id')
    .select(['s.session_id', 's.email', 's.created_at', 's.seen_at', 's.confirmed_at', 's.provider_id', 's.org_ids'])
    .select(['p.org_id as provider_org_id', 'p.name as provider_name'])
    .select(isOperatorSession.as('is_operator'))
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
    provider:
      row.provider_id === null
        ? undefined
        : { providerId: row.provider_id, name: row.provider_name!, orgId: row.provider_org_id },
    orgIds: row.org_ids,
  }
}

/**
 * Whether the person of a session is an operator and signed in with a method that operators may use: the operators' provider, or email
 * unless that provider is required. The provider of an organisation signs in members of this organisation only, regardless of the
 * addresses that it asserts.
 */
const isOperatorSession = sql<boolean>`(
  exists (
    select from console_operators as o
    where lower(o.email collate "C") = lower(s.email collate "C") and o.disabled_at is null
  ) and case when s.provider_id is null
    then not exists (select from identity_providers as required where required.org_id is null and required.required)
    else p.org_id is null end
)`

/** Records that a member has opened an organisation in the session. */
export async function recordOpenedOrganisation(queries: Queries, session: SignedInSession, orgId: string) {
  if (session.orgIds.includes(orgId)) return
  await sql`
    update console_sessions set org_ids = array_append(org_ids, ${orgId}::text)
    where token_hash = ${session.tokenHash} and not org_ids @> array[${orgId}::text]`.execute(queries)
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

/** Selects some of the sessions of a person. */
export interface SessionFilter {
  /** Only sessions with this identity provider, because another person may have the same address at another provider. */
  providerId?: string | undefined
  /** Only sessions in which this organisation was opened. */
  orgId?: string | undefined
}

/** Returns the filter for the sessions that a person may see and end in this session. */
export function ownSessionFilter({ provider }: SignedInSession): SessionFilter {
  return { providerId: provider?.providerId }
}

/** Returns the active sessions of a person, newest first. */
export async function listSessions(
  queries: Queries,
  clock: Clock,
  email: string,
  filter: SessionFilter,
): Promise<ListedSession[]> {
  const rows = await queries
    .selectFrom('console_sessions')
    .select(['session_id', 'created_at', 'seen_at', 'address', 'user_agent'])
    .where(isSessionOf(email, filter))
    .orderBy('created_at', 'desc')
    .orderBy('session_id', 'desc')
    .execute()
  return rows.filter((row) => isActive(row, clock.now()))
}

export function sessionRecord({ created_at, seen_at, ...session }: ListedSession) {
  return { ...session, created_at: created_at.toISOString(), seen_at: seen_at.toISOString() }
}

/** Ends one session of a person. Returns false if they have no such session. */
export async function endOwnSession(tx: Tx, email: string, sessionId: string, filter: SessionFilter): Promise<boolean> {
  const endedSession = await tx
    .deleteFrom('console_sessions')
    .where(isSessionOf(email, filter))
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

/** Ends all sessions of a person that the filter selects, and returns their number. */
export async function endAllSessions(tx: Tx, email: string, filter: SessionFilter): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('console_sessions')
    .where(isSessionOf(email, filter))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Ends the sessions of a person with the provider of an organisation, or that of the operators for null. */
export async function endProviderSessions(tx: Tx, orgId: string | null, email: string): Promise<void> {
  await sql`
    delete from console_sessions using identity_providers as p
    where p.provider_id = console_sessions.provider_id and p.org_id is not distinct from ${orgId}
      and lower(console_sessions.email) = ${email.toLowerCase()}`.execute(tx)
}

/** Compares addresses as for operators: a person must not see or end sessions of a person whose address only resembles theirs. */
function isSessionOf(email: string, { providerId, orgId }: SessionFilter) {
  const conditions = [sql<boolean>`lower(email collate "C") = lower(${email}::text collate "C")`]
  if (providerId !== undefined) conditions.push(sql`provider_id = ${providerId}`)
  if (orgId !== undefined) conditions.push(sql`org_ids @> array[${orgId}::text]`)
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
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
