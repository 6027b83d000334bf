import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { skillId } from '../catalogue/ids.ts'
import type { LoadedSkills } from '../catalogue/loaded-skills.ts'
import { findOpenedPage, isPageToken, pageEnd } from '../embeds/embed-sessions.ts'
import { findPersonKey, identifyPeople } from '../people/identity/people.ts'
import type { PersonKey } from '../people/identity/person-key.ts'
import { type Clock, HOUR, realClock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { newId, randomCode, randomToken } from '../platform/ids.ts'
import { hashToken } from '../platform/token-hash.ts'
import { attachTestClock, findClock, lockClock } from '../test-clocks/test-clocks.ts'
import { ADULT_AGE_YEARS, requireGuardianConsent } from './guardian-consents.ts'
import type { Items } from './items.ts'
import { openSessionValues, redactSession, redactSkills, type SessionValues, sealSession } from './personal-values.ts'
import type { EndorsementType, SessionInput, VerificationMethod, VerificationStatus } from './schema.ts'
import { readSessionInput, type Student } from './session-input.ts'
import type { ChosenSkill } from './session-skills.ts'
import { firstActionTime } from './test-scripts/action-times.ts'
import type { ScriptError, SessionTestScript } from './test-scripts/schema.ts'

/** Time from the last step until the session expires. */
const SESSION_LIFETIME_MS = 24 * HOUR

/** A verification session. Times are in epoch milliseconds. */
export interface Session {
  id: string
  scope: OrgScope
  userId: string
  personId: string
  /** Seals the values of the student; null after the erasure. */
  personKey: PersonKey
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
  /** Real time until which other calls wait for the generated questions. */
  generatingUntil: number
  expiresAt: number
  completedAt: number | undefined
  testClockId: string | null
  /** Whether the student stated an age below 18; null if no age was stated. */
  isMinor: boolean | null
  /** The script of the student and the reviewer in TEST mode. */
  testScript: SessionTestScript | null
  /** The error that ended the script of the student. */
  testScriptError: ScriptError | null
  /** The clock whose time applies to the session: that of the server, or its test clock. */
  clock: Clock
}

export interface OpenedSession {
  sessionToken: string
  serviceVerificationId: string
  serviceUserId: string
  expiresAt: string
}

/** A session to insert, whose input was checked. */
export interface NewSession extends ReturnType<typeof readSessionInput> {
  input: SessionInput
}

/** Opens a session. Only this response contains the token; the database stores its hash. */
export async function openSession(
  tx: Tx,
  scope: OrgScope,
  serverClock: Clock,
  input: SessionInput,
  scriptedSkills?: LoadedSkills,
): Promise<OpenedSession> {
  const checkedInput = readSessionInput(input, scope.mode, scriptedSkills)
  const clock = await attachTestClock(tx, scope, serverClock, input.testClockId, 'testClockId')
  const [opened] = await insertSessions(tx, scope, clock.now(), [{ input, ...checkedInput }])
  if (!opened)
    throw problem(
      'FORBIDDEN',
      'The student withdrew consent, or the processing of their data is restricted. Lift the restriction first, if the student agrees (partner API: POST /people/{person_id}/unrestrict).',
    )
  return opened
}

/** Inserts sessions of one organisation and mode. Returns undefined for students whose data may not be processed. */
export async function insertSessions(
  tx: Tx,
  scope: OrgScope,
  now: number,
  sessions: NewSession[],
): Promise<(OpenedSession | undefined)[]> {
  const { orgId, mode } = scope
  const expiresAt = new Date(now + SESSION_LIFETIME_MS)
  // The mailbox identifies the student. The phone number was not verified: no message is sent to it.
  const people = await identifyPeople(
    tx,
    scope,
    now,
    sessions.map(({ student }) => ({ email: student.email })),
  )
  const newSessions = sessions.flatMap(({ input, student, items, returnUrl }, index) => {
    const person = people[index]!
    if (person.isRestricted) return []
    const { testClockId, testScript, age } = input
    const sessionToken = `vst_${randomToken(32)}`
    const verificationId = `SV_${randomCode(26)}` // five random bits per character
    const values: SessionValues = { student, items, skills: [], returnUrl }
    const redacted = redactSession(values)
    const studentTime = testScript ? firstActionTime(testScript, now) : null
    const row = {
      verification_id: verificationId,
      new_user_id: newId('SU_', now),
      student_key: studentKey(student.externalStudentId, testClockId),
      person_id: person.personId,
      personal: byteaText(sealSession(person.key, verificationId, values)),
      email_index: byteaText(person.emailIndex!),
      token_hash: byteaText(hashToken(sessionToken)),
      student: redacted.student,
      items: redacted.items,
      test_clock_id: testClockId ?? null,
      is_minor: age === undefined ? null : age < ADULT_AGE_YEARS,
      test_script: testScript ?? null,
      test_student_at: studentTime === null ? null : new Date(studentTime),
    }
    return [{ index, sessionToken, row }]
  })
  if (newSessions.length === 0) return sessions.map(() => undefined)
  // Students are sorted, so that concurrent transactions lock them in the same order and do not deadlock.
  const { rows } = await sql<{ verification_id: string; user_id: string }>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(newSessions.map(({ row }) => row))}::json) as row (verification_id text,
        new_user_id text, student_key text, person_id text, personal bytea, email_index bytea, token_hash bytea, student json, items json,
        test_clock_id text, is_minor boolean, test_script jsonb, test_student_at timestamptz)
    ), students as (
      insert into verification_students (user_id, org_id, mode, external_student_id, created_at)
      select distinct on (student_key) new_user_id, ${orgId}, ${mode}, student_key, ${new Date(now)}::timestamptz
      from input order by student_key
      on conflict (org_id, mode, external_student_id) do update set external_student_id = excluded.external_student_id
      returning user_id, external_student_id
    )
    insert into verification_sessions
      (verification_id, org_id, mode, user_id, person_id, personal, email_index, token_hash, status, student, items, created_at,
        updated_at, expires_at, test_clock_id, is_minor, test_script, test_student_at)
    select verification_id, ${orgId}, ${mode}, user_id, person_id, personal, email_index, token_hash, 'open', student, items,
      ${new Date(now)}, ${new Date(now)}, ${expiresAt}, test_clock_id, is_minor, test_script, test_student_at
    from input join students on external_student_id = student_key
    returning verification_id, user_id`.execute(tx)
  const userIds = new Map(rows.map(({ verification_id, user_id }) => [verification_id, user_id]))
  const opened = new Map(
    newSessions.map(({ index, sessionToken, row: { verification_id } }) => [
      index,
      {
        sessionToken,
        serviceVerificationId: verification_id,
        serviceUserId: userIds.get(verification_id)!,
        expiresAt: expiresAt.toISOString(),
      },
    ]),
  )
  return sessions.map((_, index) => opened.get(index))
}

/** Formats bytes as PostgreSQL reads them in a text or in JSON. */
function byteaText(bytes: Buffer): string {
  return `\\x${bytes.toString('hex')}`
}

/** Returns the key of a student. Limits of a student do not depend on sessions of another test clock: these are different students. */
function studentKey(externalStudentId: string, testClockId: string | undefined): string {
  return testClockId === undefined ? externalStudentId : `${testClockId}\n${externalStudentId}`
}

/** Returns the active session of a token; with a scope, only a session of that organisation and mode. */
export async function getSession(
  queries: Queries,
  clock: Clock,
  token: string,
  scope: OrgScope | undefined,
): Promise<Session> {
  return requireActive(await selectSession(queries, clock, await hasToken(queries, clock, token)), scope)
}

/**
 * Returns the condition that a row `s` of the table of sessions is that of a token: the session token, or the token of an embedded page.
 * Without an erasure, an embedded page that has ended has no session.
 */
async function hasToken(queries: Queries, clock: Clock, token: string): Promise<RawBuilder<boolean>> {
  if (!isPageToken(token)) return sql`s.token_hash = ${hashToken(token)}`
  const page = await findOpenedPage(queries, 'student', token)
  const end = page && pageEnd(page, clock)
  return page && (end === undefined || end === 'erased') ? sql`s.verification_id = ${page.target_id}` : sql`false`
}

/** Returns whether the token is that of a session, which may have expired. */
export async function isSessionToken(queries: Queries, token: string): Promise<boolean> {
  if (isPageToken(token)) return (await findOpenedPage(queries, 'student', token)) !== undefined
  const { rows } = await sql`
    select 1 from verification_sessions where token_hash = ${hashToken(token)}`.execute(queries)
  return rows.length > 0
}

/**
 * Same as `getSession`, and locks the session and the student, whose limits apply across sessions. Rejects the session of a student below
 * 18 whose guardian has not agreed, unless `allowsMinor` is true.
 */
export async function lockSession(
  tx: Tx,
  clock: Clock,
  token: string,
  scope: OrgScope | undefined,
  { allowsMinor = false }: { allowsMinor?: boolean } = {},
): Promise<Session> {
  const found = await selectSession(tx, clock, await hasToken(tx, clock, token), { lock: true })
  const session = requireActive(found, scope)
  await requireUnrestricted(tx, session)
  if (!allowsMinor) await requireGuardianConsent(tx, session)
  return session
}

/** Throws if the processing of the person's data is restricted: they withdrew consent, or the organisation restricted it. */
export async function requireUnrestricted(tx: Tx, { personId }: { personId: string }): Promise<void> {
  const { rows } = await sql`
    select 1 from people where person_id = ${personId} and restricted_at is not null`.execute(tx)
  if (rows.length > 0)
    throw problem(
      'FORBIDDEN',
      'Consent was withdrawn, or the processing of this data is restricted, so this step is not possible. Contact the organisation.',
    )
}

export async function findVerification(queries: Queries, clock: Clock, id: string): Promise<Session | undefined> {
  return selectSession(queries, clock, sql`s.verification_id = ${id}`)
}

export async function lockVerification(tx: Tx, clock: Clock, id: string): Promise<Session | undefined> {
  return selectSession(tx, clock, sql`s.verification_id = ${id}`, { lock: true })
}

/** Returns the dependencies with the clock of the session in place of that of the server. */
export function atSessionTime<Deps extends { clock: Clock }>(deps: Deps, { clock }: Session): Deps {
  return { ...deps, clock }
}

/** Returns the condition that a row `s` of the table of sessions has this test clock, or none. */
export function hasTestClock(id: string | undefined): RawBuilder<boolean> {
  return id === undefined ? sql`s.test_clock_id is null` : sql`s.test_clock_id = ${id}`
}

/** Returns the organisation of a session, found by its token, else by its verification ID. */
export async function findOrganisationOf(
  queries: Queries,
  { token, verificationId }: { token: string | undefined; verificationId: unknown },
): Promise<string | undefined> {
  if (token !== undefined && isPageToken(token)) return (await findOpenedPage(queries, 'student', token))?.org_id
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

function requireActive(session: Session | undefined, scope: OrgScope | undefined): Session {
  if (!session || (scope && !belongsTo(session, scope))) throw sessionNotFoundProblem()
  if (session.personKey === null) throw dataErasedProblem()
  if (session.clock.now() >= session.expiresAt) throw sessionNotFoundProblem()
  return session
}

export function sessionNotFoundProblem() {
  return problem(
    'SESSION_NOT_FOUND',
    'Session not found or expired. Check the session token and the organisation and mode of the key, or open a new session.',
  )
}

export function dataErasedProblem() {
  return problem('DATA_ERASED', 'The data of the student or the reviewer was erased.')
}

export function verificationNotFoundProblem() {
  return problem(
    'VERIFICATION_NOT_FOUND',
    'Verification not found. Check its ID, and that it belongs to the session, or to the organisation and mode of the key.',
  )
}

// Other tables are read in separate statements: after waiting for the lock, joined rows that are not locked would be stale.
async function selectSession(
  queries: Queries,
  clock: Clock,
  condition: ReturnType<typeof sql>,
  { lock = false }: { lock?: boolean } = {},
): Promise<Session | undefined> {
  const { rows } = lock
    ? await sql<SessionRow>`
        select s.* from verification_sessions s join verification_students u using (user_id)
        where ${condition} for update of s, u`.execute(queries)
    : await sql<SessionRow>`select s.* from verification_sessions s where ${condition}`.execute(queries)
  const [row] = rows
  if (!row) return undefined
  const ownClock = lock
    ? await lockClock(queries as Tx, clock, row.test_clock_id)
    : await findClock(queries, clock, row.test_clock_id)
  return sessionFromRow(row, ownClock, await findPersonKey(queries, row.person_id))
}

export interface SessionRow {
  verification_id: string
  org_id: string
  mode: 'test' | 'live'
  user_id: string
  person_id: string
  personal: Buffer | null
  status: VerificationStatus
  version: number
  /** Without personal values. */
  student: Student
  skills: ChosenSkill[]
  endorsement_type: EndorsementType
  method: VerificationMethod | null
  sources: string[]
  generating_by: string | null
  generating_until: Date | null
  expires_at: Date
  completed_at: Date | null
  test_clock_id: string | null
  is_minor: boolean | null
  test_script: SessionTestScript | null
  test_script_error: ScriptError | null
}

export function sessionFromRow(row: SessionRow, clock: Clock, personKey: PersonKey): Session {
  const values = openSessionValues(personKey, row.verification_id, row.personal) ?? redactSession(row)
  return {
    id: row.verification_id,
    scope: { orgId: row.org_id, mode: row.mode },
    userId: row.user_id,
    personId: row.person_id,
    personKey,
    status: row.status,
    version: row.version,
    ...values,
    returnUrl: values.returnUrl,
    endorsementType: row.endorsement_type,
    method: row.method,
    sources: row.sources,
    generatingBy: row.generating_by,
    generatingUntil: row.generating_until?.getTime() ?? 0,
    expiresAt: row.expires_at.getTime(),
    completedAt: row.completed_at?.getTime(),
    testClockId: row.test_clock_id,
    isMinor: row.is_minor,
    testScript: row.test_script,
    testScriptError: row.test_script_error,
    clock,
  }
}

/** Returns the ID and the key of a student or a reviewer, for emails that contain their values. */
export function sealerOf({ personId, personKey }: { personId: string; personKey: PersonKey }) {
  return { personId, key: personKey }
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

/** Returns a session after a change. */
export function applyChange(session: Session, now: number, change: SessionChange): Session {
  const { extendsSession = false, ...fields } = change
  return {
    ...session,
    ...fields,
    version: session.version + 1,
    expiresAt: extendsSession && now < session.expiresAt ? now + SESSION_LIFETIME_MS : session.expiresAt,
  }
}

/** Stores a change of a session that the transaction has locked. */
export async function changeSession(tx: Tx, session: Session, now: number, change: SessionChange): Promise<Session> {
  const changedSession = applyChange(session, now, change)
  await updateSessions(tx, now, [{ session: changedSession, hasNewSkills: change.skills !== undefined }])
  return changedSession
}

/** Stores sessions that the transaction has locked and changed. */
export async function updateSessions(
  tx: Tx,
  now: number,
  changes: readonly { session: Session; hasNewSkills: boolean }[],
): Promise<void> {
  const rows = changes.map(({ session, hasNewSkills }) => ({
    verification_id: session.id,
    status: session.status,
    version: session.version,
    // Null leaves the stored skills and personal values unchanged.
    skills: hasNewSkills ? redactSkills(session.skills) : null,
    personal: hasNewSkills ? byteaText(sealSession(session.personKey!, session.id, session)) : null,
    skill_numbers: hasNewSkills ? session.skills.map(({ number }) => number) : null,
    endorsement_type: session.endorsementType,
    method: session.method,
    sources: session.sources,
    generating_by: session.generatingBy,
    generating_until: session.generatingUntil === 0 ? null : new Date(session.generatingUntil),
    expires_at: new Date(session.expiresAt),
    completed_at: session.completedAt === undefined ? null : new Date(session.completedAt),
  }))
  await sql`
    update verification_sessions s set status = n.status, version = n.version, skills = coalesce(n.skills, s.skills),
      personal = coalesce(n.personal, s.personal), skill_numbers = coalesce(n.skill_numbers, s.skill_numbers),
      endorsement_type = n.endorsement_type, method = n.method, sources = n.sources, generating_by = n.generating_by,
      generating_until = n.generating_until, updated_at = ${new Date(now)}, expires_at = n.expires_at, completed_at = n.completed_at
    from json_to_recordset(${JSON.stringify(rows)}::json) as n (verification_id text, status text, version integer, skills json,
      personal bytea, skill_numbers integer[], endorsement_type text, method text, sources text[], generating_by text,
      generating_until timestamptz, expires_at timestamptz, completed_at timestamptz)
    where s.verification_id = n.verification_id`.execute(tx)
}

/** Returns true once the review was requested or questions exist or are being generated; steps can then no longer change. */
export function isLocked({ status, generatingBy, generatingUntil, clock }: Session): boolean {
  return status !== 'open' || (generatingBy !== null && realClock(clock).now() < generatingUntil)
}

export function requireUnlocked(session: Session): void {
  if (!isLocked(session)) return
  throw problem(
    'SESSION_LOCKED',
    'The review was requested, or questions were generated or are being generated: skills, method and items cannot be changed.',
  )
}

/** Formats a skill of a session for responses. */
export function skillRecord({ number, name, proofUrl }: ChosenSkill) {
  return { skillId: skillId(number), name, proofUrl }
}
