/**
 * The overview of a workflow with ten thousand, a hundred thousand and a million candidates, as a partner asks for it over HTTP,
 * against counting the same candidates anew; what keeping the counts adds to a change; and pages of the lists behind its numbers, with a
 * hundred candidates a campaign, which is the worst for a list that is read campaign by campaign.
 */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { AttestryClient } from '../sdk/index.ts'
import { setLimits } from '../server/access/key-limits.ts'
import { createPartnerKey } from '../server/access/keys.ts'
import { createOrganisation } from '../server/access/organisations.ts'
import { counters } from '../server/analytics/counters.ts'
import { foldChanges } from '../server/analytics/rollups.ts'
import { buildApp } from '../server/app.ts'
import { readConfig } from '../server/config.ts'
import { type Context, openContext } from '../server/context.ts'
import { DAY } from '../server/platform/clock.ts'
import { createLog } from '../server/platform/log.ts'
import { createWorkflow } from '../server/workflows/workflows.ts'
import { databaseUrl, startCluster } from '../test/runner/cluster.ts'
import { printRows, type Row } from './support/rows.ts'

const SIZES = [10_000, 100_000, 1_000_000]
const IN_CAMPAIGN = 100
const DAYS = 366
const CALLS = 200

export async function run(): Promise<Row[]> {
  const cluster = await startCluster()
  const config = readConfig({
    DATABASE_URL: databaseUrl(cluster.url, 'postgres'),
    ADMIN_API_KEY: 'key-of-the-bench',
    MASTER_KEY: randomBytes(32).toString('base64'),
    PORT: '0',
  })
  const { context, close } = await openContext(config, { log: createLog('error') })
  const app = buildApp(context)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  try {
    const rows: Row[] = []
    for (const size of SIZES) rows.push(...(await measure(context, url, size)))
    return rows
  } finally {
    await app.close()
    await close()
    await cluster.stop()
  }
}

async function measure(context: Context, url: string, size: number): Promise<Row[]> {
  const { db, clock, vault } = context
  const { orgId, workflowId, key } = await db.transaction(async (tx) => {
    const { org_id } = await createOrganisation(tx, 'Bench', clock)
    const scope = { orgId: org_id, mode: 'test' as const }
    const made = await createPartnerKey(tx, vault, clock, { ...scope, scopes: ['analytics:read'] })
    const rates = { rate: 10_000, burst: 10_000, minute: 100_000, day: 1_000_000 }
    for (const bucket of ['key', 'reads'] as const) await setLimits(tx, made.keyId, { bucket, rates })
    const { workflow_id } = await createWorkflow(tx, scope, clock, { name: 'Bench' }, 'api')
    return { orgId: org_id, workflowId: workflow_id, key: made }
  })
  await context.keyring.refresh()
  const added = await fill(context, orgId, workflowId, size)
  const client = new AttestryClient({ baseUrl: url, keyId: key.keyId, secret: key.secret })
  const day = (time: number) => new Date(time + 5.5 * 3_600_000).toISOString().slice(0, 10)
  const query = `from=${day(clock.now() - (DAYS - 1) * DAY)}&to=${day(clock.now())}`
  const path = `/analytics/workflows/${workflowId}/overview?${query}`
  const times: number[] = []
  for (let call = 0; call < CALLS; call++) {
    const started = performance.now()
    const { status, body } = await client.request('GET', path)
    times.push(performance.now() - started)
    const enrolled = (body as { data: { funnel: { enrolled: number } } }).data.funnel.enrolled
    if (status !== 200 || enrolled !== size) throw new Error(`${status}, ${enrolled} of ${size}`)
  }
  times.sort((a, b) => a - b)
  const lists = await measureLists(client, workflowId, query, size)
  const started = performance.now()
  await sql`select p.status, p.created_at::date, count(*) from candidate_progress p join campaigns using (campaign_id)
    where p.org_id = ${orgId} and p.mode = 'test' and workflow_id = ${workflowId} group by 1, 2`.execute(db.queries)
  const anew = performance.now() - started
  const what = `${size.toLocaleString('en')} candidates`
  return [
    { name: `overview of ${what}, median`, value: times[CALLS / 2]!, unit: 'ms', note: `${DAYS} days, signed call` },
    {
      name: `overview of ${what}, 99th percentile`,
      value: times[Math.floor(CALLS * 0.99)]!,
      unit: 'ms',
      note: 'aim: under 50',
    },
    {
      name: `statuses of ${what} counted anew, by day`,
      value: anew,
      unit: 'ms',
      note: 'one of the seven lists, bare SQL',
    },
    {
      name: `changes folded on the way to ${what}`,
      value: added.rate,
      unit: 'a second',
      note: `${added.changes} changes`,
    },
    ...lists,
  ]
}

/** The counters whose lists are read: everybody, every second, one in ten thousand. */
const LISTED = [
  { counted: 'funnel.enrolled', counter: 'funnel_enrolled', every: 1, deep: 40 },
  { counted: 'funnel.responded', counter: 'funnel_responded', every: 2, deep: 40 },
  { counted: 'drop_offs.language', counter: 'drop_off_language', every: 10_000, deep: 1 },
]

/** A page of a hundred, the first ones and deep in the list. */
async function measureLists(client: AttestryClient, workflowId: string, query: string, size: number): Promise<Row[]> {
  const rows: Row[] = []
  for (const { counted, every, deep } of LISTED) {
    const path = `/analytics/candidates?counted=${counted}&workflow_id=${workflowId}&${query}&limit=100`
    const times: number[] = []
    let cursor = ''
    for (let page = 0; page < deep * 2; page++) {
      const started = performance.now()
      const { status, body } = await client.request('GET', path + cursor)
      times.push(performance.now() - started)
      const { items, next_cursor } = (body as { data: { items: unknown[]; next_cursor: string | null } }).data
      if (status !== 200 || items.length !== Math.min(100, Math.max(1, Math.floor(size / every))))
        throw new Error(`${items.length} listed`)
      cursor = next_cursor === null ? '' : `&cursor=${next_cursor}`
    }
    times.sort((a, b) => a - b)
    const name = `a hundred of the ${Math.max(1, Math.floor(size / every)).toLocaleString('en')} in ${counted}, of ${size.toLocaleString('en')}`
    rows.push({
      name: `${name}, at most`,
      value: times.at(-1)!,
      unit: 'ms',
      note: `${times.length} pages, aim: under 50`,
    })
  }
  return rows
}

/** Candidates spread over a year and over campaigns, with every counter that a workflow can have on every day. */
async function fill({ db, clock }: Context, orgId: string, workflowId: string, size: number) {
  const now = new Date(clock.now())
  const campaigns = Math.ceil(size / IN_CAMPAIGN)
  await sql`insert into campaigns (campaign_id, org_id, mode, mandate_id, workflow_id, created_via, flow_version, starts_at, created_at, updated_at)
    select ${`CP_${orgId.slice(4)}`} || n, ${orgId}, 'test', ${`JM_${orgId.slice(4)}`}, ${workflowId}, 'api', 1, ${now}, ${now}, ${now}
    from generate_series(1, ${campaigns}::int) as n`.execute(db.queries)
  await sql`insert into candidate_progress (candidate_id, campaign_id, org_id, mode, mandate_id, result_id, status, flow_version,
      conversation, created_at, updated_at)
    select 'CD_' || ${orgId} || n, ${`CP_${orgId.slice(4)}`} || (1 + n % ${campaigns}::int), ${orgId}, 'test', ${`JM_${orgId.slice(4)}`},
      'RS_' || ${orgId} || n, (array['completed', 'declined', 'failed', 'completed'])[1 + n % 4], 1, '{}',
      ${now}::timestamptz - make_interval(days => n % ${DAYS}::int), ${now}
    from generate_series(1, ${size}::int) as n`.execute(db.queries)
  await sql`insert into candidates (candidate_id, campaign_id, org_id, mode, external_candidate_id, name, metadata, token_hash, token, enrolled_at)
    select candidate_id, campaign_id, org_id, mode, result_id, 'Somebody', '{}', result_id::bytea, '', created_at
    from candidate_progress where org_id = ${orgId}`.execute(db.queries)
  for (const { counter, every } of LISTED) {
    await sql`insert into analytics_candidates (campaign_id, counter, day, candidate_id, amount)
      select campaign_id, ${counter}, (created_at at time zone 'Asia/Kolkata')::date, candidate_id, 1
      from (select *, row_number() over (order by candidate_id) as n from candidate_progress where org_id = ${orgId}) as p
      where n % ${every}::int = 0`.execute(db.queries)
  }
  await sql`analyze candidate_progress, candidates, campaigns, analytics_candidates`.execute(db.queries)
  await sql`insert into analytics_changes (org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount)
    select ${orgId}, 'test', ${workflowId}, ${`JM_${orgId.slice(4)}`}, ${`CP_${orgId.slice(4)}`} || c,
      (${now}::timestamptz at time zone 'Asia/Kolkata')::date - d, counter, 1
    from generate_series(0, ${DAYS - 1}::int) as d, generate_series(1, least(${campaigns}::int, 10)) as c,
      unnest(${[...counters]}::text[]) as counter`.execute(db.queries)
  // The rest of the people, so that the sum is right whatever the size.
  const told = DAYS * Math.min(campaigns, 10)
  await sql`insert into analytics_changes (org_id, mode, workflow_id, mandate_id, campaign_id, day, counter, amount)
    values (${orgId}, 'test', ${workflowId}, ${`JM_${orgId.slice(4)}`}, ${`CP_${orgId.slice(4)}1`},
      (${now}::timestamptz at time zone 'Asia/Kolkata')::date, 'funnel_enrolled', ${size - told})`.execute(db.queries)
  const started = performance.now()
  let changes = 0
  for (;;) {
    const folded = await db.transaction((tx) => foldChanges(tx, 10_000))
    changes += folded
    if (folded < 10_000) break
  }
  const rate = changes / ((performance.now() - started) / 1000)
  await sql`analyze analytics_totals`.execute(db.queries)
  return { changes, rate }
}

if (import.meta.main) {
  printRows('analytics', await run())
  process.exit(0)
}
