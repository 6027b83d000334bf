import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { DatabaseNotification, SequencedEvent } from '../events/ledger.ts'
import { RETENTION_DAYS } from '../events/partitions.ts'
import { type EventRef, isUnacknowledged } from '../events/reading.ts'
import { type Clock, DAY } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { Webhook } from './webhooks.ts'

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

/** One attempt to deliver an event, as stored and returned by the API. */
export interface DeliveryAttempt {
  attempted_at: string
  status_code: number | null
  latency_ms: number
  error: string | null
  /** The beginning of the response body. */
  answer: string
  /** The signature header. Not returned by the API of partners; earlier versions did not store it. */
  signature?: string
}

/**
 * PostgreSQL notification channel for due deliveries. A payload without a prefix is the ID of a webhook for which an event was
 * sequenced just now.
 */
export const DELIVERIES_DUE = 'webhook_deliveries'

/** Prefix of the webhook ID in the payload if the due deliveries can be of any day. */
export const ANY_DAY_PREFIX = 'any day '

/**
 * Creates a delivery for each event and webhook that subscribes to its type, in the transaction that sequences the events.
 * Deliveries to a disabled webhook are held. The webhooks are locked, so that enabling one finds all deliveries held for it.
 * Returns the notifications to send after the commit.
 */
export async function fanOut(tx: Tx, events: SequencedEvent[], clock: Clock): Promise<DatabaseNotification[]> {
  const now = new Date(clock.now())
  const scopes = [...new Map(events.map((event) => [`${event.org_id} ${event.mode}`, event])).values()]
  const columnOf = <T>(read: (event: SequencedEvent) => T) => events.map(read)
  const { rows } = await sql<{ webhook_id: string }>`
    with webhook as materialized (
      select webhook_id, org_id, mode, event_types, status, times_disabled from webhooks
      where (org_id, mode) in (
        select * from unnest(${scopes.map(({ org_id }) => org_id)}::text[], ${scopes.map(({ mode }) => mode)}::text[])
      ) and status <> 'archived'
      order by webhook_id for share
    ), inserted as (
      insert into webhook_deliveries (day, event_id, webhook_id, event_type, sequence, next_attempt_at, held_in, created_at)
      select e.day, e.event_id, w.webhook_id, e.type, e.sequence,
        case when w.status = 'disabled' then 'infinity' else ${now}::timestamptz end,
        case when w.status = 'disabled' then w.times_disabled end,
        ${now}::timestamptz
      from unnest(
        ${columnOf(({ day }) => day)}::date[], ${columnOf(({ event_id }) => event_id)}::text[],
        ${columnOf(({ org_id }) => org_id)}::text[], ${columnOf(({ mode }) => mode)}::text[],
        ${columnOf(({ type }) => type)}::text[], ${columnOf(({ sequence }) => sequence)}::bigint[]
      ) as e (day, event_id, org_id, mode, type, sequence)
      join webhook w on w.org_id = e.org_id and w.mode = e.mode
      where ${events.some(isTestEvent) ? recipientCondition(events.filter(isTestEvent)) : SUBSCRIPTION_CONDITION}
      order by e.sequence
      returning webhook_id
    )
    select distinct webhook_id from inserted`.execute(tx)
  return rows.map(({ webhook_id }) => ({ channel: DELIVERIES_DUE, payload: webhook_id }))
}

function isTestEvent({ type }: SequencedEvent) {
  return type === 'webhook.test'
}

const SUBSCRIPTION_CONDITION = sql`(w.event_types is null or e.type = any (w.event_types))`

/** Returns the condition for webhooks that receive an event. A test event is sent only to the webhook named in its data. */
function recipientCondition(testEvents: SequencedEvent[]) {
  return sql`case when e.type = 'webhook.test'
    then w.webhook_id = (
      select tested.data::jsonb ->> 'webhook_id' from events tested
      where tested.event_id = e.event_id and tested.day = any (${daysOf(testEvents)}::date[])
    )
    else ${SUBSCRIPTION_CONDITION}
  end`
}

/** Returns the number of attempts and the last error of each event, over all webhooks. Events without deliveries have no entry. */
export async function deliveryStates(
  queries: Queries,
  refs: EventRef[],
): Promise<Map<string, { attempts: number; last_error: string | null }>> {
  if (refs.length === 0) return new Map()
  const { rows } = await sql<{ event_id: string; attempts: number; last_error: string | null }>`
    select event_id, sum(attempts)::int as attempts,
      (array_agg(last_error order by log -> -1 ->> 'attempted_at' desc) filter (where last_error is not null))[1] as last_error
    from webhook_deliveries d where ${whereEvents('d', refs)} group by event_id`.execute(queries)
  return new Map(rows.map(({ event_id, attempts, last_error }) => [event_id, { attempts, last_error }]))
}

/** Returns the organisation's events up to a sequence that have pending deliveries. */
export async function findEventsWithPendingDeliveries(
  tx: Tx,
  { orgId, mode }: OrgScope,
  upTo: number,
): Promise<EventRef[]> {
  const { rows } = await sql<EventRef>`
    select distinct to_char(d.day, 'YYYY-MM-DD') as day, d.event_id from webhook_deliveries d join webhooks w using (webhook_id)
    where w.org_id = ${orgId} and w.mode = ${mode} and d.status = 'pending' and d.sequence <= ${upTo}`.execute(tx)
  return rows
}

/** Ends the pending deliveries of events that were acknowledged by pull. The caller holds locks on the events. */
export async function endDeliveries(tx: Tx, refs: EventRef[]): Promise<void> {
  if (refs.length === 0) return
  await sql`update webhook_deliveries d set status = 'failed', ended = 'pulled'
    where ${whereEvents('d', refs)} and d.status || '' = 'pending'`.execute(tx) // an expression, so that only the index of the IDs is read
}

/**
 * Acknowledges the events that have been delivered to all their webhooks. Webhooks that are disabled, or whose last attempts have
 * failed, do not count: their deliveries continue, but a dead endpoint does not keep events unacknowledged. The caller holds locks on the events (`lockEvents`):
 * two transactions that each finish one of the last two deliveries would otherwise both see the other one as pending.
 */
export async function acknowledgeDelivered(tx: Tx, refs: EventRef[], now: number): Promise<void> {
  if (refs.length === 0) return
  // Two lookups by key: PostgreSQL sometimes plans a single statement with a join as a scan of the whole day.
  const { rows } = await sql<{ event_id: string; webhook_id: string; delivered: boolean; withdrawn: boolean }>`
    select event_id, webhook_id, status = 'delivered' as delivered, ended is not distinct from 'withdrawn' as withdrawn
    from webhook_deliveries d where ${whereEvents('d', refs)}`.execute(tx)
  const pendingRows = rows.filter(({ delivered, withdrawn }) => !delivered && !withdrawn)
  const deadIds = await findDeadWebhooks(tx, [...new Set(pendingRows.map(({ webhook_id }) => webhook_id))])
  const undeliveredRows = pendingRows.filter(({ webhook_id }) => !deadIds.has(webhook_id))
  const undeliveredIds = new Set(undeliveredRows.map(({ event_id }) => event_id))
  const deliveredIds = new Set(rows.filter(({ delivered }) => delivered).map(({ event_id }) => event_id))
  const acknowledgedRefs = refs.filter(({ event_id }) => deliveredIds.has(event_id) && !undeliveredIds.has(event_id))
  if (acknowledgedRefs.length === 0) return
  await sql`update events e set acknowledged_at = ${new Date(now)}, acknowledged_by = 'webhook'
    where ${whereEvents('e', acknowledgedRefs)} and ${isUnacknowledged(sql`e.acknowledged_at`)}`.execute(tx)
}

/** Returns those of the webhooks that are disabled, or have only failed since their last success. */
async function findDeadWebhooks(tx: Tx, webhookIds: string[]): Promise<Set<string>> {
  if (webhookIds.length === 0) return new Set()
  const { rows } = await sql<{ webhook_id: string }>`
    select webhook_id from webhooks
    where webhook_id = any (${webhookIds}::text[]) and (status = 'disabled' or failing_since is not null)`.execute(tx)
  return new Set(rows.map(({ webhook_id }) => webhook_id))
}

/** Locks events in a fixed order. All code that ends deliveries calls this first, which prevents deadlocks. */
export async function lockEvents(tx: Tx, refs: EventRef[]): Promise<void> {
  await sql`select 1 from events e where ${whereEvents('e', refs)} order by event_id for no key update`.execute(tx)
}

/**
 * Returns a condition for the rows of these events. Days and IDs are two separate lists, so that PostgreSQL plans only for the
 * partitions of these days, and looks the IDs up instead of joining them with a whole partition.
 */
export function whereEvents(table: 'd' | 'e', refs: EventRef[]) {
  const day = sql.ref(`${table}.day`)
  const id = sql.ref(`${table}.event_id`)
  return sql`${day} = any (${daysOf(refs)}::date[]) and ${id} = any (${refs.map(({ event_id }) => event_id)}::text[])`
}

function daysOf(refs: EventRef[]): string[] {
  return [...new Set(refs.map(({ day }) => day))]
}

export interface DeliveryRow {
  event_id: string
  event_type: string
  sequence: number
  status: DeliveryStatus
  log: DeliveryAttempt[]
  next_attempt_at: Date | null
  created_at: Date
}

/** Returns the deliveries of the retention period, newest event first. */
export async function listDeliveries(
  queries: Queries,
  { webhook_id, status: webhookStatus }: Webhook,
  now: number,
  { status, after, limit }: { status?: DeliveryStatus | undefined; after?: number | undefined; limit: number },
): Promise<DeliveryRow[]> {
  const isActive = webhookStatus === 'enabled' || webhookStatus === 'failing'
  const { rows } = await sql<DeliveryRow>`
    select event_id, event_type, sequence, status, log, created_at,
      case when ${isActive}::boolean and status = 'pending' and isfinite(next_attempt_at) then next_attempt_at end as next_attempt_at
    from webhook_deliveries
    where webhook_id = ${webhook_id} and created_at > ${new Date(now - RETENTION_DAYS * DAY)}
      ${after === undefined ? sql`` : sql`and sequence < ${after}`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
    order by sequence desc limit ${limit}`.execute(queries)
  return rows
}

/** Returns the delivery of an event to a webhook. */
export async function findDelivery(
  queries: Queries,
  webhookId: string,
  event: EventRef,
): Promise<Pick<DeliveryRow, 'status' | 'log'> | undefined> {
  const { rows } = await sql<Pick<DeliveryRow, 'status' | 'log'>>`
    select status, log from webhook_deliveries d where ${whereEvents('d', [event])} and webhook_id = ${webhookId}`.execute(
    queries,
  )
  return rows[0]
}

export interface EventDelivery {
  webhook_id: string
  url: string
  status: DeliveryStatus
  attempts: number
}

/** Returns the deliveries of an event, those to the oldest endpoint first. */
export async function listDeliveriesOfEvent(queries: Queries, event: EventRef): Promise<EventDelivery[]> {
  const { rows } = await sql<EventDelivery>`
    select webhook_id, w.url, d.status, d.attempts from webhook_deliveries d join webhooks w using (webhook_id)
    where ${whereEvents('d', [event])} order by webhook_id`.execute(queries)
  return rows
}

const BASE32_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Derives the delivery's ID from the event and the webhook, so that it need not be stored. It consists of the event's time and a
 * hash.
 */
export function deliveryId(eventId: string, webhookId: string): string {
  const digest = createHash('sha256').update(`${eventId} ${webhookId}`).digest()
  const suffix = Array.from(digest.subarray(0, 16), (byte) => BASE32_ALPHABET[byte & 31]).join('')
  return `WD_${eventId.slice(3, 13)}${suffix}`
}
