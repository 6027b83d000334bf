import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import { indianDayStart } from '../platform/india-time.ts'
import type { Log } from '../platform/log.ts'
import type { DayCount, DayCountStore } from './limits/durable-day-caps.ts'
import type { SavedCounterRow } from './limits/key-state.ts'
import type { MemoryLimiter } from './limits/memory.ts'
import type { BucketName } from './limits/table.ts'
import { DAY_SLACK_MS } from './limits/windows.ts'

const SAVE_INTERVAL_MS = 250

/**
 * Persists the counters of windows of an hour and longer: restores them at the start, then writes changes several times a second and at shutdown.
 * Several processes can write concurrently: each adds only its own counts, so that the next process to start restores the sum.
 */
export async function persistLimitCounters(
  memory: MemoryLimiter,
  { db, clock, log }: { db: Database; clock: Clock; log: Log },
): Promise<() => Promise<void>> {
  const storedRows = await db.queries
    .selectFrom('limit_counters')
    .selectAll()
    .where('expires_at', '>', new Date(clock.now()))
    .execute()
  const restoredRows = storedRows.map((row) => ({
    key: row.key_id,
    name: row.name,
    value: row.value as number[],
    expiresAt: row.expires_at.getTime(),
  }))
  memory.restore(restoredRows, clock.now())
  const dayCounts = new DayCounts(restoredRows)
  // Lists, such as the skills returned to a key, are stored in separate rows for each process.
  const processId = randomInt(2 ** 47)
  // Rows that could not be written are retried, unless newer rows have replaced them.
  let pending = new Map<string, SavedCounterRow>()
  let writing = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing
      .then(writeChanges)
      .catch((error) => log.warn({ err: error }, 'writing limit counters failed, retrying'))
  }, SAVE_INTERVAL_MS)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await writing
    await writeChanges().catch((error) =>
      log.warn({ err: error }, 'writing limit counters failed at shutdown, the last counts are lost'),
    )
  }

  async function writeChanges() {
    for (const row of memory.snapshot(clock.now())) pending.set(rowId(row), row)
    if (pending.size === 0) return
    const batch = pending
    const rows = [...batch.values()]
    await upsertRows(db, rows.map(rowToWrite))
    dayCounts.recordWritten(rows)
    if (pending === batch) pending = new Map()
  }

  /** Returns the row to write: for a day's count the increment, for a list a row of this process. */
  function rowToWrite(row: SavedCounterRow): SavedCounterRow {
    if (isDayCount(row)) return dayCounts.toIncrement(row)
    return row.name === 'cooldown' ? row : { ...row, name: `${row.name}:${processId}` }
  }
}

function rowId({ key, name }: SavedCounterRow): string {
  return `${key}\n${name}`
}

function isDayCount({ name }: SavedCounterRow): boolean {
  return name.startsWith('day:')
}

/** The part of each day's count that this process has already written or read; only the increment is added to the table. */
class DayCounts {
  readonly #written = new Map<string, number[]>()
  #newestDay = 0

  constructor(rows: SavedCounterRow[]) {
    this.recordWritten(rows)
  }

  /** Returns the row with the part of its count that has not been written yet. */
  toIncrement(row: SavedCounterRow): SavedCounterRow {
    const [day, count] = row.value as [number, number]
    const [writtenDay, writtenCount] = this.#written.get(rowId(row)) ?? []
    return { ...row, value: [day, day === writtenDay ? count - writtenCount! : count] }
  }

  recordWritten(rows: SavedCounterRow[]): void {
    for (const row of rows.filter(isDayCount)) {
      this.#written.set(rowId(row), row.value)
      if (row.value[0]! > this.#newestDay) this.#deleteDaysBefore(row.value[0]!)
    }
  }

  #deleteDaysBefore(day: number) {
    this.#newestDay = day
    for (const [id, [writtenDay]] of this.#written) if (writtenDay! < day) this.#written.delete(id)
  }
}

/** Opens the durable counts of daily limits. They are the same rows that a process without Redis restores at its start. */
export function openDayCountStore(db: Database, clock: Clock): DayCountStore {
  return {
    async load() {
      const { rows } = await sql<StoredCounter>`
        select key_id, name, value from limit_counters where name like 'day:%' and expires_at > ${new Date(clock.now())}`.execute(
        db.queries,
      )
      return rows.map(toDayCount)
    },
    async add(counts) {
      const storedRows = await upsertRows(
        db,
        counts.map(({ key, bucket, day, count }) => ({
          key,
          name: `day:${bucket}`,
          value: [day, count],
          expiresAt: indianDayStart(day + 1) + DAY_SLACK_MS,
        })),
      )
      return storedRows.map(toDayCount)
    },
  }
}

interface StoredCounter {
  key_id: string
  name: string
  value: number[]
}

function toDayCount({ key_id, name, value }: StoredCounter): DayCount {
  return { key: key_id, bucket: name.slice('day:'.length) as BucketName, day: value[0]!, count: value[1]! }
}

/**
 * Adds the increments to the stored counts of the same day. A stored count of the next day and a later cooldown are kept. Returns the
 * stored rows.
 */
async function upsertRows(db: Database, rows: SavedCounterRow[]): Promise<StoredCounter[]> {
  const columns = {
    keys: rows.map(({ key }) => key),
    names: rows.map(({ name }) => name),
    values: rows.map(({ value }) => JSON.stringify(value)),
    expiries: rows.map(({ expiresAt }) => new Date(expiresAt)),
  }
  const { rows: storedRows } = await sql<StoredCounter>`
    insert into limit_counters as stored (key_id, name, value, expires_at)
    select * from unnest(${columns.keys}::text[], ${columns.names}::text[], ${columns.values}::jsonb[], ${columns.expiries}::timestamptz[])
      order by 1, 2
    on conflict (key_id, name) do update set expires_at = greatest(stored.expires_at, excluded.expires_at), value = case
      when stored.name = 'cooldown' and (stored.value ->> 0)::bigint > (excluded.value ->> 0)::bigint then stored.value
      when stored.name like 'day:%' and (stored.value ->> 0)::int = (excluded.value ->> 0)::int
        then jsonb_build_array(stored.value -> 0, (stored.value ->> 1)::bigint + (excluded.value ->> 1)::bigint)
      when stored.name like 'day:%' and (stored.value ->> 0)::int = (excluded.value ->> 0)::int + 1 then stored.value
      else excluded.value end
    returning key_id, name, value`.execute(db.queries)
  return storedRows
}
