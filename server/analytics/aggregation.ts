import type { Database, Tx } from '../platform/database/database.ts'
import { listShards, lockShard } from '../platform/database/shards.ts'

export interface Aggregation {
  /** The table of the changes. */
  table: 'analytics_changes' | 'message_changes'
  /** Name of the lock, see `lockShard`. */
  lock: string
  /** Moves up to `limit` committed changes of a shard into the totals and returns their number. */
  aggregate: (tx: Tx, shard: number, limit: number) => Promise<number>
}

/**
 * Aggregates up to `limit` committed changes of each shard of organisations and returns their number. Only one process at a time aggregates a
 * shard; the others skip it. A shard that fails does not stop the others.
 */
export async function aggregateShards(
  db: Database,
  { table, lock, aggregate }: Aggregation,
  limit: number,
): Promise<number> {
  let count = 0
  const errors: unknown[] = []
  for (const shard of await listShards(db.queries, table)) {
    try {
      count += await db.transaction(async (tx) =>
        (await lockShard(tx, lock, shard, { wait: false })) ? aggregate(tx, shard, limit) : 0,
      )
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
  return count
}
