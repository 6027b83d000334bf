import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'

/** Whether an organisation offers credentials, and for how long new ones are valid. Applies to both modes. */
export interface CredentialPolicy {
  credentials_enabled: boolean
  credential_validity_months: number
}

const DEFAULT_VALIDITY_MONTHS = 24
export const MAX_VALIDITY_MONTHS = 120

export async function getCredentialPolicy(queries: Queries, orgId: string): Promise<CredentialPolicy> {
  const { rows } = await sql<{ enabled: boolean; validity_months: number }>`
    select enabled, validity_months from credential_policies where org_id = ${orgId}`.execute(queries)
  return {
    credentials_enabled: rows[0]?.enabled ?? true,
    credential_validity_months: rows[0]?.validity_months ?? DEFAULT_VALIDITY_MONTHS,
  }
}

/** Changes the policy. It applies to credentials that are issued from now on. */
export async function changeCredentialPolicy(
  tx: Tx,
  clock: Clock,
  orgId: string,
  change: Partial<CredentialPolicy>,
): Promise<CredentialPolicy> {
  const policy = { ...(await getCredentialPolicy(tx, orgId)), ...change }
  const { credentials_enabled: enabled, credential_validity_months: months } = policy
  const now = new Date(clock.now())
  await sql`insert into credential_policies (org_id, enabled, validity_months, updated_at)
    values (${orgId}, ${enabled}, ${months}, ${now})
    on conflict (org_id) do update set enabled = ${enabled}, validity_months = ${months}, updated_at = ${now}`.execute(
    tx,
  )
  return policy
}

/** Adds months to a time. If the month is too short for the day, its last day is returned. */
export function addMonths(time: Date, months: number): Date {
  const later = new Date(time)
  later.setUTCDate(1)
  later.setUTCMonth(later.getUTCMonth() + months)
  const daysInMonth = new Date(Date.UTC(later.getUTCFullYear(), later.getUTCMonth() + 1, 0)).getUTCDate()
  later.setUTCDate(Math.min(time.getUTCDate(), daysInMonth))
  return later
}
