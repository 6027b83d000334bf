import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database.ts'
import type { Log } from '../platform/log.ts'
import type { SavedRow } from './limits/key-state.ts'
import type { MemoryLimiter } from './limits/memory.ts'

const EVERY = 250

/** Counters of long windows survive a restart: read at the start, written behind a few times a second, and at the end. */
export async function keepCounters(
  memory: MemoryLimiter,
  { db, clock, log }: { db: Database; clock: Clock; log: Log },
): Promise<() => Promise<void>> {
  const rows = await db.queries
    .selectFrom('limit_counters')
    .selectAll()
    .where('expires_at', '>', new Date(clock.now()))
    .execute()
  memory.restore(
    rows.map((row) => ({
      key: row.key_id,
      name: row.name,
      value: row.value as number[],
      expiresAt: row.expires_at.getTime(),
    })),
    clock.now(),
  )
  // Rows that could not be written are written again, unless newer ones have taken their place.
  let unwritten = new Map<string, SavedRow>()
  let writing = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing.then(write).catch((error) => log.warn({ err: error }, 'limit counters could not be written'))
  }, EVERY)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await writing
    await write().catch((error) => log.warn({ err: error }, 'limit counters could not be written'))
  }

  async function write() {
    for (const row of memory.snapshot(clock.now())) unwritten.set(`${row.key}\n${row.name}`, row)
    if (unwritten.size === 0) return
    const batch = unwritten
    await upsert(db, [...batch.values()])
    if (unwritten === batch) unwritten = new Map()
  }
}

async function upsert(db: Database, rows: SavedRow[]) {
  const columns = {
    keys: rows.map(({ key }) => key),
    names: rows.map(({ name }) => name),
    values: rows.map(({ value }) => JSON.stringify(value)),
    expiries: rows.map(({ expiresAt }) => new Date(expiresAt)),
  }
  await sql`
    insert into limit_counters (key_id, name, value, expires_at)
    select * from unnest(${columns.keys}::text[], ${columns.names}::text[], ${columns.values}::jsonb[], ${columns.expiries}::timestamptz[])
    on conflict (key_id, name) do update set value = excluded.value, expires_at = excluded.expires_at`.execute(
    db.queries,
  )
}
