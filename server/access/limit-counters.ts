import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log.ts'
import type { SavedRow } from './limits/key-state.ts'
import type { MemoryLimiter } from './limits/memory.ts'

const EVERY = 250

/**
 * Counters of long windows survive a restart: read at the start, written behind a few times a second, and at the end. Several
 * processes may write side by side: each adds what it has counted itself, so that whoever starts next knows of all of it.
 */
export async function keepCounters(
  memory: MemoryLimiter,
  { db, clock, log }: { db: Database; clock: Clock; log: Log },
): Promise<() => Promise<void>> {
  const found = await db.queries
    .selectFrom('limit_counters')
    .selectAll()
    .where('expires_at', '>', new Date(clock.now()))
    .execute()
  const restored = found.map((row) => ({
    key: row.key_id,
    name: row.name,
    value: row.value as number[],
    expiresAt: row.expires_at.getTime(),
  }))
  memory.restore(restored, clock.now())
  const days = new DayCounts(restored)
  // Lists, such as the skills that were seen, are kept in rows of this process's own.
  const writer = randomInt(2 ** 47)
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
    for (const row of memory.snapshot(clock.now())) unwritten.set(idOf(row), row)
    if (unwritten.size === 0) return
    const batch = unwritten
    const rows = [...batch.values()]
    await upsert(db, rows.map(ownPart))
    days.written(rows)
    if (unwritten === batch) unwritten = new Map()
  }

  function ownPart(row: SavedRow): SavedRow {
    if (isDay(row)) return days.added(row)
    return row.name === 'cooldown' ? row : { ...row, name: `${row.name}:${writer}` }
  }
}

function idOf({ key, name }: SavedRow): string {
  return `${key}\n${name}`
}

function isDay({ name }: SavedRow): boolean {
  return name.startsWith('day:')
}

/** What the table has of each day's count as far as this process knows: only what came on top is added to it. */
class DayCounts {
  readonly #known = new Map<string, number[]>()
  #newest = 0

  constructor(rows: SavedRow[]) {
    this.written(rows)
  }

  added(row: SavedRow): SavedRow {
    const [day, count] = row.value as [number, number]
    const [knownDay, known] = this.#known.get(idOf(row)) ?? []
    return { ...row, value: [day, day === knownDay ? count - known! : count] }
  }

  written(rows: SavedRow[]): void {
    for (const row of rows.filter(isDay)) {
      this.#known.set(idOf(row), row.value)
      if (row.value[0]! > this.#newest) this.#forgetBefore(row.value[0]!)
    }
  }

  #forgetBefore(day: number) {
    this.#newest = day
    for (const [id, [known]] of this.#known) if (known! < day) this.#known.delete(id)
  }
}

/** A day's count grows by what is sent, unless the table is in the next day already; of two cooldowns the later stays. */
async function upsert(db: Database, rows: SavedRow[]) {
  const columns = {
    keys: rows.map(({ key }) => key),
    names: rows.map(({ name }) => name),
    values: rows.map(({ value }) => JSON.stringify(value)),
    expiries: rows.map(({ expiresAt }) => new Date(expiresAt)),
  }
  await sql`
    insert into limit_counters as kept (key_id, name, value, expires_at)
    select * from unnest(${columns.keys}::text[], ${columns.names}::text[], ${columns.values}::jsonb[], ${columns.expiries}::timestamptz[])
      order by 1, 2
    on conflict (key_id, name) do update set expires_at = greatest(kept.expires_at, excluded.expires_at), value = case
      when kept.name = 'cooldown' and (kept.value ->> 0)::bigint > (excluded.value ->> 0)::bigint then kept.value
      when kept.name like 'day:%' and (kept.value ->> 0)::int = (excluded.value ->> 0)::int
        then jsonb_build_array(kept.value -> 0, (kept.value ->> 1)::bigint + (excluded.value ->> 1)::bigint)
      when kept.name like 'day:%' and (kept.value ->> 0)::int = (excluded.value ->> 0)::int + 1 then kept.value
      else excluded.value end`.execute(db.queries)
}
