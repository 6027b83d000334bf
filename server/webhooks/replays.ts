import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import { invalid } from '../api/invalid.ts'
import { dayOf, RETENTION_DAYS } from '../events/partitions.ts'
import { findEvents } from '../events/reading.ts'
import { type Clock, DAY } from '../platform/clock.ts'
import type { Tx } from '../platform/database/database.ts'
import { ANY_DAY_PREFIX, DELIVERIES_DUE, whereEvents } from './deliveries.ts'
import { requireActiveWebhook, type Webhook } from './webhooks.ts'

export interface ReplayInput {
  event_ids?: string[]
  from?: string
  to?: string
  only_failed?: boolean
}

/**
 * Queues events for immediate redelivery, whether or not they were delivered before, and returns their number. `event_ids` may
 * name any event of the organisation. `from` and `to` select events of the webhook's types, including those from before it
 * existed; with `only_failed`, only events whose delivery failed.
 */
export async function replayEvents(
  tx: Tx,
  scope: OrgScope,
  clock: Clock,
  webhook: Webhook,
  input: ReplayInput,
): Promise<number> {
  validateInput(input)
  requireActiveWebhook(webhook)
  const now = clock.now()
  const selectedEvents = input.event_ids
    ? await selectByIds(tx, scope, input.event_ids, now)
    : input.only_failed
      ? selectFailed(webhook, input, now)
      : selectByTime(webhook, scope, input, now)
  const { numAffectedRows } = await sql`
    insert into webhook_deliveries (day, event_id, webhook_id, event_type, sequence, next_attempt_at, created_at)
    select e.day, e.event_id, ${webhook.webhook_id}, e.type, e.sequence, ${new Date(now)}, ${new Date(now)}
    from (${selectedEvents}) as e order by e.event_id
    on conflict (day, event_id, webhook_id) do update set
      status = 'pending', ended = null, held_in = null, next_attempt_at = excluded.next_attempt_at,
      failures = 0, round = webhook_deliveries.round + 1`.execute(tx)
  await sql`select pg_notify(${DELIVERIES_DUE}, ${ANY_DAY_PREFIX + webhook.webhook_id})`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

function validateInput({ event_ids, from, to, only_failed }: ReplayInput) {
  const isByTime = from !== undefined || to !== undefined || only_failed === true
  if (event_ids ? isByTime || only_failed !== undefined : !isByTime) {
    throw invalid([
      { path: 'body', message: 'must have either event_ids, or at least one of from, to and only_failed' },
    ])
  }
  const details = Object.entries({ from, to })
    .filter(([, text]) => text !== undefined && Number.isNaN(Date.parse(text)))
    .map(([path]) => ({ path, message: 'must be a date and time such as 2026-03-11T06:30:00.000Z' }))
  if (details.length > 0) throw invalid(details)
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to)) {
    throw invalid([{ path: 'to', message: 'must be after from' }])
  }
}

async function selectByIds(tx: Tx, scope: OrgScope, ids: string[], now: number) {
  const events = await findEvents(tx, scope, now, ids)
  const foundIds = new Set(events.map(({ event_id }) => event_id))
  const details = ids.flatMap((id, index) =>
    foundIds.has(id)
      ? []
      : [
          {
            path: `event_ids[${index}]`,
            message: `is not the ID of an event of this organisation and mode in the last ${RETENTION_DAYS} days`,
          },
        ],
  )
  if (details.length > 0) throw invalid(details)
  return sql`select e.day, e.event_id, e.type, e.sequence from events e where ${whereEvents('e', events)}`
}

function selectByTime({ event_types }: Webhook, { orgId, mode }: OrgScope, { from, to }: ReplayInput, now: number) {
  const types = event_types ? sql`and e.type = any (${event_types}::text[])` : sql`and e.type <> 'webhook.test'`
  return sql`
    select e.day, e.event_id, e.type, e.sequence from events e
    where e.org_id = ${orgId} and e.mode = ${mode} ${types} ${timeCondition(from, to, now)}`
}

function selectFailed({ webhook_id }: Webhook, { from, to }: ReplayInput, now: number) {
  return sql`
    select e.day, e.event_id, e.type, e.sequence
    from webhook_deliveries d join events e on e.day = d.day and e.event_id = d.event_id
    where d.webhook_id = ${webhook_id} and (d.status = 'failed' or (d.status = 'pending' and d.failures > 0))
    ${timeCondition(from, to, now)}`
}

/**
 * Excludes events older than the retention period. The `day` of an event, which selects the partitions, is before `created_at` only
 * if the clock of the process that recorded the event was ahead.
 */
function timeCondition(from: string | undefined, to: string | undefined, now: number) {
  const oldestTime = now - RETENTION_DAYS * DAY + 1
  const startTime = from === undefined ? oldestTime : Math.max(oldestTime, Date.parse(from))
  const startCondition = sql`and e.created_at >= ${new Date(startTime)} and e.day >= ${dayOf(startTime - DAY)}::date`
  return to === undefined ? startCondition : sql`${startCondition} and e.created_at < ${new Date(to)}`
}
