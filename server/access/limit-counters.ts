import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log.ts'
import type { SavedRow } from './limits/key-state.ts'
import type { MemoryLimiter } from './limits/memory.ts'

const SAVE_INTERVAL_MS = 250

/**
 * Persists the counters of long windows: restores them at the start, then writes changes several times a second and at shutdown.
 * Several processes can write concurrently: each adds only its own counts, so that the next process to start restores the sum.
 */
export async function persistCounters(
  memory: MemoryLimiter,
  { db, clock, log }: { db: Database; clock: Clock; log: Log },
): Promise<() => Promise<void>> {
  const stored = await db.queries
    .selectFrom('limit_counters')
    .selectAll()
    .where('expires_at', '>', new Date(clock.now()))
    .execute()
  const restored = stored.map((row) => ({
    key: row.key_id,
    name: row.name,
    value: row.value as number[],
    expiresAt: row.expires_at.getTime(),
  }))
  memory.restore(restored, clock.now())
  const days = new DayCounts(restored)
  // Lists, such as the skills returned to a key, are stored in separate rows for each process.
  const processId = randomInt(2 ** 47)
  // Rows that could not be written are retried, unless newer rows have replaced them.
  let pending = new Map<string, SavedRow>()
  let writing = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing.then(write).catch((error) => log.warn({ err: error }, 'writing limit counters failed, retrying'))
  }, SAVE_INTERVAL_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await writing
    await write().catch((error) =>
      log.warn({ err: error }, 'writing limit counters failed at shutdown, the last counts are lost'),
    )
  }

  async function write() {
    for (const row of memory.snapshot(clock.now())) pending.set(rowId(row), row)
    if (pending.size === 0) return
    const batch = pending
    const rows = [...batch.values()]
    await upsert(db, rows.map(rowToWrite))
    days.recordWritten(rows)
    if (pending === batch) pending = new Map()
  }

  /** Returns the row to write: for a day's count the increment, for a list a row of this process. */
  function rowToWrite(row: SavedRow): SavedRow {
    if (isDay(row)) return days.increment(row)
    return row.name === 'cooldown' ? row : { ...row, name: `${row.name}:${processId}` }
  }
}

function rowId({ key, name }: SavedRow): string {
  return `${key}\n${name}`
}

function isDay({ name }: SavedRow): boolean {
  return name.startsWith('day:')
}

/** The part of each day's count that this process has already written or read; only the increment is added to the table. */
class DayCounts {
  readonly #written = new Map<string, number[]>()
  #newestDay = 0

  constructor(rows: SavedRow[]) {
    this.recordWritten(rows)
  }

  increment(row: SavedRow): SavedRow {
    const [day, count] = row.value as [number, number]
    const [writtenDay, written] = this.#written.get(rowId(row)) ?? []
    return { ...row, value: [day, day === writtenDay ? count - written! : count] }
  }

  recordWritten(rows: SavedRow[]): void {
    for (const row of rows.filter(isDay)) {
      this.#written.set(rowId(row), row.value)
      if (row.value[0]! > this.#newestDay) this.#deleteBefore(row.value[0]!)
    }
  }

  #deleteBefore(day: number) {
    this.#newestDay = day
    for (const [id, [writtenDay]] of this.#written) if (writtenDay! < day) this.#written.delete(id)
  }
}

/** Adds the increment to a day's count, unless the table already has the next day. Of two cooldowns, the later one wins. */
async function upsert(db: Database, rows: SavedRow[]) {
  const columns = {
    keys: rows.map(({ key }) => key),
    names: rows.map(({ name }) => name),
    values: rows.map(({ value }) => JSON.stringify(value)),
    expiries: rows.map(({ expiresAt }) => new Date(expiresAt)),
  }
  await sql`
    insert into limit_counters as stored (key_id, name, value, expires_at)
    select * from unnest(${columns.keys}::text[], ${columns.names}::text[], ${columns.values}::jsonb[], ${columns.expiries}::timestamptz[])
      order by 1, 2
    on conflict (key_id, name) do update set expires_at = greatest(stored.expires_at, excluded.expires_at), value = case
      when stored.name = 'cooldown' and (stored.value ->> 0)::bigint > (excluded.value ->> 0)::bigint then stored.value
      when stored.name like 'day:%' and (stored.value ->> 0)::int = (excluded.value ->> 0)::int
        then jsonb_build_array(stored.value -> 0, (stored.value ->> 1)::bigint + (excluded.value ->> 1)::bigint)
      when stored.name like 'day:%' and (stored.value ->> 0)::int = (excluded.value ->> 0)::int + 1 then stored.value
      else excluded.value end`.execute(db.queries)
}
