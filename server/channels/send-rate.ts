import { sql } from 'kysely'
import { SECOND } from '../platform/clock.ts'
import type { Queries, Tx } from '../platform/database/database.ts'
import type { ChannelName } from './channel.ts'

/** Default send rate per organisation and channel, in messages per second; the organisation's own setting takes precedence. */
const defaultRates: Record<ChannelName, number> = { whatsapp: 80, sms: 10, voice: 1, email: 10 }

/** A slot that is not used within this time after its start, for example overnight, expires. */
const SLOT_VALID_MS = 10 * SECOND

export interface Sender {
  org_id: string
  channel: ChannelName
}

/** Whether a message may be sent in the slot that was reserved for it earlier. The slots in a pause of the sender are not used. */
export function isSlotValid(slotAt: Date | null, pausedUntil: Date | undefined, now: number): boolean {
  if (slotAt === null || (pausedUntil && slotAt < pausedUntil)) return false
  return slotAt.getTime() <= now && slotAt.getTime() + SLOT_VALID_MS > now
}

/**
 * Reserves consecutive slots for messages and returns their times, of which the first may be in the past. The next free time is stored in the
 * database, so that all workers together stay within the rate. After an idle period, a burst of one second's worth of messages is allowed.
 */
export async function reserveSlots(
  tx: Tx,
  { org_id, channel }: Sender,
  count: number,
  perSecond: number | undefined,
  now: number,
): Promise<number[]> {
  const messagesPerSecond = perSecond ?? defaultRates[channel]
  const intervalMs = SECOND / messagesPerSecond
  const earliest = new Date(Math.floor(now - (Math.ceil(messagesPerSecond) - 1) * intervalMs))
  const length = sql`make_interval(secs => ${(count * intervalMs) / SECOND})`
  const { rows } = await sql<{ next_free_ms: number }>`
    insert into send_rates as r (org_id, channel, next_free_at)
    values (${org_id}, ${channel}, ${earliest}::timestamptz + ${length})
    on conflict (org_id, channel) do update set next_free_at = greatest(r.next_free_at, r.paused_until, ${earliest}::timestamptz) + ${length}
    returning (extract(epoch from next_free_at) * 1000)::float as next_free_ms`.execute(tx)
  const start = rows[0]!.next_free_ms - count * intervalMs
  return Array.from({ length: count }, (_, index) => Math.ceil(start + index * intervalMs))
}

/**
 * Makes the slots after the next one available again if no queued message has one of them any more, for example because its campaign was
 * archived. The row is locked first, so that slots that another worker is reserving are seen.
 */
export async function releaseUnusedSlots(
  tx: Tx,
  { org_id, channel }: Sender,
  perSecond: number | undefined,
  now: number,
): Promise<void> {
  const nextSlot = new Date(Math.ceil(now + SECOND / (perSecond ?? defaultRates[channel])))
  const { rows } = await sql<{ next_free_at: Date; paused_until: Date | null }>`
    select next_free_at, paused_until from send_rates where org_id = ${org_id} and channel = ${channel} for update`.execute(
    tx,
  )
  const [rate] = rows
  if (!rate || rate.next_free_at <= nextSlot) return
  const usedFrom = new Date(Math.max(now, rate.paused_until?.getTime() ?? 0))
  const { rows: reserved } = await sql`
    (select from messages where org_id = ${org_id} and channel = ${channel} and state = 'queued' and due_at >= ${usedFrom}
      and slot_at >= ${usedFrom} limit 1)
    union all
    (select from review_messages where org_id = ${org_id} and channel = ${channel} and state = 'queued' and due_at >= ${usedFrom}
      and slot_at >= ${usedFrom} limit 1)`.execute(tx)
  if (reserved.length > 0) return
  await sql`update send_rates set next_free_at = ${nextSlot} where org_id = ${org_id} and channel = ${channel}`.execute(
    tx,
  )
}

/** Pauses a sender in all workers: first messages and follow-ups are sent after `time`. Does not end a longer pause. */
export async function pauseUntil(queries: Queries, { org_id, channel }: Sender, time: number): Promise<void> {
  await sql`insert into send_rates as r (org_id, channel, next_free_at, paused_until)
    values (${org_id}, ${channel}, ${new Date(time)}, ${new Date(time)})
    on conflict (org_id, channel) do update set paused_until = greatest(r.paused_until, excluded.paused_until)`.execute(
    queries,
  )
}

/** Returns until when the senders of organisations are or were paused, by organisation and channel. */
export async function listPauses(queries: Queries, orgIds: string[]): Promise<Map<string, Date>> {
  const { rows } = await sql<Sender & { paused_until: Date }>`
    select org_id, channel, paused_until from send_rates
    where org_id = any (${orgIds}) and paused_until is not null`.execute(queries)
  return new Map(rows.map(({ org_id, channel, paused_until }) => [`${org_id} ${channel}`, paused_until]))
}
