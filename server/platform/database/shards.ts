import { sql } from 'kysely'
import type { Queries, Tx } from './database.ts'

/**
 * Number of shards, into which work is divided that must be done in order for each organisation. An organisation belongs to one shard, by a
 * hash of its ID. Tables of such work have the generated column `shard` (migration 0090).
 */
export const SHARD_COUNT = 16

/** How long a transaction that waits for the lock of a shard waits for any lock. */
const LOCK_TIMEOUT_MS = '5000'

/**
 * Locks a shard of this kind of work until the end of the transaction. Returns false if another transaction has the lock, unless `wait` is set.
 * Shares the lock of the whole work, which processes of earlier versions take exclusively: they never work at the same time as this version.
 */
export async function lockShard(tx: Tx, work: string, shard: number, { wait }: { wait: boolean }): Promise<boolean> {
  const lock = sql`hashtextextended(${work}, ${shard + 1})`
  const { rows } = await sql<{ is_locked: boolean }>`
    select set_config('lock_timeout', ${LOCK_TIMEOUT_MS}, true),
      pg_advisory_xact_lock_shared(hashtextextended(${work}, 0)),
      ${wait ? sql`pg_advisory_xact_lock(${lock}), true` : sql`pg_try_advisory_xact_lock(${lock})`} as is_locked`.execute(
    tx,
  )
  return rows[0]!.is_locked
}

/** Lists the shards with rows in a table. */
export async function listShards(
  queries: Queries,
  table: 'event_outbox' | 'analytics_changes' | 'message_changes',
): Promise<number[]> {
  const { rows } = await sql<{ shard: number }>`select distinct shard from ${sql.table(table)} order by shard`.execute(
    queries,
  )
  return rows.map(({ shard }) => shard)
}
