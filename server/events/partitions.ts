import { sql } from 'kysely'
import { DAY } from '../platform/clock.ts'
import type { Database, Queries } from '../platform/database/database.ts'

/** Tables with one partition per day. */
const PARTITIONED_TABLES = ['events', 'webhook_deliveries'] as const

/** Events and their deliveries are stored for this long. */
export const RETENTION_DAYS = 30
/** Partitions are created this many days before they are needed. */
const PARTITION_DAYS_AHEAD = 2

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Days whose partitions are known to exist, by database. */
const readyDays = new WeakMap<Database, Set<string>>()

/** Creates the partitions for today and the next days if they are missing. */
export async function ensurePartitions(db: Database, now: number): Promise<void> {
  const knownDays = readyDays.get(db) ?? new Set<string>()
  readyDays.set(db, knownDays)
  if (knownDays.has(dayOf(now))) return
  const days = Array.from({ length: PARTITION_DAYS_AHEAD + 1 }, (_, daysAhead) => dayOf(now + daysAhead * DAY))
  await db.transaction(async (tx) => {
    await lockPartitions(tx)
    for (const table of PARTITIONED_TABLES) {
      const existingPartitions = new Set(await listPartitions(tx, table))
      for (const day of days) {
        if (existingPartitions.has(partitionName(table, day))) continue
        const nextDay = dayOf(Date.parse(day) + DAY)
        await sql`create table ${sql.raw(partitionName(table, day))} partition of ${sql.raw(table)}
          for values from (${sql.raw(`'${day}'`)}) to (${sql.raw(`'${nextDay}'`)})`.execute(tx)
      }
    }
  })
  for (const day of days) knownDays.add(day)
}

/** Drops the partitions of days before the retention period; returns their names. */
export async function dropOldPartitions(db: Database, now: number): Promise<string[]> {
  const droppedNames: string[] = []
  const oldestKeptDay = dayOf(now - (RETENTION_DAYS + 1) * DAY)
  for (const table of PARTITIONED_TABLES) {
    for (const name of await listPartitions(db.queries, table)) {
      if (name >= partitionName(table, oldestKeptDay)) continue
      await db.transaction((tx) => sql`drop table if exists ${sql.raw(name)}`.execute(tx))
      droppedNames.push(name)
    }
  }
  return droppedNames
}

async function listPartitions(tx: Queries, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select child.relname as name from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = ${table}::regclass order by 1`.execute(tx)
  return rows.map(({ name }) => name)
}

function partitionName(table: string, day: string) {
  return `${table}_${day.replaceAll('-', '')}`
}

/** Serialises the creation of partitions, because two processes may find the same one missing. */
async function lockPartitions(tx: Queries) {
  await sql`select pg_advisory_xact_lock(hashtextextended('event partitions', 0))`.execute(tx)
}
