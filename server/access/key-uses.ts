import { sql } from 'kysely'
import { MINUTE } from '../platform/clock.ts'
import type { Database } from '../platform/database/database.ts'
import type { Log } from '../platform/log.ts'

const WRITE_INTERVAL_MS = 1000

/** Records when keys are used. */
export interface KeyUses {
  record(keyId: string, now: number): void
  /** Writes the uses that are not stored yet. */
  close(): Promise<void>
}

interface KeyUse {
  lastUsedAt: number
  /** The time of the use that was stored last. */
  storedAt: number
}

/** Stores the times of the last use of keys: in batches, and at most once a minute for each key. */
export function openKeyUses({ db, log }: { db: Database; log: Log }): KeyUses {
  const uses = new Map<string, KeyUse>()
  let pending = new Set<string>()
  let writing = Promise.resolve()
  const timer = setInterval(() => {
    if (pending.size > 0) writing = writing.then(() => write(takePending()))
  }, WRITE_INTERVAL_MS)
  timer.unref()
  return {
    record(keyId, now) {
      const use = uses.get(keyId)
      if (!use) uses.set(keyId, { lastUsedAt: now, storedAt: Number.NEGATIVE_INFINITY })
      else use.lastUsedAt = now
      if (now - (use?.storedAt ?? Number.NEGATIVE_INFINITY) >= MINUTE) pending.add(keyId)
    },
    async close() {
      clearInterval(timer)
      await writing
      // Also those within the last minute, so that the times are exact after a restart.
      await write([...uses].filter(([, use]) => use.lastUsedAt > use.storedAt).map(([keyId]) => keyId))
    },
  }

  function takePending(): string[] {
    const keyIds = [...pending]
    pending = new Set()
    return keyIds
  }

  async function write(keyIds: string[]): Promise<void> {
    if (keyIds.length === 0) return
    const times = keyIds.map((keyId) => uses.get(keyId)!.lastUsedAt)
    try {
      await sql`
        insert into key_uses as stored (key_id, last_used_at)
        select * from unnest(${keyIds}::text[], ${times.map((time) => new Date(time))}::timestamptz[]) order by 1
        on conflict (key_id) do update set last_used_at = greatest(stored.last_used_at, excluded.last_used_at)`.execute(
        db.queries,
      )
    } catch (error) {
      for (const keyId of keyIds) pending.add(keyId)
      log.warn({ err: error }, 'storing the last use of keys failed, retrying')
      return
    }
    keyIds.forEach((keyId, i) => {
      uses.get(keyId)!.storedAt = times[i]!
    })
  }
}
