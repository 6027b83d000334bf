/**
 * Measures three things for a workflow with 10,000 to a million candidates: the analytics overview over HTTP, compared with
 * counting the same candidates in SQL; how fast changes of the counters are aggregated; and the lists of the candidates behind
 * the counts. Lists are read campaign by campaign; with only 100 candidates per campaign, they are at their slowest.
 */
import { sql } from 'kysely'
import type { AttestryClient } from '../sdk/index.ts'
import { counters } from '../server/analytics/counters.ts'
import { aggregateChanges } from '../server/analytics/rollups.ts'
import type { Context } from '../server/context.ts'
import { startConversation } from '../server/conversation/conversation.ts'
import { DAY } from '../server/platform/clock.ts'
import { indianDate } from '../server/platform/india-time.ts'
import { type BenchApp, type CampaignBenchPartner, createCampaignPartner, startBenchApp } from './support/app.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  percentile,
  runFromCommandLine,
} from './support/benchmark.ts'
import { insertCandidates } from './support/candidates.ts'

const CANDIDATES_PER_CAMPAIGN = 100
const DAY_COUNT = 366
const PAGE_SIZE = 100
const AGGREGATION_BATCH_SIZE = 10_000

interface Sizes {
  candidateCounts: number[]
  overviewCalls: number
  /** Number of pages that are read of each long list. */
  pagesPerList: number
  /** Number of campaigns with a change of every counter on every day. */
  campaignsWithChanges: number
}

const FULL: Sizes = {
  candidateCounts: [10_000, 100_000, 1_000_000],
  overviewCalls: 200,
  pagesPerList: 80,
  campaignsWithChanges: 10,
}
const SHORT: Sizes = { candidateCounts: [10_000], overviewCalls: 10, pagesPerList: 5, campaignsWithChanges: 1 }

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const app = await startBenchApp()
  try {
    const rows: BenchmarkRow[] = []
    for (const candidateCount of sizes.candidateCounts)
      rows.push(...(await measureAnalytics(app, candidateCount, sizes)))
    return rows
  } finally {
    await app.stop()
  }
}

async function measureAnalytics(
  app: BenchApp,
  candidateCount: number,
  { overviewCalls, pagesPerList, campaignsWithChanges }: Sizes,
): Promise<BenchmarkRow[]> {
  const { context } = app
  const { db, clock } = context
  const partner = await createCampaignPartner(app, 'test')
  const { orgId, workflowId, client } = partner
  const aggregation = await insertAndAggregate(context, partner, candidateCount, campaignsWithChanges)
  const query = `from=${indianDate(clock.now() - (DAY_COUNT - 1) * DAY)}&to=${indianDate(clock.now())}`
  const path = `/analytics/workflows/${workflowId}/overview?${query}`
  const timesMs: number[] = []
  for (let call = 0; call < overviewCalls; call++) {
    const startedAt = performance.now()
    const { funnel } = await getData<{ funnel: { enrolled: number } }>(client, path)
    timesMs.push(performance.now() - startedAt)
    if (funnel.enrolled !== candidateCount)
      throw new Error(`the overview counts ${funnel.enrolled} of ${candidateCount} candidates`)
  }
  const listRows = await measureLists(client, workflowId, query, candidateCount, pagesPerList)
  const startedAt = performance.now()
  await sql`select p.status, p.created_at::date, count(*) from candidate_progress p join campaigns using (campaign_id)
    where p.org_id = ${orgId} and p.mode = 'test' and workflow_id = ${workflowId} group by 1, 2`.execute(db.queries)
  const sqlMs = performance.now() - startedAt
  const label = `${candidateCount.toLocaleString('en')} candidates`
  return [
    {
      name: `overview of ${label}, median`,
      value: median(timesMs),
      unit: 'ms',
      note: `${DAY_COUNT} days, signed call`,
    },
    {
      name: `overview of ${label}, 99th percentile`,
      value: percentile(timesMs, 0.99),
      unit: 'ms',
      note: 'target: under 20 ms',
      operation: 'Analytics of an organisation',
    },
    {
      name: `statuses of ${label} counted in SQL, by day`,
      value: sqlMs,
      unit: 'ms',
      note: 'one of the seven sections of the overview, without HTTP',
    },
    {
      name: `changes aggregated for ${label}`,
      value: aggregation.rate,
      unit: 'per second',
      note: `${aggregation.changes} changes`,
    },
    ...listRows,
  ]
}

async function getData<T>(client: AttestryClient, path: string): Promise<T> {
  const { status, body } = await client.request('GET', path)
  if (status !== 200) throw new Error(`${path} returned ${status}: ${JSON.stringify(body)}`)
  return (body as { data: T }).data
}

/** The counts whose lists of candidates are read. Of every `oneIn` candidates, one is in the list. */
const LISTED_COUNTS = [
  { counted: 'funnel.enrolled', counter: 'funnel_enrolled', oneIn: 1 },
  { counted: 'funnel.responded', counter: 'funnel_responded', oneIn: 2 },
  { counted: 'drop_offs.language', counter: 'drop_off_language', oneIn: 10_000 },
]

/** Measures the slowest page of each list of candidates behind a count. */
async function measureLists(
  client: AttestryClient,
  workflowId: string,
  query: string,
  candidateCount: number,
  pagesPerList: number,
): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = []
  for (const { counted, oneIn } of LISTED_COUNTS) {
    const listLength = Math.max(1, Math.floor(candidateCount / oneIn))
    const path = `/analytics/candidates?counted=${counted}&workflow_id=${workflowId}&${query}&limit=${PAGE_SIZE}`
    const timesMs: number[] = []
    let cursor = ''
    for (let page = 0; page < (listLength > PAGE_SIZE ? pagesPerList : 2); page++) {
      const startedAt = performance.now()
      const { items, next_cursor } = await getData<{ items: unknown[]; next_cursor: string | null }>(
        client,
        path + cursor,
      )
      timesMs.push(performance.now() - startedAt)
      if (items.length !== Math.min(PAGE_SIZE, listLength))
        throw new Error(`${items.length} candidates on page ${page} of ${counted}`)
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
    }
    rows.push({
      name: `slowest page of ${listLength.toLocaleString('en')} candidates in ${counted}, of ${candidateCount.toLocaleString('en')}`,
      value: Math.max(...timesMs),
      unit: 'ms',
      note: `${timesMs.length} pages of ${PAGE_SIZE}, target: under 50`,
    })
  }
  return rows
}

/** Inserts candidates spread over a year and over campaigns, and a change for every counter on every day. Aggregates the changes. */
async function insertAndAggregate(
  { db, clock }: Context,
  { orgId, workflowId, mandateId }: CampaignBenchPartner,
  candidateCount: number,
  campaignsWithChanges: number,
) {
  const now = new Date(clock.now())
  const conversation = JSON.stringify(startConversation('en', false, 'seed'))
  const campaignCount = Math.ceil(candidateCount / CANDIDATES_PER_CAMPAIGN)
  await sql`insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, created_via, flow_version, starts_at, created_at, updated_at)
    select ${`CP_${orgId.slice(4)}`} || n, ${orgId}, 'test', ${mandateId}, ${workflowId}, 'api', 1, ${now}, ${now}, ${now}
    from generate_series(1, ${campaignCount}::int) as n`.execute(db.queries)
  await sql`insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version,
      conversation, created_at, updated_at)
    select 'CD_' || ${orgId} || n, ${`CP_${orgId.slice(4)}`} || (1 + n % ${campaignCount}::int), ${orgId}, 'test', ${mandateId},
      'RS_' || ${orgId} || n, (array['completed', 'declined', 'failed', 'completed'])[1 + n % 4], 1, ${conversation}::text,
      ${now}::timestamptz - make_interval(days => n % ${DAY_COUNT}::int), ${now}
    from generate_series(1, ${candidateCount}::int) as n`.execute(db.queries)
  const { rows: enrolled } = await sql<{
    candidate_id: string
    campaign_id: string
    result_id: string
    created_at: Date
  }>`
    select candidate_id, campaign_id, result_id, created_at from candidate_progress where org_id = ${orgId}`.execute(
    db.queries,
  )
  const candidates = enrolled.map(({ candidate_id, campaign_id, result_id, created_at }, index) => ({
    candidate_id,
    campaign_id,
    external_candidate_id: result_id,
    name: 'Candidate',
    phone: `+91${9_000_000_000 + index}`,
    enrolled_at: created_at,
  }))
  await insertCandidates(db, { orgId, mode: 'test' }, candidates)
  for (const { counter, oneIn } of LISTED_COUNTS) {
    await sql`insert into analytics_candidates (campaign_id, counter, day, candidate_id, amount)
      select campaign_id, ${counter}, (created_at at time zone 'Asia/Kolkata')::date, candidate_id, 1
      from (select *, row_number() over (order by candidate_id) as n from candidate_progress where org_id = ${orgId}) as p
      where n % ${oneIn}::int = 0`.execute(db.queries)
  }
  await sql`analyze candidate_progress, candidates, campaigns, analytics_candidates`.execute(db.queries)
  await sql`insert into analytics_changes (org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount)
    select ${orgId}, 'test', ${workflowId}, ${mandateId}, ${`CP_${orgId.slice(4)}`} || c,
      (${now}::timestamptz at time zone 'Asia/Kolkata')::date - d, counter, 1
    from generate_series(0, ${DAY_COUNT - 1}::int) as d, generate_series(1, least(${campaignCount}::int, ${campaignsWithChanges}::int)) as c,
      unnest(${[...counters]}::text[]) as counter`.execute(db.queries)
  // Counts the remaining candidates as enrolled, so that the total equals the number of candidates.
  const enrolledCount = DAY_COUNT * Math.min(campaignCount, campaignsWithChanges)
  await sql`insert into analytics_changes (org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount)
    values (${orgId}, 'test', ${workflowId}, ${mandateId}, ${`CP_${orgId.slice(4)}1`},
      (${now}::timestamptz at time zone 'Asia/Kolkata')::date, 'funnel_enrolled', ${candidateCount - enrolledCount})`.execute(
    db.queries,
  )
  const startedAt = performance.now()
  let changeCount = 0
  for (;;) {
    const aggregatedCount = await aggregateChanges(db, AGGREGATION_BATCH_SIZE)
    changeCount += aggregatedCount
    if (aggregatedCount < AGGREGATION_BATCH_SIZE) break
  }
  const rate = changeCount / ((performance.now() - startedAt) / 1000)
  await sql`analyze analytics_totals`.execute(db.queries)
  return { changes: changeCount, rate }
}

if (import.meta.main) await runFromCommandLine('analytics', runBenchmark)
