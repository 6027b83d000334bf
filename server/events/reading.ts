import { sql } from 'kysely'
import { decodeTime } from 'ulid'
import type { OwnerScope } from '../access/caller.ts'
import { DAY } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { dayOf, KEPT_DAYS } from './partitions.ts'
import type { EventType } from './types.ts'

/** Where an event is kept. */
export interface EventRef {
  day: string
  event_id: string
}

export interface StoredEvent extends EventRef {
  type: EventType
  mode: 'test' | 'live'
  sequence: number
  /** JSON. */
  data: string
  created_at: Date
  acknowledged_at: Date | null
  acknowledged_by: 'pull' | 'webhook' | null
}

/** The last event read. Days grow with sequences: earlier ones need not be looked at. */
export interface EventPosition {
  sequence: number
  day: string
}

export interface EventFilter {
  types: EventType[] | undefined
  acknowledged: 'false' | 'true' | 'all'
  after: EventPosition | undefined
  limit: number
}

const columns = sql`to_char(day, 'YYYY-MM-DD') as day, event_id, type, mode, sequence, data, created_at, acknowledged_at, acknowledged_by`

/** Oldest first. */
export async function listEvents(
  queries: Queries,
  { orgId, mode }: OwnerScope,
  now: number,
  { types, acknowledged, after, limit }: EventFilter,
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select ${columns} from events
    where org_id = ${orgId} and mode = ${mode} and sequence > ${after?.sequence ?? 0}
      and day >= ${after?.day ?? firstDay(now)}::date and created_at > ${oldest(now)}
      ${acknowledged === 'all' ? sql`` : acknowledged === 'true' ? sql`and acknowledged_at is not null` : sql`and acknowledged_at is null`}
      ${types ? sql`and type = any (${types}::text[])` : sql``}
    order by sequence limit ${limit}`.execute(queries)
  return rows
}

/** Those of the ids that name an event of the organisation and mode. */
export async function findEvents(
  queries: Queries,
  { orgId, mode }: OwnerScope,
  now: number,
  ids: string[],
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select ${columns} from events
    where event_id = any (${ids}::text[]) and org_id = ${orgId} and mode = ${mode}
      and day >= ${earliestDay(ids, now)}::date and created_at > ${oldest(now)}`.execute(queries)
  return rows
}

/** Acknowledges by pull what nobody has acknowledged yet, and tells what that was. */
export async function acknowledge(
  tx: Tx,
  { orgId, mode }: OwnerScope,
  now: number,
  which: { ids: string[] } | { upTo: number },
): Promise<EventRef[]> {
  const { rows } = await sql<EventRef>`
    update events set acknowledged_at = ${new Date(now)}, acknowledged_by = 'pull'
    where org_id = ${orgId} and mode = ${mode} and acknowledged_at is null
      ${
        'ids' in which
          ? sql`and event_id = any (${which.ids}::text[]) and day >= ${earliestDay(which.ids, now)}::date`
          : sql`and sequence <= ${which.upTo} and created_at > ${oldest(now)}`
      }
    returning to_char(day, 'YYYY-MM-DD') as day, event_id`.execute(tx)
  return rows
}

function oldest(now: number) {
  return new Date(now - KEPT_DAYS * DAY)
}

function firstDay(now: number) {
  return dayOf(now - (KEPT_DAYS + 1) * DAY)
}

/** An event gets its place on the day of its id or later (before it where clocks differ, or one was set back). */
function earliestDay(ids: string[], now: number): string {
  const earliest = Math.min(now, ...ids.map((id) => timeOf(id)))
  const day = dayOf(earliest - DAY)
  return day > firstDay(now) ? day : firstDay(now)
}

function timeOf(eventId: string): number {
  try {
    return decodeTime(eventId.slice('EV_'.length))
  } catch {
    return 0 // no ULID, so no event either
  }
}
