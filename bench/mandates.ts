import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { sql } from 'kysely'
import { sign } from '../sdk/index.ts'
import { type ConnectionSettings, type Database, openDatabase } from '../server/platform/database/database.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/embedded.ts'
import { makeDeployment } from './support/deployment.ts'
import { printRows, type Row } from './support/rows.ts'

const SECONDS = 5
const ROUNDS = 3
const CONNECTIONS = 50
const BASE = '/api/v1/partner'

/** Signed creation of mandates, end to end, against the least that could take one; and what many mandates cost. */
export async function run(): Promise<Row[]> {
  const deployment = makeDeployment()
  const server = await deployment.start()
  const { org_id } = deployment.cli<{ org_id: string }>('org', 'create', '--name', 'Bench')
  const key = deployment.cli<{ key_id: string; secret: string }>('key', 'create', '--org', org_id, '--mode', 'live')
  const raised = ['--per-second', '1000000', '--burst', '1000000', '--per-minute', '100000000']
  for (const name of ['key', 'reads']) deployment.cli('key', 'limits', key.key_id, '--class', name, ...raised)
  deployment.cli('key', 'limits', key.key_id, '--class', 'mandateWrites', ...raised, '--per-day', '100000000')
  const workflow = deployment.cli<{ workflow_id: string }>(
    ...['playground', 'workflow', '--org', org_id, '--mode', 'live', '--data', '{"name":"Bench"}'],
  )
  const body = JSON.stringify(aMandate(workflow.workflow_id))
  const postgres = await startEmbeddedPostgres({ dataDir: deployment.dataDir, role: 'guest', log: () => {} })
  const db = openDatabase({ connection: postgres.connection, name: 'bench', onError: () => {} })
  const peer = fork(new URL('support/mandate-peer.ts', import.meta.url).pathname, [deployment.dataDir, key.secret])
  try {
    const [port] = (await once(peer, 'message')) as [number]
    const call = { key, method: 'POST', target: `${BASE}/mandates`, body } as const
    // The writer has read its bank, statements are prepared, hot code is compiled.
    for (const url of [server.url, `http://127.0.0.1:${port}`]) await measure(url, call)
    const ours: Measured[] = []
    const bare: Measured[] = []
    // In turns, so that whatever else the machine does falls on both alike.
    for (let round = 0; round < ROUNDS; round++) {
      bare.push(await measure(`http://127.0.0.1:${port}`, call))
      ours.push(await measure(server.url, call))
      await everythingPrepared(db)
    }
    const [own, least] = [best(ours), best(bare)]
    const pgbench = runPgbench(postgres.connection, body.length)
    const rows: Row[] = [
      { name: 'POST /mandates, 50 at once, 3 skills to verify', value: own.rate, unit: 'requests/s' },
      { name: 'its 99th percentile', value: own.p99, unit: 'ms' },
      { name: 'Fastify, a signature and one INSERT', value: least.rate, unit: 'requests/s' },
      { name: 'its 99th percentile', value: least.p99, unit: 'ms' },
      { name: 'against it', value: (100 * own.rate) / least.rate, unit: '%', note: 'aim: at least 35' },
    ]
    if (pgbench !== undefined)
      rows.push(
        { name: 'pgbench, one INSERT, 20 connections', value: pgbench, unit: 'transactions/s' },
        { name: 'against it', value: (100 * own.rate) / pgbench, unit: '%' },
      )
    else rows.push({ name: 'pgbench', value: Number.NaN, unit: '', note: 'not to be had on this machine' })
    return [...rows, ...(await growth(db, server.url, key, org_id, body))]
  } finally {
    peer.kill()
    await db.close()
    await postgres.stop()
    await server.stop()
    deployment.remove()
  }
}

function aMandate(workflow_id: string) {
  const skills = ['sk_2001', 'sk_2005', 'sk_2020', 'sk_2002', 'sk_2003', 'sk_1001']
  return {
    workflow_id,
    title: 'Electrician for a residential site',
    company_name: 'Metro Infrastructure Ltd',
    location: { city: 'Pune', state: 'Maharashtra', pincode: '411001' },
    experience: { min_years: 2, max_years: 8 },
    openings: 12,
    salary: { min: 18_000, max: 26_000 },
    description: 'Wiring of flats from the board to the last point, testing and handing over. '.repeat(12),
    shift: 'day',
    employment_type: 'full_time',
    skills: skills.map((skill_id, index) => ({ skill_id, verify: index < 3 })),
    enrichment_questions: [
      { key: 'licence', type: 'yes_no', text: 'Do you hold a wireman licence?', knockout: 'no' },
      { key: 'notice', type: 'voice', text: 'When can you start?' },
    ],
  }
}

interface Call {
  key: { key_id: string; secret: string }
  method: 'GET' | 'POST'
  target: string
  body?: string
}

interface Measured {
  rate: number
  p50: number
  p99: number
}

async function measure(
  url: string,
  { key, method, target, body }: Call,
  duration = SECONDS,
  connections = CONNECTIONS,
): Promise<Measured> {
  const timestamp = Math.floor(Date.now() / 1000)
  const result = await autocannon({
    url: url + target,
    method,
    connections,
    duration,
    ...(body ? { body } : {}),
    headers: {
      'x-api-key': key.key_id,
      'x-timestamp': String(timestamp),
      'x-signature': await sign({ secret: key.secret, timestamp, method, target, body }),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors at ${url + target}`)
  return { rate: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 }
}

function best(measured: Measured[]): Measured {
  return measured.reduce((one, other) => (other.rate > one.rate ? other : one))
}

async function everythingPrepared(db: Database) {
  for (;;) {
    const { rows } = await sql`select 1 from mandates where status = 'preparing' limit 1`.execute(db.queries)
    if (rows.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** List, get and create for an organisation with 1,000 mandates, and with 100,000. One caller at a time: what a call costs. */
async function growth(db: Database, url: string, key: Call['key'], orgId: string, body: string): Promise<Row[]> {
  const rows: Row[] = []
  const before = new Map<string, number>()
  for (const count of [1_000, 100_000]) {
    await fill(db, orgId, count)
    const { rows: found } = await sql<{ id: string; workflow_id: string }>`
      select mandate_id as id, workflow_id from mandates where org_id = ${orgId} order by mandate_id offset 400 limit 1`.execute(
      db.queries,
    )
    const { id, workflow_id } = found[0]!
    for (const [name, method, target] of [
      ['list', 'GET', '/mandates?limit=25'],
      ['list of a workflow by status', 'GET', `/mandates?limit=25&workflow_id=${workflow_id}&status=ready`],
      ['get', 'GET', `/mandates/${id}`],
      ['create', 'POST', '/mandates'],
    ] as const) {
      const call = { key, method, target: BASE + target, ...(method === 'POST' ? { body } : {}) }
      const measured = [await measure(url, call, 2, 1), await measure(url, call, 2, 1)]
      const each = 1000 / best(measured).rate
      const first = before.get(name)
      const note = first === undefined ? undefined : `${(each / first).toFixed(2)} times that of 1,000`
      rows.push({
        name: `${name}, ${count.toLocaleString('en')} mandates`,
        value: each,
        unit: 'ms',
        ...(note ? { note } : {}),
      })
      before.set(name, each)
      await everythingPrepared(db)
    }
  }
  return rows
}

/** Leaves the organisation with about this many mandates, all like one that was prepared. */
async function fill(db: Database, orgId: string, count: number) {
  const { rows } = await sql<{ id: string; there: number }>`
    select max(mandate_id) as id, count(*)::int as there from mandates where org_id = ${orgId} and status = 'ready'`.execute(
    db.queries,
  )
  const { id, there } = rows[0]!
  if (there > count) {
    await sql`delete from mandates where org_id = ${orgId} and mandate_id < (
      select mandate_id from mandates where org_id = ${orgId} order by mandate_id desc offset ${count} limit 1)`.execute(
      db.queries,
    )
  } else {
    await sql`
      insert into mandates (mandate_id, org_id, mode, workflow_id, status, methods, body, warnings, language_warnings, created_via, prepare_at, created_at, updated_at)
      select 'JM_0' || lpad(number::text, 25, '0'), org_id, mode, workflow_id, status, methods, body, warnings, language_warnings, created_via, prepare_at, created_at, updated_at
      from mandates, generate_series(1, ${count - there}) as number where mandate_id = ${id}`.execute(db.queries)
    await sql`
      insert into mandate_flows (mandate_id, flow_version, flow, created_at)
      select 'JM_0' || lpad(number::text, 25, '0'), 1, flow, created_at
      from mandate_flows, generate_series(1, ${count - there}) as number where mandate_id = ${id}`.execute(db.queries)
  }
  await sql`vacuum analyze mandates, mandate_flows`.execute(db.queries)
}

/** Undefined where the machine has no pgbench. */
function runPgbench(connection: ConnectionSettings, size: number) {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-pgbench-'))
  try {
    const script = join(folder, 'insert.sql')
    writeFileSync(script, `insert into bench_inserts (body, created_at) values (repeat('x', ${size}), now());\n`)
    const { status, stdout, stderr } = spawnSync(
      'pgbench',
      [
        ...['-h', connection.host!, '-p', String(connection.port ?? 5432), '-U', connection.user!],
        ...['-n', '-M', 'prepared', '-c', '20', '-j', '1', '-T', String(SECONDS), '-f', script, connection.database!],
      ],
      {
        encoding: 'utf8',
        env: { ...process.env, ...(connection.password ? { PGPASSWORD: connection.password } : {}) },
      },
    )
    if (status === 0) return Number(/tps = ([\d.]+)/.exec(stdout)![1])
    if (stderr) console.error(`pgbench: ${stderr.trim().split('\n').at(-1)}`)
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  printRows('mandates', await run())
  process.exit(0)
}
