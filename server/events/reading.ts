import { type RawBuilder, sql } from 'kysely'
import { decodeTime } from 'ulid'
import type { OrgScope } from '../access/caller.ts'
import { DAY } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import { acknowledgedUpTo, DEFAULT_CONSUMER } from './consumers.ts'
import { dayOf, RETENTION_DAYS } from './partitions.ts'
import { openEvents, type SealedEventData } from './personal-data.ts'
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
  /** Whose acknowledgements count. */
  consumer: string
  after: EventPosition | undefined
  createdAfter?: Date | undefined
  limit: number
}

const columns = sql`to_char(events.day, 'YYYY-MM-DD') as day, events.event_id, events.type, events.mode, events.sequence, events.data,
  events.created_at, events.acknowledged_at, events.acknowledged_by, events.person_id, events.other_person_id, events.personal`

/** Returns events, oldest first, with the acknowledgements of a consumer. */
export async function listEvents(
  queries: Queries,
  scope: OrgScope,
  now: number,
  filter: EventFilter,
): Promise<StoredEvent[]> {
  const { types, acknowledged, consumer, after, createdAfter, limit } = filter
  const { orgId, mode } = scope
  const events = consumer === DEFAULT_CONSUMER ? sql`events` : await eventsOfConsumer(queries, scope, filter, now)
  const { rows } = await sql<StoredEvent & SealedEventData>`
    select ${columns} from ${events}
    where org_id = ${orgId} and mode = ${mode} and sequence > ${after?.sequence ?? 0}
      and day >= ${after?.day ?? oldestDay(now)}::date and created_at > ${oldestCreationTime(now)}
      ${acknowledged === 'all' ? sql`` : acknowledged === 'true' ? sql`and acknowledged_at is not null` : sql`and acknowledged_at is null`}
      ${types ? sql`and type = any (${types}::text[])` : sql``}
      ${createdAfter ? sql`and created_at > ${createdAfter}` : sql``}
    order by sequence limit ${limit}`.execute(queries)
  return openEvents(queries, rows)
}

/** Returns the latest events first, for people who read them. */
export async function listLatestEvents(
  queries: Queries,
  { orgId, mode }: OrgScope,
  now: number,
  { type, acknowledged, id, before, limit }: LatestEventFilter,
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent & SealedEventData>`
    select ${columns} from events
    where ${latestEventCondition({ orgId, mode }, now, { type, acknowledged, id })}
      ${before ? sql`and sequence < ${before.sequence} and day <= ${before.day}::date` : sql``}
    order by sequence desc limit ${limit}`.execute(queries)
  return openEvents(queries, rows)
}

export interface LatestEventFilter {
  type?: EventType | undefined
  acknowledged?: boolean | undefined
  id?: string | undefined
  before?: EventPosition | undefined
  limit: number
}

/** Returns the condition on `events` of a list of the latest events. */
export function latestEventCondition(
  { orgId, mode }: OrgScope,
  now: number,
  { type, acknowledged, id }: Pick<LatestEventFilter, 'type' | 'acknowledged' | 'id'>,
) {
  return sql`org_id = ${orgId} and mode = ${mode} and day >= ${oldestDay(now)}::date and created_at > ${oldestCreationTime(now)}
    ${acknowledged === undefined ? sql`` : acknowledged ? sql`and acknowledged_at is not null` : sql`and acknowledged_at is null`}
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${id === undefined ? sql`` : sql`and event_id = ${id}`}`
}

/** Returns the events as a table whose acknowledgements are those of the consumer. */
async function eventsOfConsumer(
  queries: Queries,
  scope: OrgScope,
  { consumer, acknowledged, after }: EventFilter,
  now: number,
) {
  const { orgId, mode } = scope
  const upTo = await acknowledgedUpTo(queries, scope, consumer)
  // Repeats conditions of the query, because PostgreSQL does not always move them into the subquery.
  const firstSequence = acknowledged === 'false' ? Math.max(upTo, after?.sequence ?? 0) : (after?.sequence ?? 0)
  return sql`(
    select e.day, e.org_id, e.mode, e.sequence, e.event_id, e.type, e.data, e.person_id, e.other_person_id, e.personal, e.created_at,
      case when e.sequence <= ${upTo} then c.acknowledged_at else a.acknowledged_at end as acknowledged_at,
      case when e.sequence <= ${upTo} or a.event_id is not null then 'pull' end as acknowledged_by
    from events e
    left join event_consumers c on c.org_id = ${orgId} and c.mode = ${mode} and c.consumer = ${consumer}
    left join event_acknowledgements a
      on a.org_id = ${orgId} and a.mode = ${mode} and a.consumer = ${consumer} and a.event_id = e.event_id
    where e.org_id = ${orgId} and e.mode = ${mode} and e.sequence > ${firstSequence}
      and e.day >= ${after?.day ?? oldestDay(now)}::date
  ) as events`
}

/** Returns the number of stored events of an organisation after one sequence and up to another. */
export async function countEvents(
  queries: Queries,
  { orgId, mode }: OrgScope,
  now: number,
  { after, upTo }: { after: number; upTo: number },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from events
    where org_id = ${orgId} and mode = ${mode} and sequence > ${after} and sequence <= ${upTo}
      and day >= ${oldestDay(now)}::date and created_at > ${oldestCreationTime(now)}`.execute(queries)
  return rows[0]!.count
}

/** Returns the events with these IDs that belong to the organisation and mode. */
export async function findEvents(
  queries: Queries,
  { orgId, mode }: OrgScope,
  now: number,
  ids: string[],
): Promise<StoredEvent[]> {
  const { rows } = await sql<StoredEvent & SealedEventData>`
    select ${columns} from events
    where event_id = any (${ids}::text[]) and org_id = ${orgId} and mode = ${mode}
      and day >= ${earliestDay(ids, now)}::date and created_at > ${oldestCreationTime(now)}`.execute(queries)
  return openEvents(queries, rows)
}

/**
 * Returns a condition for unacknowledged events that are selected by ID. With "is null", PostgreSQL would also read the index of all
 * unacknowledged events, which can be millions.
 */
export function isUnacknowledged(acknowledgedAt: RawBuilder<unknown>) {
  return sql`coalesce(${acknowledgedAt}, 'infinity') = 'infinity'`
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
    where org_id = ${orgId} and mode = ${mode} and ${
      'ids' in selection
        ? sql`event_id = any (${selection.ids}::text[]) and day >= ${earliestDay(selection.ids, now)}::date
            and ${isUnacknowledged(sql`acknowledged_at`)}`
        : sql`acknowledged_at is null and sequence <= ${selection.upTo} and created_at > ${oldestCreationTime(now)}`
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
