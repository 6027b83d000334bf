import { sql } from 'kysely'
import { DAY } from '../platform/clock.ts'
import type { Database, Queries } from '../platform/database/database.ts'

/** Tables that are kept by day and dropped a day at a time. */
export const PARTITIONED = ['events', 'webhook_deliveries'] as const

/** Days that events are kept. */
export const KEPT_DAYS = 30
/** Days made before they are needed, so that midnight finds its table. */
const AHEAD = 2

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Days whose tables are known to exist, by database. */
const ready = new WeakMap<Database, Set<string>>()

/** Sees to it that what happens now has a table to go to. */
export async function ensureDay(db: Database, now: number): Promise<void> {
  const known = ready.get(db) ?? new Set<string>()
  ready.set(db, known)
  if (known.has(dayOf(now))) return
  const days = Array.from({ length: AHEAD + 1 }, (_, ahead) => dayOf(now + ahead * DAY))
  await db.transaction(async (tx) => {
    await lockPartitions(tx)
    for (const table of PARTITIONED) {
      const there = new Set(await partitions(tx, table))
      for (const day of days) {
        if (there.has(partition(table, day))) continue
        const until = dayOf(Date.parse(day) + DAY)
        await sql`create table ${sql.raw(partition(table, day))} partition of ${sql.raw(table)}
          for values from (${sql.raw(`'${day}'`)}) to (${sql.raw(`'${until}'`)})`.execute(tx)
      }
    }
  })
  for (const day of days) known.add(day)
}

/** Drops the days that are older than events are kept. */
export async function dropOldDays(db: Database, now: number): Promise<string[]> {
  const dropped: string[] = []
  const first = dayOf(now - (KEPT_DAYS + 1) * DAY)
  for (const table of PARTITIONED) {
    for (const name of await partitions(db.queries, table)) {
      if (name >= partition(table, first)) continue
      await db.transaction((tx) => sql`drop table if exists ${sql.raw(name)}`.execute(tx))
      dropped.push(name)
    }
  }
  return dropped
}

async function partitions(tx: Queries, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = ${table}::regclass order by 1`.execute(tx)
  return rows.map(({ name }) => name)
}

function partition(table: string, day: string) {
  return `${table}_${day.replaceAll('-', '')}`
}

/** Two processes may find a day missing at the same moment. */
async function lockPartitions(tx: Queries) {
  await sql`select pg_advisory_xact_lock(hashtextextended('event partitions', 0))`.execute(tx)
}
