import { type RawBuilder, sql } from 'kysely'
import type pg from 'pg'
import { type Clock, DAY, systemClock } from '../platform/clock.ts'
import type { Database, Queries, Tx } from '../platform/database/database.ts'

/** Tables with one partition per day. */
const PARTITIONED_TABLES = ['events', 'webhook_deliveries'] as const

/** Events and their deliveries are stored for this long. */
export const RETENTION_DAYS = 30
/** Partitions are created this many days before they are needed, so that sequencing events does not wait for them. */
const PARTITION_DAYS_AHEAD = 7
/** How long creating and dropping partitions waits for a lock. A backup can hold locks for hours; the next run tries again. */
const LOCK_TIMEOUT_MS = 2000
const LOCK_NOT_AVAILABLE = '55P03'

export function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Returns the current day as SQL. It is taken from the clock of the database, which all processes share, unless a test sets the time. */
export function currentDay(clock: Clock): RawBuilder<string> {
  return clock === systemClock ? sql`(now() at time zone 'UTC')::date` : sql`${dayOf(clock.now())}::date`
}

/** Creates the partitions of today and the next days that are missing. */
export async function ensurePartitions(db: Database, clock: Clock): Promise<void> {
  if ((await findMissingDays(db.queries, clock)).length === 0) return
  await db.asOwner((owner) =>
    owner.transaction(async (tx) => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT_MS)}`.execute(tx)
      await lockPartitions(tx)
      for (const { table, day } of await findMissingDays(tx, clock)) await createPartition(tx, table, day)
    }),
  )
}

async function findMissingDays(queries: Queries, clock: Clock): Promise<{ table: string; day: string }[]> {
  const { rows } = await sql<{ table: string; day: string }>`
    select parent as table, to_char(day, 'YYYY-MM-DD') as day
    from unnest(${[...PARTITIONED_TABLES]}::text[]) as parent
    cross join generate_series(0, ${PARTITION_DAYS_AHEAD}::int) as days_ahead
    cross join lateral (select ${currentDay(clock)} + days_ahead as day) as needed
    where not exists (
      select from pg_inherits join pg_class child on child.oid = inhrelid
      where inhparent = parent::regclass and child.relname = parent || to_char(day, '_YYYYMMDD')
    )
    order by day, parent`.execute(queries)
  return rows
}

/**
 * Creates a table and attaches it, which does not block readers and writers and is not blocked by a backup; `create table …
 * partition of` would wait for every transaction that has read the parent, and all others would wait for it.
 */
async function createPartition(tx: Tx, table: string, day: string): Promise<void> {
  const name = partitionName(table, day)
  const nextDay = dayOf(Date.parse(day) + DAY)
  // A table that exists was detached by a process whose clock was wrong.
  await sql`create table if not exists ${sql.table(name)} (like ${sql.table(table)} including all)`.execute(tx)
  await sql`alter table ${sql.table(table)} attach partition ${sql.table(name)}
    for values from (${sql.lit(day)}) to (${sql.lit(nextDay)})`.execute(tx)
}

/** Returns whether an error was caused by a row for which there is no partition. */
export function isMissingPartitionError(error: unknown): boolean {
  const { code, routine } = error as { code?: string; routine?: string }
  return code === '23514' && routine === 'ExecFindPartition'
}

interface DroppedPartitions {
  dropped: string[]
  /** Partitions that are in use, by a backup for example. The next run drops them. */
  postponed: string[]
}

/** Returns the first day whose partitions are kept, as SQL. */
export function oldestKeptDay(clock: Clock): RawBuilder<string> {
  return sql`(${currentDay(clock)} - ${sql.lit(RETENTION_DAYS + 1)})`
}

/** Drops the partitions of days before the retention period. Readers and writers of the other partitions are not blocked. */
export async function dropOldPartitions(db: Database, clock: Clock): Promise<DroppedPartitions> {
  const { rows } = await sql<{ day: string }>`
    select to_char(${oldestKeptDay(clock)}, 'YYYY-MM-DD') as day`.execute(db.queries)
  return db.asOwner((owner) => dropPartitionsBefore(owner, rows[0]!.day))
}

async function dropPartitionsBefore(owner: Database, oldestDay: string): Promise<DroppedPartitions> {
  const result: DroppedPartitions = { dropped: [], postponed: [] }
  // `detach … concurrently` cannot run in a transaction.
  const client = await owner.pool.connect()
  try {
    await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`)
    for (const table of PARTITIONED_TABLES) {
      for (const { name, state } of await listDayTables(client, table)) {
        if (name >= partitionName(table, oldestDay)) continue
        const isDropped = await dropPartition(client, table, name, state)
        result[isDropped ? 'dropped' : 'postponed'].push(name)
        if (!isDropped) break // only one partition of a table can be pending
      }
    }
    await client.query('reset lock_timeout')
  } catch (error) {
    client.release(true)
    throw error
  }
  client.release()
  return result
}

type DayTableState = 'attached' | 'detach pending' | 'detached'

/** Lists the tables that are, or were, partitions, oldest first. */
async function listDayTables(client: pg.PoolClient, table: string): Promise<{ name: string; state: DayTableState }[]> {
  const { rows } = await client.query<{ name: string; state: DayTableState }>(
    `select relname as name, case when inhrelid is null then 'detached' when inhdetachpending then 'detach pending'
       else 'attached' end as state
     from pg_class left join pg_inherits on inhrelid = pg_class.oid
     where relnamespace = (select relnamespace from pg_class where oid = $1::regclass)
       and relkind = 'r' and relname ~ ('^' || $1 || '_[0-9]{8}$')
     order by relname`,
    [table],
  )
  return rows
}

/** Drops one partition; returns false if it is in use. A detach that was interrupted is finished by the next run. */
async function dropPartition(
  client: pg.PoolClient,
  table: string,
  name: string,
  state: DayTableState,
): Promise<boolean> {
  try {
    if (state !== 'detached')
      await client.query(
        `alter table ${table} detach partition ${name} ${state === 'attached' ? 'concurrently' : 'finalize'}`,
      )
    await client.query(`drop table if exists ${name}`)
    return true
  } catch (error) {
    if ((error as { code?: string }).code === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}

function partitionName(table: string, day: string) {
  return `${table}_${day.replaceAll('-', '')}`
}

/** Serialises the creation of partitions, because two processes may find the same one missing. */
async function lockPartitions(tx: Queries) {
  await sql`select pg_advisory_xact_lock(hashtextextended('event partitions', 0))`.execute(tx)
}
