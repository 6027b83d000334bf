import { sql } from 'kysely'
import { problem } from '../api/problem.ts'
import { getPrivacySettings } from '../notices/settings.ts'
import type { Queries } from '../platform/database/database.ts'

/** From this age in years, a student can consent without a guardian. */
export const ADULT_AGE_YEARS = 18

/** The part of a session that decides whether a guardian must agree. */
interface MinorSession {
  id: string
  scope: { orgId: string }
  isMinor: boolean | null
}

/**
 * The requirement that follows from the student's age. `age_required`: the organisation asks for the age, and it is not stated yet.
 * `required`: the student is below 18, and no guardian was asked. `pending`: the guardian has a code. `given`: the guardian agreed.
 */
export const guardianStates = ['not_required', 'age_required', 'required', 'pending', 'given'] as const
export type GuardianState = (typeof guardianStates)[number]

export async function readGuardianState(queries: Queries, session: MinorSession): Promise<GuardianState> {
  const { minors } = await getPrivacySettings(queries, session.scope.orgId)
  if (minors === 'off' || session.isMinor === false) return 'not_required'
  if (session.isMinor === null) return 'age_required'
  const { rows } = await sql<{ given_at: Date | null }>`
    select given_at from guardian_consents where verification_id = ${session.id}`.execute(queries)
  if (!rows[0]) return 'required'
  return rows[0].given_at ? 'given' : 'pending'
}

/** Rejects the step of a student below 18 whose guardian has not agreed. Sessions without a stated age are not affected. */
export async function requireGuardianConsent(queries: Queries, session: MinorSession): Promise<void> {
  if (session.isMinor !== true) return
  const state = await readGuardianState(queries, session)
  if (state === 'not_required' || state === 'given') return
  throw problem(
    'FORBIDDEN',
    'The student is below 18, so a guardian must agree first. Ask the guardian with POST /verify/{sessionToken}/guardian.',
  )
}
