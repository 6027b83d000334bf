import { sql } from 'kysely'
import { getOrganisation } from '../access/organisations.ts'
import { invalid } from '../api/invalid.ts'
import { problem } from '../api/problem.ts'
import type { Clock } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { RETENTION_RULES, type RetentionClass, retentionClasses } from './retention-classes.ts'

export type RetentionPeriods = Record<RetentionClass, number>

export interface RetentionBound {
  min_days: number
  max_days: number
}

/** Returns the bounds of all periods: those of the operator, else the defaults. */
export async function getRetentionBounds(queries: Queries): Promise<Record<RetentionClass, RetentionBound>> {
  const { rows } = await sql<RetentionBound & { class: string }>`
    select class, min_days, max_days from retention_bounds`.execute(queries)
  return forEachClass((name) => {
    const { minDays, maxDays } = RETENTION_RULES[name]
    const { min_days, max_days } = rows.find((row) => row.class === name) ?? { min_days: minDays, max_days: maxDays }
    return { min_days, max_days }
  })
}

/** Returns the periods of an organisation in days. A stored period outside the bounds of the operator is moved to the nearest bound. */
export async function getRetentionPeriods(queries: Queries, orgId: string): Promise<RetentionPeriods> {
  return (await listRetentionPeriods(queries, [orgId])).get(orgId)!
}

/** Returns the periods of several organisations. */
async function listRetentionPeriods(queries: Queries, orgIds: string[]): Promise<Map<string, RetentionPeriods>> {
  const bounds = await getRetentionBounds(queries)
  const { rows } = await sql<{ org_id: string; class: string; days: number }>`
    select org_id, class, days from retention_periods where org_id = any (${orgIds}::text[])`.execute(queries)
  return new Map(
    orgIds.map((orgId) => [
      orgId,
      forEachClass((name) => {
        const days = rows.find((row) => row.org_id === orgId && row.class === name)?.days
        return Math.min(
          Math.max(days ?? RETENTION_RULES[name].defaultDays, bounds[name].min_days),
          bounds[name].max_days,
        )
      }),
    ]),
  )
}

/** Sets periods of an organisation, within the bounds of the operator. Null restores a default. */
export async function changeRetentionPeriods(
  tx: Tx,
  clock: Clock,
  orgId: string,
  change: { [Name in RetentionClass]?: number | null | undefined },
): Promise<RetentionPeriods> {
  await getOrganisation(tx, orgId)
  const bounds = await getRetentionBounds(tx)
  const details = Object.entries(change).flatMap(([name, days]) => {
    const { min_days, max_days } = bounds[name as RetentionClass]
    if (days == null || (days >= min_days && days <= max_days)) return []
    return [
      {
        path: name,
        message: `must be between ${min_days} and ${max_days} days, which the operator allows; got ${days}`,
      },
    ]
  })
  if (details.length > 0) throw invalid(details)
  for (const [name, days] of Object.entries(change)) {
    if (days === null) await sql`delete from retention_periods where org_id = ${orgId} and class = ${name}`.execute(tx)
    else if (days !== undefined)
      await sql`insert into retention_periods (org_id, class, days, updated_at)
        values (${orgId}, ${name}, ${days}, ${new Date(clock.now())})
        on conflict (org_id, class) do update set days = excluded.days, updated_at = excluded.updated_at`.execute(tx)
  }
  return getRetentionPeriods(tx, orgId)
}

/** Sets the bounds of one class for all organisations, or restores the defaults with null. */
export async function changeRetentionBound(
  tx: Tx,
  clock: Clock,
  name: RetentionClass,
  bound: RetentionBound | null,
): Promise<Record<RetentionClass, RetentionBound>> {
  if (bound === null) await sql`delete from retention_bounds where class = ${name}`.execute(tx)
  else {
    const { min_days, max_days } = bound
    if (min_days > max_days)
      throw problem(
        'VALIDATION_FAILED',
        `The minimum of ${min_days} days is more than the maximum of ${max_days} days.`,
      )
    await sql`insert into retention_bounds (class, min_days, max_days, updated_at)
      values (${name}, ${min_days}, ${max_days}, ${new Date(clock.now())})
      on conflict (class) do update set min_days = excluded.min_days, max_days = excluded.max_days, updated_at = excluded.updated_at`.execute(
      tx,
    )
  }
  return getRetentionBounds(tx)
}

function forEachClass<T>(compute: (name: RetentionClass) => T): Record<RetentionClass, T> {
  return Object.fromEntries(retentionClasses.map((name) => [name, compute(name)])) as Record<RetentionClass, T>
}
