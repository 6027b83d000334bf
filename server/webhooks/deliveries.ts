import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { PlacedEvent } from '../events/ledger.ts'
import { KEPT_DAYS } from '../events/partitions.ts'
import type { EventRef } from '../events/reading.ts'
import { type Clock, DAY } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { Webhook } from './webhooks.ts'

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One try to hand an event over. */
export interface Attempt {
  attempted_at: string
  status_code: number | null
  latency_ms: number
  error: string | null
  /** The beginning of what the endpoint answered. */
  answer: string
}

/** PostgreSQL tells the workers on this channel which endpoint something is due for. */
export const DELIVERIES_DUE = 'webhook_deliveries'

/** Followed by the endpoint's id where what is due may be of any day; by itself, it is an event that was placed just now. */
export const ANY_DAY = 'any day '

/**
 * Addresses events to the endpoints that want them, in the transaction that gives them their place. For a disabled endpoint
 * they are held. The endpoints are locked meanwhile, so that whoever enables one finds all that was held for it.
 */
export async function addressEvents(tx: Tx, events: PlacedEvent[], clock: Clock): Promise<void> {
  const now = new Date(clock.now())
  const owners = [...new Map(events.map((event) => [`${event.org_id} ${event.mode}`, event])).values()]
  const column = <T>(read: (event: PlacedEvent) => T) => events.map(read)
  await sql`
    with endpoint as materialized (
      select webhook_id, org_id, mode, event_types, status, times_disabled from webhooks
      where (org_id, mode) in (
        select * from unnest(${owners.map(({ org_id }) => org_id)}::text[], ${owners.map(({ mode }) => mode)}::text[])
      ) and status <> 'archived'
      order by webhook_id for share
    ), addressed as (
      insert into webhook_deliveries (day, event_id, webhook_id, event_type, sequence, next_attempt_at, held_in, created_at)
      select e.day, e.event_id, w.webhook_id, e.type, e.sequence,
        case when w.status = 'disabled' then 'infinity' else ${now}::timestamptz end,
        case when w.status = 'disabled' then w.times_disabled end,
        ${now}::timestamptz
      from unnest(
        ${column(({ day }) => day)}::date[], ${column(({ event_id }) => event_id)}::text[],
        ${column(({ org_id }) => org_id)}::text[], ${column(({ mode }) => mode)}::text[],
        ${column(({ type }) => type)}::text[], ${column(({ sequence }) => sequence)}::bigint[]
      ) as e (day, event_id, org_id, mode, type, sequence)
      join endpoint w on w.org_id = e.org_id and w.mode = e.mode
      where ${events.some(isTest) ? wantedOrTested(events.filter(isTest)) : WANTED}
      order by e.sequence
      returning webhook_id
    )
    select pg_notify(${DELIVERIES_DUE}, webhook_id) from (select distinct webhook_id from addressed) as told`.execute(
    tx,
  )
}

function isTest({ type }: PlacedEvent) {
  return type === 'webhook.test'
}

const WANTED = sql`(w.event_types is null or e.type = any (w.event_types))`

/** A test event tells in its data which endpoint it is for. */
function wantedOrTested(tests: PlacedEvent[]) {
  return sql`case when e.type = 'webhook.test'
    then w.webhook_id = (
      select tested.data::jsonb ->> 'webhook_id' from events tested
      where tested.event_id = e.event_id and tested.day = any (${daysOf(tests)}::date[])
    )
    else ${WANTED}
  end`
}

/** How often each event was sent, to whichever endpoint, and what went wrong last; absent where it was addressed to none. */
export async function deliveryStates(
  queries: Queries,
  refs: EventRef[],
): Promise<Map<string, { attempts: number; last_error: string | null }>> {
  if (refs.length === 0) return new Map()
  const { rows } = await sql<{ event_id: string; attempts: number; last_error: string | null }>`
    select event_id, sum(attempts)::int as attempts,
      (array_agg(last_error order by log -> -1 ->> 'attempted_at' desc) filter (where last_error is not null))[1] as last_error
    from webhook_deliveries d where ${of('d', refs)} group by event_id`.execute(queries)
  return new Map(rows.map(({ event_id, attempts, last_error }) => [event_id, { attempts, last_error }]))
}

/** The events were acknowledged by pull: they are sent no more. Whoever calls this holds the events' rows. */
export async function endDeliveries(tx: Tx, refs: EventRef[]): Promise<void> {
  if (refs.length === 0) return
  await sql`update webhook_deliveries d set status = 'failed', ended = 'pulled'
    where ${of('d', refs)} and d.status = 'pending'`.execute(tx)
}

/**
 * Acknowledges the events that every endpoint they were addressed to has taken. The caller holds the events' rows, so that
 * two who each settle the last but one delivery do not both think that another is open.
 */
export async function acknowledgeDelivered(tx: Tx, refs: EventRef[], now: number): Promise<void> {
  if (refs.length === 0) return
  // Two plain look-ups by key: joined into one statement, they are at times planned as a read of the whole day.
  const { rows } = await sql<{ event_id: string; taken: boolean; counts: boolean }>`
    select event_id, status = 'delivered' as taken, ended is distinct from 'withdrawn' as counts
    from webhook_deliveries d where ${of('d', refs)}`.execute(tx)
  const open = new Set(rows.filter(({ taken, counts }) => !taken && counts).map(({ event_id }) => event_id))
  const taken = new Set(rows.filter((row) => row.taken && !open.has(row.event_id)).map(({ event_id }) => event_id))
  const settled = refs.filter(({ event_id }) => taken.has(event_id))
  if (settled.length === 0) return
  await sql`update events e set acknowledged_at = ${new Date(now)}, acknowledged_by = 'webhook'
    where ${of('e', settled)} and e.acknowledged_at is null`.execute(tx)
}

/** Everybody who settles deliveries takes the events first, and in this order: nobody waits for each other in a circle. */
export async function lockEvents(tx: Tx, refs: EventRef[]): Promise<void> {
  await sql`select 1 from events e where ${of('e', refs)} order by event_id for no key update`.execute(tx)
}

/**
 * The rows of these events. The days come as a list of their own, so that only their partitions are looked at and planned for;
 * the ids as well, so that no plan reads a whole partition to join it with a few of them.
 */
export function of(table: 'd' | 'e', refs: EventRef[]) {
  const day = sql.ref(`${table}.day`)
  const id = sql.ref(`${table}.event_id`)
  return sql`${day} = any (${daysOf(refs)}::date[]) and ${id} = any (${refs.map(({ event_id }) => event_id)}::text[])`
}

export function daysOf(refs: EventRef[]): string[] {
  return [...new Set(refs.map(({ day }) => day))]
}

export interface Delivery {
  event_id: string
  event_type: string
  sequence: number
  status: DeliveryStatus
  log: Attempt[]
  next_attempt_at: Date | null
  created_at: Date
}

/** Newest event first, as long as events are kept. */
export async function listDeliveries(
  queries: Queries,
  { webhook_id, status: state }: Webhook,
  now: number,
  { status, after, limit }: { status?: DeliveryStatus | undefined; after?: number | undefined; limit: number },
): Promise<Delivery[]> {
  const sent = state === 'enabled' || state === 'failing'
  const { rows } = await sql<Delivery>`
    select event_id, event_type, sequence, status, log, created_at,
      case when ${sent}::boolean and status = 'pending' and isfinite(next_attempt_at) then next_attempt_at end as next_attempt_at
    from webhook_deliveries
    where webhook_id = ${webhook_id} and created_at > ${new Date(now - KEPT_DAYS * DAY)}
      ${after === undefined ? sql`` : sql`and sequence < ${after}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
    order by sequence desc limit ${limit}`.execute(queries)
  return rows
}

const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Follows from what it names, so that it need not be kept: the event's time, and a digest in place of chance. */
export function deliveryId(eventId: string, webhookId: string): string {
  const digest = createHash('sha256').update(`${eventId} ${webhookId}`).digest()
  const code = Array.from(digest.subarray(0, 16), (byte) => BASE32[byte & 31]).join('')
  return `WD_${eventId.slice(3, 13)}${code}`
}
