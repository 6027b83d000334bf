import { sql } from 'kysely'
import { decodeTime } from 'ulid'
import type { OrgScope } from '../access/caller.ts'
import { DAY } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { dayOf, RETENTION_DAYS } from './partitions.ts'
import type { EventType } from './types.ts'

/** The primary key of an event. */
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

/** The last event read. Later events have a higher sequence and the same or a later day, so earlier partitions are skipped. */
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

/** Returns events, oldest first. */
export async function listEvents(
  queries: Queries,
  { orgId, mode }: OrgScope,
  now: number,
  { types, acknowledged, after, limit }: EventFilter,
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select ${columns} from events
    where org_id = ${orgId} and mode = ${mode} and sequence > ${after?.sequence ?? 0}
      and day >= ${after?.day ?? oldestDay(now)}::date and created_at > ${oldestCreationTime(now)}
      ${acknowledged === 'all' ? sql`` : acknowledged === 'true' ? sql`and acknowledged_at is not null` : sql`and acknowledged_at is null`}
      ${types ? sql`and type = any (${types}::text[])` : sql``}
    order by sequence limit ${limit}`.execute(queries)
  return rows
}

/** Returns the events with these IDs that belong to the organisation and mode. */
export async function findEvents(
  queries: Queries,
  { orgId, mode }: OrgScope,
  now: number,
  ids: string[],
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent>`
    select ${columns} from events
    where event_id = any (${ids}::text[]) and org_id = ${orgId} and mode = ${mode}
      and day >= ${earliestDay(ids, now)}::date and created_at > ${oldestCreationTime(now)}`.execute(queries)
  return rows
}

/** Acknowledges events by pull. Returns the events that were not acknowledged before. */
export async function acknowledgeEvents(
  tx: Tx,
  { orgId, mode }: OrgScope,
  now: number,
  selection: { ids: string[] } | { upTo: number },
): Promise<EventRef[]> {
  const { rows } = await sql<EventRef>`
    update events set acknowledged_at = ${new Date(now)}, acknowledged_by = 'pull'
    where org_id = ${orgId} and mode = ${mode} and acknowledged_at is null
      ${
        'ids' in selection
          ? sql`and event_id = any (${selection.ids}::text[]) and day >= ${earliestDay(selection.ids, now)}::date`
          : sql`and sequence <= ${selection.upTo} and created_at > ${oldestCreationTime(now)}`
      }
    returning to_char(day, 'YYYY-MM-DD') as day, event_id`.execute(tx)
  return rows
}

function oldestCreationTime(now: number) {
  return new Date(now - RETENTION_DAYS * DAY)
}

function oldestDay(now: number) {
  return dayOf(now - (RETENTION_DAYS + 1) * DAY)
}

/** Returns the first day that can contain the events: the day of the earliest ID, minus one day to allow for clock differences. */
function earliestDay(ids: string[], now: number): string {
  const earliestTime = Math.min(now, ...ids.map((id) => creationTimeOf(id)))
  const day = dayOf(earliestTime - DAY)
  return day > oldestDay(now) ? day : oldestDay(now)
}

function creationTimeOf(eventId: string): number {
  try {
    return decodeTime(eventId.slice('EV_'.length))
  } catch {
    return 0 // not a ULID, so there is no such event
  }
}
