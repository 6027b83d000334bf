import { type RawBuilder, sql } from 'kysely'
import type { OrgScope } from '../access/caller.ts'
import type { CandidateChange } from '../campaigns/progress.ts'
import { type Database, notifyAfterCommit, type Queries, type Tx } from '../platform/database/database.ts'
import { aggregateShards } from './aggregation.ts'
import { type Count, counters, countsOf, dailyCounters } from './counters.ts'

/** Notification topic, published when there are changes to aggregate. */
export const COUNTS_ADDED_TOPIC = 'analytics counted'

interface CandidateCount extends Count {
  change: CandidateChange
}

/** Stores counts twice: summed for the figures, and per candidate for the lists of counted candidates. */
export async function addCounts(tx: Tx, changes: CandidateChange[]): Promise<void> {
  const counts = changes.flatMap((change) => countsOf(change).map((count): CandidateCount => ({ ...count, change })))
  const campaignCounts = sumCountsBy(counts, ({ campaignId }) => campaignId)
  const candidateCounts = sumCountsBy(counts, ({ candidateId }) => candidateId)
  if (candidateCounts.length === 0) return
  // New candidates have no counts to add to.
  const addToCounts = changes.every(({ enrolled }) => enrolled)
    ? sql``
    : sql`on conflict (counter, campaign_id, day, candidate_id) do update set amount = c.amount + excluded.amount`
  await sql`
    with listed as (
      insert into analytics_candidates as c (campaign_id, counter, day, candidate_id, amount)
      select * from unnest(${candidateCounts.map(({ change }) => change.campaignId)}::text[], ${candidateCounts.map(({ counter }) => counter)}::text[],
        ${candidateCounts.map(({ day }) => day)}::date[], ${candidateCounts.map(({ change }) => change.candidateId)}::text[],
        ${candidateCounts.map(({ amount }) => amount)}::int[])
      ${addToCounts}
    )
    insert into analytics_changes (org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount)
    select * from unnest(${campaignCounts.map(({ change }) => change.orgId)}::text[], ${campaignCounts.map(({ change }) => change.mode)}::text[],
      ${campaignCounts.map(({ change }) => change.workflowId)}::text[], ${campaignCounts.map(({ change }) => change.mandateId)}::text[],
      ${campaignCounts.map(({ change }) => change.campaignId)}::text[], ${campaignCounts.map(({ day }) => day)}::date[],
      ${campaignCounts.map(({ counter }) => counter)}::text[], ${campaignCounts.map(({ amount }) => amount)}::int[])`.execute(
    tx,
  )
  notifyAfterCommit(tx, COUNTS_ADDED_TOPIC)
}

/** Sums the counts with the same ID, day and counter. */
function sumCountsBy(counts: CandidateCount[], idOf: (change: CandidateChange) => string): CandidateCount[] {
  const sums = new Map<string, CandidateCount>()
  for (const count of counts) {
    const key = `${idOf(count.change)} ${count.day} ${count.counter}`
    const sum = sums.get(key)
    if (sum) sum.amount += count.amount
    else sums.set(key, { ...count })
  }
  return [...sums.values()].filter(({ amount }) => amount !== 0)
}

const counterColumns = sql.join(
  counters.map((name) => sql.ref(name)),
  sql`, `,
)

/** Moves up to `limit` committed changes of each shard into the totals and returns their number. */
export function aggregateChanges(db: Database, limit: number): Promise<number> {
  return aggregateShards(db, { table: 'analytics_changes', lock: 'analytics aggregation', aggregate }, limit)
}

async function aggregate(tx: Tx, shard: number, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with removed as (
      delete from analytics_changes where change_id in (
        select change_id from analytics_changes where shard = ${shard} order by change_id limit ${limit})
      returning org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount
    ), summed as (
      select org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, sum(amount) as amount
      from removed group by org_id, mode, workflow_id, mandate_id, campaign_id, day, counter
    ), added as (
      insert into analytics_totals as t (org_id, mode, subject, day, ${counterColumns})
      select org_id, mode, subject, day, ${forEachCounter((name) => sql`coalesce(sum(amount) filter (where counter = ${sql.lit(name)}), 0)`)}
      from summed cross join lateral (values (''), (workflow_id), (mandate_id), (campaign_id)) as s (subject)
      group by org_id, mode, subject, day
      on conflict (org_id, mode, subject, day) do update
      set ${forEachCounter((name) => sql`${sql.ref(name)} = t.${sql.ref(name)} + excluded.${sql.ref(name)}`)}
    )
    select count(*) as count from removed`.execute(tx)
  return rows[0]!.count
}

/** The object that figures are about: the whole organisation, a workflow, a mandate or a campaign. */
export interface AnalyticsSubject {
  kind: 'all' | 'workflow' | 'mandate' | 'campaign'
  id: string
}

export const subjectColumn = { workflow: 'workflow_id', mandate: 'mandate_id', campaign: 'campaign_id' } as const

/** Sum of a counter over all days of a period (`day` is null) or on one day. */
export interface CountRow {
  counter: string
  day: string | null
  amount: number
}

/** Reads the totals and the changes that are not aggregated yet in one statement, so that each change is counted exactly once. */
export async function readCounts(
  tx: Queries,
  { orgId, mode }: OrgScope,
  { kind, id }: AnalyticsSubject,
  { from, to }: { from: string; to: string },
): Promise<CountRow[]> {
  const subjectCondition = kind === 'all' ? sql`true` : sql`${sql.ref(subjectColumn[kind])} = ${id}`
  const { rows } = await sql<CountRow>`
    with totals as not materialized (
      select * from analytics_totals
      where org_id = ${orgId} and mode = ${mode} and subject = ${id} and day between ${from}::date and ${to}::date
    ), changes as materialized (
      select counter, day, sum(amount) as amount from analytics_changes
      where org_id = ${orgId} and mode = ${mode} and ${subjectCondition} and day between ${from}::date and ${to}::date
      group by counter, day
    )
    select u.counter, null as day, u.amount
    from (select ${forEachCounter((name) => sql`sum(${sql.ref(name)}) as ${sql.ref(name)}`)} from totals) as s
      cross join lateral (values ${nameValuePairs(counters)}) as u (counter, amount)
    where u.amount <> 0
    union all
    select u.counter, day::text, u.amount from totals cross join lateral (values ${nameValuePairs(dailyCounters)}) as u (counter, amount)
    where u.amount <> 0
    union all
    select counter, null, sum(amount)::bigint from changes group by counter
    union all
    select counter, day::text, amount from changes where counter = any (${dailyCounters})`.execute(tx)
  return rows
}

function forEachCounter(toSql: (counter: string) => RawBuilder<unknown>) {
  return sql.join(counters.map(toSql), sql`, `)
}

/** Returns pairs of a counter name and its column, which turn columns into rows. */
function nameValuePairs(names: readonly string[]) {
  return sql.join(
    names.map((name) => sql`(${sql.lit(name)}, ${sql.ref(name)})`),
    sql`, `,
  )
}
