import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { OwnerScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import { type Clock, HOUR } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId, randomCode, randomToken } from '../platform/ids.ts'
import type { Items } from './items.ts'
import type { EndorsementType, Method, SessionInput, Status } from './schema.ts'
import { readSessionInput, type Student } from './session-input.ts'

/** From the last step. */
export const SESSION_LIFE = 24 * HOUR

export interface SessionSkill {
  number: number
  name: string
  proofUrl: string[]
}

/** A verification from its opening to its end. */
export interface Session {
  id: string
  scope: OwnerScope
  userId: string
  /** As it was last written: see `statusAt`. */
  status: Status
  version: number
  student: Student
  items: Items
  returnUrl: string | undefined
  skills: SessionSkill[]
  endorsementType: EndorsementType
  method: Method | null
  sources: string[]
  generatingBy: string | null
  /** Epoch milliseconds, like the other times here. */
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

/** Opens a session. The token is in this answer and nowhere else: the database keeps its hash. */
export async function openSession(
  queries: Queries,
  { orgId, mode }: OwnerScope,
  clock: Clock,
  input: SessionInput,
): Promise<OpenedSession> {
  const { student, items, returnUrl } = readSessionInput(input)
  const now = clock.now()
  const sessionToken = `vst_${randomToken(32)}`
  const verificationId = `SV_${randomCode(26)}` // five random bits a letter
  const expiresAt = new Date(now + SESSION_LIFE)
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

/** The session of a token, while it lives; of this organisation and mode where a key says so. */
export async function getSession(
  queries: Queries,
  token: string,
  scope: OwnerScope | undefined,
  now: number,
): Promise<Session> {
  return living(await select(queries, sql`s.token_hash = ${hashToken(token)}`), scope, now)
}

/** The same, and the student with all that counts across sessions: whoever holds both decides alone. */
export async function lockSession(tx: Tx, token: string, scope: OwnerScope | undefined, now: number): Promise<Session> {
  return living(await select(tx, sql`s.token_hash = ${hashToken(token)}`, true), scope, now)
}

export async function findVerification(queries: Queries, id: string): Promise<Session | undefined> {
  return select(queries, sql`s.verification_id = ${id}`)
}

export async function lockVerification(tx: Tx, id: string): Promise<Session | undefined> {
  return select(tx, sql`s.verification_id = ${id}`, true)
}

export function belongsTo({ scope }: Session, { orgId, mode }: OwnerScope): boolean {
  return scope.orgId === orgId && scope.mode === mode
}

function living(session: Session | undefined, scope: OwnerScope | undefined, now: number): Session {
  if (!session || now >= session.expiresAt || (scope && !belongsTo(session, scope))) throw sessionNotFound()
  return session
}

export function sessionNotFound() {
  return problem('SESSION_NOT_FOUND', 'There is no such session, or it has ended.')
}

export function verificationNotFound() {
  return problem('VERIFICATION_NOT_FOUND', 'There is no such verification.')
}

export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

// What else a waiting transaction needs it reads in a statement of its own: joined rows that are not locked would be
// those from before the wait.
async function select(queries: Queries, where: ReturnType<typeof sql>, locked = false): Promise<Session | undefined> {
  const { rows } = locked
    ? await sql<SessionRow>`
        select s.* from verification_sessions s join verification_students u using (user_id)
        where ${where} for update of s, u`.execute(queries)
    : await sql<SessionRow>`select s.* from verification_sessions s where ${where}`.execute(queries)
  return rows[0] && readRow(rows[0])
}

interface SessionRow {
  verification_id: string
  org_id: string
  mode: 'test' | 'live'
  user_id: string
  status: Status
  version: number
  student: Student
  items: Items
  return_url: string | null
  skills: SessionSkill[]
  endorsement_type: EndorsementType
  method: Method | null
  sources: string[]
  generating_by: string | null
  generating_until: Date | null
  expires_at: Date
  completed_at: Date | null
}

function readRow(row: SessionRow): Session {
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

export type Change = Partial<
  Pick<
    Session,
    'status' | 'skills' | 'endorsementType' | 'method' | 'sources' | 'generatingBy' | 'generatingUntil' | 'completedAt'
  >
> & {
  /** Something that the student or the partner did: the session lives on from here. */
  step?: boolean
}

/** Writes a change of a session that the transaction holds. */
export async function changeSession(tx: Tx, session: Session, now: number, change: Change): Promise<Session> {
  const { step = false, ...fields } = change
  const changed: Session = {
    ...session,
    ...fields,
    version: session.version + 1,
    expiresAt: step && now < session.expiresAt ? now + SESSION_LIFE : session.expiresAt,
  }
  await tx
    .updateTable('verification_sessions')
    .set({
      status: changed.status,
      version: changed.version,
      ...(fields.skills
        ? { skills: JSON.stringify(fields.skills), skill_numbers: fields.skills.map(({ number }) => number) }
        : {}),
      endorsement_type: changed.endorsementType,
      method: changed.method,
      sources: changed.sources,
      generating_by: changed.generatingBy,
      generating_until: changed.generatingUntil === 0 ? null : new Date(changed.generatingUntil),
      updated_at: new Date(now),
      expires_at: new Date(changed.expiresAt),
      completed_at: changed.completedAt === undefined ? null : new Date(changed.completedAt),
    })
    .where('verification_id', '=', session.id)
    .execute()
  return changed
}

/** Once a review was sent or questions exist (or are being made), the steps are done. */
export function isLocked({ status, generatingBy, generatingUntil }: Session, now: number): boolean {
  return status !== 'open' || (generatingBy !== null && now < generatingUntil)
}

export function requireUnlocked(session: Session, now: number): void {
  if (!isLocked(session, now)) return
  throw problem(
    'SESSION_LOCKED',
    'The review was sent or questions were made: skills, method and items stay as they are.',
  )
}

/** As answers show a skill of a session. */
export function skillAnswer({ number, name, proofUrl }: SessionSkill) {
  return { skillId: skillId(number), name, proofUrl }
}
