import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import { type Clock, HOUR } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId, randomCode, randomToken } from '../platform/ids.ts'
import { hashToken } from '../platform/token-hash.ts'
import type { Items } from './items.ts'
import type { EndorsementType, SessionInput, VerificationMethod, VerificationStatus } from './schema.ts'
import { readSessionInput, type Student } from './session-input.ts'

/** Time from the last step until the session expires. */
const SESSION_LIFETIME_MS = 24 * HOUR

/** A skill that the student chose, as stored in the session. */
export interface ChosenSkill {
  number: number
  name: string
  proofUrl: string[]
}

/** A verification session. Times are in epoch milliseconds. */
export interface Session {
  id: string
  scope: OrgScope
  userId: string
  /** The stored status; `statusAt` computes the current one. */
  status: VerificationStatus
  version: number
  student: Student
  items: Items
  returnUrl: string | undefined
  skills: ChosenSkill[]
  endorsementType: EndorsementType
  method: VerificationMethod | null
  /** Keys of the items that were chosen in step 3 (`SourceKey`). */
  sources: string[]
  /** Random ID of the call that is generating questions; null if there is none. */
  generatingBy: string | null
  /** Time until which other calls wait for the generated questions. */
  generatingUntil: number
  expiresAt: number
  completedAt: number | undefined
}

export interface OpenedSession {
  sessionToken: string
  serviceVerificationId: string
  serviceUserId: string
  expiresAt: string
}

/** Opens a session. Only this response contains the token; the database stores its hash. */
export async function openSession(
  queries: Queries,
  { orgId, mode }: OrgScope,
  clock: Clock,
  input: SessionInput,
): Promise<OpenedSession> {
  const { student, items, returnUrl } = readSessionInput(input, mode)
  const now = clock.now()
  const sessionToken = `vst_${randomToken(32)}`
  const verificationId = `SV_${randomCode(26)}` // five random bits per character
  const expiresAt = new Date(now + SESSION_LIFETIME_MS)
  const { rows } = await sql<{ user_id: string }>`
    with student as (
      insert into verification_students (user_id, org_id, mode, external_student_id, created_at)
      values (${newId('SU_', now)}, ${orgId}, ${mode}, ${student.externalStudentId}, ${new Date(now)})
      on conflict (org_id, mode, external_student_id) do update set external_student_id = excluded.external_student_id
      returning user_id
    )
    insert into verification_sessions
      (verification_id, org_id, mode, user_id, token_hash, status, student, items, return_url, created_at, updated_at, expires_at)
    select ${verificationId}, ${orgId}, ${mode}, user_id, ${hashToken(sessionToken)}, 'open', ${JSON.stringify(student)},
      ${JSON.stringify(items)}, ${returnUrl ?? null}, ${new Date(now)}, ${new Date(now)}, ${expiresAt}
    from student
    returning user_id`.execute(queries)
  return {
    sessionToken,
    serviceVerificationId: verificationId,
    serviceUserId: rows[0]!.user_id,
    expiresAt: expiresAt.toISOString(),
  }
}

/** Returns the active session of a token; with a scope, only a session of that organisation and mode. */
export async function getSession(
  queries: Queries,
  token: string,
  scope: OrgScope | undefined,
  now: number,
): Promise<Session> {
  return requireActive(await selectSession(queries, sql`s.token_hash = ${hashToken(token)}`), scope, now)
}

/** Same as `getSession`, and locks the session and the student, whose limits apply across sessions. */
export async function lockSession(tx: Tx, token: string, scope: OrgScope | undefined, now: number): Promise<Session> {
  return requireActive(await selectSession(tx, sql`s.token_hash = ${hashToken(token)}`, { lock: true }), scope, now)
}

export async function findVerification(queries: Queries, id: string): Promise<Session | undefined> {
  return selectSession(queries, sql`s.verification_id = ${id}`)
}

export async function lockVerification(tx: Tx, id: string): Promise<Session | undefined> {
  return selectSession(tx, sql`s.verification_id = ${id}`, { lock: true })
}

/** Returns the organisation of a session, found by its token, else by its verification ID. */
export async function findOrganisationOf(
  queries: Queries,
  { token, verificationId }: { token: string | undefined; verificationId: unknown },
): Promise<string | undefined> {
  if (token === undefined && (typeof verificationId !== 'string' || verificationId.includes('\0'))) return undefined
  const condition =
    token === undefined ? sql`verification_id = ${verificationId}` : sql`token_hash = ${hashToken(token)}`
  const { rows } = await sql<{ org_id: string }>`
    select org_id from verification_sessions where ${condition}`.execute(queries)
  return rows[0]?.org_id
}

export function belongsTo({ scope }: Session, { orgId, mode }: OrgScope): boolean {
  return scope.orgId === orgId && scope.mode === mode
}

function requireActive(session: Session | undefined, scope: OrgScope | undefined, now: number): Session {
  if (!session || now >= session.expiresAt || (scope && !belongsTo(session, scope))) throw sessionNotFoundProblem()
  return session
}

export function sessionNotFoundProblem() {
  return problem('SESSION_NOT_FOUND', 'Session not found or expired.')
}

export function verificationNotFoundProblem() {
  return problem('VERIFICATION_NOT_FOUND', 'Verification not found.')
}

// Other tables are read in separate statements: after waiting for the lock, joined rows that are not locked would be stale.
async function selectSession(
  queries: Queries,
  condition: ReturnType<typeof sql>,
  { lock = false }: { lock?: boolean } = {},
): Promise<Session | undefined> {
  const { rows } = lock
    ? await sql<SessionRow>`
        select s.* from verification_sessions s join verification_students u using (user_id)
        where ${condition} for update of s, u`.execute(queries)
    : await sql<SessionRow>`select s.* from verification_sessions s where ${condition}`.execute(queries)
  return rows[0] && sessionFromRow(rows[0])
}

export interface SessionRow {
  verification_id: string
  org_id: string
  mode: 'test' | 'live'
  user_id: string
  status: VerificationStatus
  version: number
  student: Student
  items: Items
  return_url: string | null
  skills: ChosenSkill[]
  endorsement_type: EndorsementType
  method: VerificationMethod | null
  sources: string[]
  generating_by: string | null
  generating_until: Date | null
  expires_at: Date
  completed_at: Date | null
}

export function sessionFromRow(row: SessionRow): Session {
  return {
    id: row.verification_id,
    scope: { orgId: row.org_id, mode: row.mode },
    userId: row.user_id,
    status: row.status,
    version: row.version,
    student: row.student,
    items: row.items,
    returnUrl: row.return_url ?? undefined,
    skills: row.skills,
    endorsementType: row.endorsement_type,
    method: row.method,
    sources: row.sources,
    generatingBy: row.generating_by,
    generatingUntil: row.generating_until?.getTime() ?? 0,
    expiresAt: row.expires_at.getTime(),
    completedAt: row.completed_at?.getTime(),
  }
}

export type SessionChange = Partial<
  Pick<
    Session,
    'status' | 'skills' | 'endorsementType' | 'method' | 'sources' | 'generatingBy' | 'generatingUntil' | 'completedAt'
  >
> & {
  /** True for actions of the student or the partner, which extend the session. */
  extendsSession?: boolean
}

/** Stores a change of a session that the transaction has locked. */
export async function changeSession(tx: Tx, session: Session, now: number, change: SessionChange): Promise<Session> {
  const { extendsSession = false, ...fields } = change
  const changedSession: Session = {
    ...session,
    ...fields,
    version: session.version + 1,
    expiresAt: extendsSession && now < session.expiresAt ? now + SESSION_LIFETIME_MS : session.expiresAt,
  }
  await tx
    .updateTable('verification_sessions')
    .set({
      status: changedSession.status,
      version: changedSession.version,
      ...(fields.skills
        ? { skills: JSON.stringify(fields.skills), skill_numbers: fields.skills.map(({ number }) => number) }
        : {}),
      endorsement_type: changedSession.endorsementType,
      method: changedSession.method,
      sources: changedSession.sources,
      generating_by: changedSession.generatingBy,
      generating_until: changedSession.generatingUntil === 0 ? null : new Date(changedSession.generatingUntil),
      updated_at: new Date(now),
      expires_at: new Date(changedSession.expiresAt),
      completed_at: changedSession.completedAt === undefined ? null : new Date(changedSession.completedAt),
    })
    .where('verification_id', '=', session.id)
    .execute()
  return changedSession
}

/** Returns true once the review was requested or questions exist or are being generated; steps can then no longer change. */
export function isLocked({ status, generatingBy, generatingUntil }: Session, now: number): boolean {
  return status !== 'open' || (generatingBy !== null && now < generatingUntil)
}

export function requireUnlocked(session: Session, now: number): void {
  if (!isLocked(session, now)) return
  throw problem(
    'SESSION_LOCKED',
    'The review was requested, or questions were generated or are being generated: skills, method and items cannot be changed.',
  )
}

/** Formats a skill of a session for responses. */
export function skillRecord({ number, name, proofUrl }: ChosenSkill) {
  return { skillId: skillId(number), name, proofUrl }
}
