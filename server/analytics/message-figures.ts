import { sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { MessageChange, MessageEvent } from '../campaigns/contact/message-changes.ts'
import type { SentMessageKind } from '../campaigns/contact/message-kind.ts'
import type { ChannelName } from '../channels/channel.ts'
import { loadMessageErrors } from '../channels/failure-reasons.ts'
import { type Database, notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { aggregateShards } from './aggregation.ts'
import type { Period } from './period.ts'
import { COUNTS_ADDED_TOPIC } from './rollups.ts'

/** Stores the events of LIVE messages. */
export async function addMessageChanges(tx: Tx, changes: MessageChange[]): Promise<void> {
  await sql`insert into message_changes (org_id, mode, campaign_id, day, channel, kind, template_id, event, reason)
    select org_id, 'live', campaign_id, day, channel, kind, template_id, event, reason
    from unnest(${changes.map(({ orgId }) => orgId)}::text[], ${changes.map(({ campaignId }) => campaignId)}::text[],
      ${changes.map(({ day }) => day)}::date[], ${changes.map(({ channel }) => channel)}::text[], ${changes.map(({ kind }) => kind)}::text[],
      ${changes.map(({ templateId }) => templateId)}::text[], ${changes.map(({ event }) => event)}::text[],
      ${changes.map(({ reason }) => reason)}::text[])
      as n (org_id, campaign_id, day, channel, kind, template_id, event, reason)`.execute(tx)
  notifyAfterCommit(tx, COUNTS_ADDED_TOPIC)
}

/** Moves up to `limit` committed changes of each shard into the totals and returns their number. */
export function aggregateMessages(db: Database, limit: number): Promise<number> {
  return aggregateShards(db, { table: 'message_changes', lock: 'message aggregation', aggregate }, limit)
}

async function aggregate(tx: Tx, shard: number, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with removed as (
      delete from message_changes where change_id in (
        select change_id from message_changes where shard = ${shard} order by change_id limit ${limit})
      returning *
    ), added as (
      insert into message_totals as t (org_id, mode, subject, day, channel, kind, template_id, event, reason, amount)
      select org_id, mode, subject, day, channel, kind, template_id, event, reason, count(*)
      from removed cross join lateral (values (''), (campaign_id)) as s (subject)
      group by org_id, mode, subject, day, channel, kind, template_id, event, reason
      on conflict (org_id, mode, subject, day, channel, kind, template_id, event, reason) do update set amount = t.amount + excluded.amount
    )
    select count(*) as count from removed`.execute(tx)
  return rows[0]!.count
}

interface MessageRow {
  channel: ChannelName
  kind: SentMessageKind
  template_id: string
  event: MessageEvent
  reason: string
  amount: number
}

/** Reads the totals and the changes that are not aggregated yet in one statement, so that each is counted once. */
export async function readMessageFigures(
  queries: Queries,
  { orgId, mode }: OrgScope,
  campaignId: string | undefined,
  { from, to }: Period,
): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`
    select channel, kind, template_id, event, reason, sum(amount)::int as amount from (
      select channel, kind, template_id, event, reason, amount from message_totals
      where org_id = ${orgId} and mode = ${mode} and subject = ${campaignId ?? ''} and day between ${from}::date and ${to}::date
      union all
      select channel, kind, template_id, event, reason, 1 from message_changes
      where org_id = ${orgId} and mode = ${mode} and (${campaignId ?? null}::text is null or campaign_id = ${campaignId ?? null})
        and day between ${from}::date and ${to}::date
    ) as counted
    group by channel, kind, template_id, event, reason
    order by channel, kind, template_id, event, reason`.execute(queries)
  return rows
}

/** Builds the message figures: one entry for each channel, kind and template, and the failures by reason with their remedy. */
export function buildMessageFigures(rows: MessageRow[]) {
  const { reasons } = loadMessageErrors()
  const reasonOf = (name: string) => reasons[name] ?? reasons.other!
  const groups = Map.groupBy(rows, ({ channel, kind, template_id }) => JSON.stringify([channel, kind, template_id]))
  const messages = [...groups.values()].map((group) => {
    const { channel, kind, template_id } = group[0]!
    const countOf = (event: MessageEvent) => sum(group.filter((row) => row.event === event))
    return {
      channel,
      kind,
      template_id: template_id === '' ? null : template_id,
      sent: countOf('sent'),
      delivered: countOf('delivered'),
      read: countOf('read'),
      failed: countOf('failed'),
      unknown: countOf('unknown'),
      blocked_by_operator: sum(
        group.filter(({ event, reason }) => event === 'failed' && reasonOf(reason).blocked_by_operator),
      ),
    }
  })
  const failuresByReason = Map.groupBy(
    rows.filter(({ event }) => event === 'failed'),
    ({ channel, reason }) => JSON.stringify([channel, reason]),
  )
  const failures = [...failuresByReason.values()]
    .map((group) => {
      const { channel, reason } = group[0]!
      return { channel, reason, count: sum(group), ...reasonOf(reason) }
    })
    .sort((a, b) => b.count - a.count)
  return { messages, failures }
}

function sum(rows: { amount: number }[]): number {
  return rows.reduce((total, { amount }) => total + amount, 0)
}
