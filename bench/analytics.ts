/**
 * Measures the analytics overview of a workflow with 10,000 to a million candidates over HTTP, compared with counting the same
 * candidates in SQL; how fast changes are aggregated; and the lists of candidates behind the counts. With 100 candidates per
 * campaign, lists are at their slowest, since they are read campaign by campaign.
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

const CANDIDATES_PER_CAMPAIGN = 100
const DAYS = 366
const PAGE_SIZE = 100

interface Sizes {
  candidates: number[]
  calls: number
  /** Pages read of each long list. */
  pages: number
  /** Campaigns with a change of every counter on every day. */
  campaignsWithChanges: number
}

const FULL: Sizes = { candidates: [10_000, 100_000, 1_000_000], calls: 200, pages: 80, campaignsWithChanges: 10 }
const SHORT: Sizes = { candidates: [10_000], calls: 10, pages: 5, campaignsWithChanges: 1 }

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const app = await startBenchApp()
  try {
    const rows: BenchmarkRow[] = []
    for (const size of sizes.candidates) rows.push(...(await measure(app, size, sizes)))
    return rows
  } finally {
    await app.stop()
  }
}

async function measure(
  app: BenchApp,
  size: number,
  { calls, pages, campaignsWithChanges }: Sizes,
): Promise<BenchmarkRow[]> {
  const { context } = app
  const { db, clock } = context
  const partner = await createCampaignPartner(app, 'test')
  const { orgId, workflowId, client } = partner
  const aggregated = await fill(context, partner, size, campaignsWithChanges)
  const query = `from=${indianDate(clock.now() - (DAYS - 1) * DAY)}&to=${indianDate(clock.now())}`
  const path = `/analytics/workflows/${workflowId}/overview?${query}`
  const times: number[] = []
  for (let call = 0; call < calls; call++) {
    const startedAt = performance.now()
    const { funnel } = await getData<{ funnel: { enrolled: number } }>(client, path)
    times.push(performance.now() - startedAt)
    if (funnel.enrolled !== size) throw new Error(`the overview counts ${funnel.enrolled} of ${size} candidates`)
  }
  const lists = await measureLists(client, workflowId, query, size, pages)
  const startedAt = performance.now()
  await sql`select p.status, p.created_at::date, count(*) from candidate_progress p join campaigns using (campaign_id)
    where p.org_id = ${orgId} and p.mode = 'test' and workflow_id = ${workflowId} group by 1, 2`.execute(db.queries)
  const countedInSql = performance.now() - startedAt
  const label = `${size.toLocaleString('en')} candidates`
  return [
    { name: `overview of ${label}, median`, value: median(times), unit: 'ms', note: `${DAYS} days, signed call` },
    {
      name: `overview of ${label}, 99th percentile`,
      value: percentile(times, 0.99),
      unit: 'ms',
      note: 'target: under 50',
    },
    {
      name: `statuses of ${label} counted in SQL, by day`,
      value: countedInSql,
      unit: 'ms',
      note: 'one of the seven lists, without HTTP',
    },
    {
      name: `changes aggregated for ${label}`,
      value: aggregated.rate,
      unit: 'per second',
      note: `${aggregated.changes} changes`,
    },
    ...lists,
  ]
}

async function getData<T>(client: AttestryClient, path: string): Promise<T> {
  const { status, body } = await client.request('GET', path)
  if (status !== 200) throw new Error(`${path} returned ${status}: ${JSON.stringify(body)}`)
  return (body as { data: T }).data
}

/** The counts whose lists are read, with the share of candidates in them. */
const LISTED = [
  { counted: 'funnel.enrolled', counter: 'funnel_enrolled', oneIn: 1 },
  { counted: 'funnel.responded', counter: 'funnel_responded', oneIn: 2 },
  { counted: 'drop_offs.language', counter: 'drop_off_language', oneIn: 10_000 },
]

/** Measures the slowest page of each list. */
async function measureLists(
  client: AttestryClient,
  workflowId: string,
  query: string,
  size: number,
  pages: number,
): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = []
  for (const { counted, oneIn } of LISTED) {
    const listed = Math.max(1, Math.floor(size / oneIn))
    const path = `/analytics/candidates?counted=${counted}&workflow_id=${workflowId}&${query}&limit=${PAGE_SIZE}`
    const times: number[] = []
    let cursor = ''
    for (let page = 0; page < (listed > PAGE_SIZE ? pages : 2); page++) {
      const startedAt = performance.now()
      const { items, next_cursor } = await getData<{ items: unknown[]; next_cursor: string | null }>(
        client,
        path + cursor,
      )
      times.push(performance.now() - startedAt)
      if (items.length !== Math.min(PAGE_SIZE, listed))
        throw new Error(`${items.length} candidates on page ${page} of ${counted}`)
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
    }
    rows.push({
      name: `page of the ${listed.toLocaleString('en')} in ${counted}, of ${size.toLocaleString('en')}, slowest`,
      value: Math.max(...times),
      unit: 'ms',
      note: `${times.length} pages of ${PAGE_SIZE}, target: under 50`,
    })
  }
  return rows
}

/** Inserts candidates spread over a year and over campaigns, and changes for every counter on every day. */
async function fill(
  { db, clock }: Context,
  { orgId, workflowId, mandateId }: CampaignBenchPartner,
  size: number,
  campaignsWithChanges: number,
) {
  const now = new Date(clock.now())
  const conversation = JSON.stringify(startConversation('en', false))
  const campaigns = Math.ceil(size / CANDIDATES_PER_CAMPAIGN)
  await sql`insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, created_via, flow_version, starts_at, created_at, updated_at)
    select ${`CP_${orgId.slice(4)}`} || n, ${orgId}, 'test', ${mandateId}, ${workflowId}, 'api', 1, ${now}, ${now}, ${now}
    from generate_series(1, ${campaigns}::int) as n`.execute(db.queries)
  await sql`insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version,
      conversation, created_at, updated_at)
    select 'CD_' || ${orgId} || n, ${`CP_${orgId.slice(4)}`} || (1 + n % ${campaigns}::int), ${orgId}, 'test', ${mandateId},
      'RS_' || ${orgId} || n, (array['completed', 'declined', 'failed', 'completed'])[1 + n % 4], 1, ${conversation}::text,
      ${now}::timestamptz - make_interval(days => n % ${DAYS}::int), ${now}
    from generate_series(1, ${size}::int) as n`.execute(db.queries)
  await sql`insert into candidates (candidate_id, campaign_id, org_id, mode, external_candidate_id, name, metadata, token_hash, token, enrolled_at)
    select candidate_id, campaign_id, org_id, mode, result_id, 'Candidate', '{}', result_id::bytea, '', created_at
    from candidate_progress where org_id = ${orgId}`.execute(db.queries)
  for (const { counter, oneIn } of LISTED) {
    await sql`insert into analytics_candidates (campaign_id, counter, day, candidate_id, amount)
      select campaign_id, ${counter}, (created_at at time zone 'Asia/Kolkata')::date, candidate_id, 1
      from (select *, row_number() over (order by candidate_id) as n from candidate_progress where org_id = ${orgId}) as p
      where n % ${oneIn}::int = 0`.execute(db.queries)
  }
  await sql`analyze candidate_progress, candidates, campaigns, analytics_candidates`.execute(db.queries)
  await sql`insert into analytics_changes (org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount)
    select ${orgId}, 'test', ${workflowId}, ${mandateId}, ${`CP_${orgId.slice(4)}`} || c,
      (${now}::timestamptz at time zone 'Asia/Kolkata')::date - d, counter, 1
    from generate_series(0, ${DAYS - 1}::int) as d, generate_series(1, least(${campaigns}::int, ${campaignsWithChanges}::int)) as c,
      unnest(${[...counters]}::text[]) as counter`.execute(db.queries)
  // The remaining candidates, so that the sum is correct for every size.
  const counted = DAYS * Math.min(campaigns, campaignsWithChanges)
  await sql`insert into analytics_changes (org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount)
    values (${orgId}, 'test', ${workflowId}, ${mandateId}, ${`CP_${orgId.slice(4)}1`},
      (${now}::timestamptz at time zone 'Asia/Kolkata')::date, 'funnel_enrolled', ${size - counted})`.execute(
    db.queries,
  )
  const startedAt = performance.now()
  let changes = 0
  for (;;) {
    const aggregated = await db.transaction((tx) => aggregateChanges(tx, 10_000))
    changes += aggregated
    if (aggregated < 10_000) break
  }
  const rate = changes / ((performance.now() - startedAt) / 1000)
  await sql`analyze analytics_totals`.execute(db.queries)
  return { changes, rate }
}

if (import.meta.main) await runFromCommandLine('analytics', run)
