import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { Context } from '../context.ts'
import { isPageToken } from '../embeds/embed-sessions.ts'
import { openPersonKey } from '../people/identity/person-key.ts'
import { CallBatches } from '../platform/database/call-batches.ts'
import type { Tx } from '../platform/database/database.ts'
import { runForAllOrganisations, runWithScope } from '../platform/database/tenant-scope.ts'
import { hashToken } from '../platform/token-hash.ts'
import { insertOrigins, type Origin } from './endorsements/origins.ts'
import type { SessionInput } from './schema.ts'
import { readSessionInput } from './session-input.ts'
import {
  applyChange,
  belongsTo,
  insertSessions,
  isLocked,
  type NewSession,
  type OpenedSession,
  type Session,
  type SessionChange,
  type SessionRow,
  sessionFromRow,
  updateSessions,
} from './sessions.ts'

/** A step of a session that needs nothing but the session. */
export interface BatchedStep {
  token: string
  scope: OrgScope | undefined
  origin: Origin | undefined
  /** Returns the change, or undefined if the step needs a transaction of its own. Must have no effects, because it may run again. */
  change(session: Session, facts: Pick<LockedSession, 'hasRelatedSessions'>): SessionChange | undefined
}

interface LockedSession {
  session: Session
  /** Whether another session of the student has a pending or submitted review, which limits the skills of a source. */
  hasRelatedSessions: boolean
}

/**
 * How long a batch of openings may wait for a student or a person whom another transaction has locked. It is shorter than the time after which
 * PostgreSQL looks for deadlocks.
 */
const OPENING_LOCK_TIMEOUT_MS = 500

/** Larger sessions run alone: sealing and opening the values of 100 of them at once would block the event loop. */
const MAX_BATCHED_SESSION_BYTES = 32 * 1024

/** The group of steps whose organisation is not known, because they were sent without a session key. */
const ALL_ORGANISATIONS = ''

/**
 * Returns a function that opens sessions, the fast path of `openSession`: concurrent calls share a transaction. It returns undefined if nothing
 * was changed, and the caller must use `openSession`: sessions with a test clock or a script, restricted people, rejected statements.
 */
export function batchOpenings({ db, clock }: Pick<Context, 'db' | 'clock'>) {
  const openings = new CallBatches<NewSession, OpenedSession>((sessions, group) => {
    const scope = scopeOfGroup(group)!
    return runWithScope({ scope }, () =>
      db.transaction(async (tx) => {
        // One student or person who is locked must not delay the others: the batch is rejected, and each call runs alone.
        await sql`select set_config('lock_timeout', ${`${OPENING_LOCK_TIMEOUT_MS}`}, true)`.execute(tx)
        return insertSessions(tx, scope, clock.now(), sessions)
      }),
    )
  })
  return async (scope: OrgScope, input: SessionInput, bodyBytes: number): Promise<OpenedSession | undefined> => {
    if (bodyBytes > MAX_BATCHED_SESSION_BYTES || input.testClockId !== undefined || input.testScript) return undefined
    return openings.add(groupOfScope(scope), { input, ...readSessionInput(input, scope.mode, undefined) })
  }
}

/**
 * Returns a function that runs steps of sessions, the fast path of `lockSession` and the functions in `steps.ts`: concurrent calls share
 * a transaction. It serves sessions without a reviewer, for which a step is only a change of the session. It returns undefined if nothing
 * was changed, and the caller must use a transaction of its own: all other sessions, and all errors.
 */
export function batchSteps(context: Pick<Context, 'db' | 'clock' | 'vault'>) {
  const { db } = context
  const batches = new CallBatches<BatchedStep, Session>((steps, group) => {
    const scope = scopeOfGroup(group)
    const run = () => db.transaction((tx) => runSteps(tx, context, steps))
    return scope ? runWithScope({ scope }, run) : runForAllOrganisations(run)
  })
  return async (step: BatchedStep): Promise<Session | undefined> => {
    if (isPageToken(step.token)) return undefined
    return batches.add(step.scope ? groupOfScope(step.scope) : ALL_ORGANISATIONS, step)
  }
}

async function runSteps(
  tx: Tx,
  { clock, vault }: Pick<Context, 'clock' | 'vault'>,
  steps: BatchedStep[],
): Promise<(Session | undefined)[]> {
  const now = clock.now()
  const sessions = await lockSessions(tx, { clock, vault }, steps)
  const changes: { session: Session; hasNewSkills: boolean; origin: Origin | undefined }[] = []
  const changedSessions = steps.map((step) => {
    const found = sessions.get(step.token)
    if (!found || now >= found.session.expiresAt || isLocked(found.session)) return undefined
    if (step.scope && !belongsTo(found.session, step.scope)) return undefined
    const change = tryChange(step, found)
    if (!change) return undefined
    sessions.delete(step.token) // another step of the same session in this batch must see the change
    const session = applyChange(found.session, now, change)
    changes.push({ session, hasNewSkills: change.skills !== undefined, origin: step.origin })
    return session
  })
  if (changes.length === 0) return changedSessions
  await updateSessions(tx, now, changes)
  const origins = changes.flatMap(({ session, origin }) => (origin ? [{ session, origin }] : []))
  await insertOrigins(tx, 'student', now, origins)
  return changedSessions
}

/** Returns the change of a step, or undefined if it breaks a rule. The caller runs it again in its own transaction, which reports the error. */
function tryChange(step: BatchedStep, { session, hasRelatedSessions }: LockedSession): SessionChange | undefined {
  try {
    return step.change(session, { hasRelatedSessions })
  } catch {
    return undefined
  }
}

/** Locks the sessions of steps as `lockSession` does, except those that need more checks. Returns them by token. */
async function lockSessions(
  tx: Tx,
  { clock, vault }: Pick<Context, 'clock' | 'vault'>,
  steps: BatchedStep[],
): Promise<Map<string, LockedSession>> {
  const tokens = new Map(steps.map(({ token }) => [hashToken(token).toString('hex'), token]))
  // Locked sessions are skipped: a batch that waited for a lock while it holds others could cause a deadlock.
  const { rows } = await sql<SessionRow & { token_hash: Buffer }>`
    select s.* from verification_sessions s join verification_students u using (user_id)
    where s.token_hash = any (${[...tokens.keys()].map((hex) => Buffer.from(hex, 'hex'))}::bytea[])
      and s.status = 'open' and s.test_clock_id is null and s.is_minor is not true
      and octet_length(s.personal) <= ${MAX_BATCHED_SESSION_BYTES}
    for update of s, u skip locked`.execute(tx)
  if (rows.length === 0) return new Map()
  // Other tables are read in a separate statement: joined rows that are not locked could be stale.
  const { rows: factRows } = await sql<{ verification_id: string; sealed_key: Buffer | null; has_related: boolean }>`
    select s.verification_id, o.sealed_key, exists (
        select from verification_sessions other where other.user_id = s.user_id and other.verification_id <> s.verification_id
          and other.method = 'human' and other.status in ('completed', 'pending_review')
      ) as has_related
    from verification_sessions s join people o using (person_id)
    where s.verification_id = any (${rows.map(({ verification_id }) => verification_id)}) and o.restricted_at is null
      and not exists (select from verification_reviews r where r.verification_id = s.verification_id)`.execute(tx)
  const facts = new Map(factRows.map((row) => [row.verification_id, row]))
  return new Map(
    rows.flatMap((row) => {
      const found = facts.get(row.verification_id)
      const personKey = found ? openPersonKey(vault, row.person_id, found.sealed_key) : null
      if (!found || personKey === null) return []
      const session = sessionFromRow(row, clock, personKey)
      return [[tokens.get(row.token_hash.toString('hex'))!, { session, hasRelatedSessions: found.has_related }]]
    }),
  )
}

function groupOfScope({ orgId, mode }: OrgScope): string {
  return `${orgId} ${mode}`
}

function scopeOfGroup(group: string): OrgScope | undefined {
  if (group === ALL_ORGANISATIONS) return undefined
  const [orgId, mode] = group.split(' ') as [string, OrgScope['mode']]
  return { orgId, mode }
}
