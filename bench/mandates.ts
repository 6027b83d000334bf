import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { ConnectionSettings } from '../server/platform/database/connection-settings.ts'
import { type Database, openDatabase } from '../server/platform/database/database.ts'
import { startEmbeddedPostgres } from '../server/platform/postgres/embedded.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  runFromCommandLine,
  SKIP_REASONS_ALLOWED_IN_CI,
  skippedRow,
} from './support/benchmark.ts'
import { type DeploymentKey, type RunningDeployment, withServer } from './support/deployment.ts'
import { fastestOf, forkServer, type LoadResult, measureLoad, signedHeaders } from './support/load.ts'

const CONNECTIONS = 50
const PARTNER_API = '/api/v1/partner'

interface Sizes {
  /** Duration of each round, for mandate creation under load. */
  seconds: number
  rounds: number
  /** Numbers of mandates in the organisation at which single calls are measured. */
  mandateCounts: number[]
  /** Duration of each measurement of a single call. */
  secondsPerMeasurement: number
  repetitions: number
}

const FULL: Sizes = { seconds: 5, rounds: 3, mandateCounts: [1_000, 100_000], secondsPerMeasurement: 2, repetitions: 2 }
const SHORT: Sizes = { seconds: 1, rounds: 1, mandateCounts: [500], secondsPerMeasurement: 1, repetitions: 1 }

/** Measures the creation of mandates, compared with a minimal server, and how calls slow down with many mandates. */
export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  return withServer({ short }, (running) => measureAll(running, short ? SHORT : FULL))
}

async function measureAll({ deployment, server }: RunningDeployment, sizes: Sizes): Promise<BenchmarkRow[]> {
  const key = await deployment.createKey()
  const workflow = deployment.cli<{ workflow_id: string }>(
    ...['playground', 'workflow', '--org', key.orgId, '--mode', 'live', '--data', '{"name":"Bench"}'],
  )
  const body = JSON.stringify(aMandate(workflow.workflow_id))
  const postgres = await startEmbeddedPostgres({ dataDir: deployment.dataDir, role: 'command', log: () => {} })
  const db = openDatabase({ connection: postgres.connection, name: 'bench', onError: () => {} })
  const peerServer = await forkServer('mandate-peer.ts', deployment.dataDir, key.secret)
  try {
    const call = { key, method: 'POST', target: `${PARTNER_API}/mandates`, body } as const
    const measureCreation = (url: string) => measureCalls(url, call, sizes.seconds)
    // Warm up: load the question bank, prepare statements, compile hot code.
    for (const url of [server.url, peerServer.url]) await measureCreation(url)
    const ourResults: LoadResult[] = []
    const peerResults: LoadResult[] = []
    // In turns, so that other load on the machine affects both equally.
    for (let round = 0; round < sizes.rounds; round++) {
      peerResults.push(await measureCreation(peerServer.url))
      ourResults.push(await measureCreation(server.url))
      await waitForPreparation(db)
    }
    const [ourBest, peerBest] = [fastestOf(ourResults), fastestOf(peerResults)]
    const pgbenchRate = runPgbench(postgres.connection, body.length, sizes.seconds)
    const rows: BenchmarkRow[] = [
      { name: 'POST /mandates, 50 connections, 3 skills to verify', value: ourBest.rate, unit: 'requests/s' },
      { name: 'POST /mandates, 99th percentile', value: ourBest.p99, unit: 'ms' },
      { name: 'Fastify, one signature check and one INSERT', value: peerBest.rate, unit: 'requests/s' },
      { name: 'Fastify with one INSERT, 99th percentile', value: peerBest.p99, unit: 'ms' },
      {
        name: 'compared with Fastify with one INSERT',
        value: (100 * ourBest.rate) / peerBest.rate,
        unit: '%',
        note: 'target: at least 80 %',
        operation: 'Creating a mandate',
      },
    ]
    if (pgbenchRate !== undefined)
      rows.push(
        { name: 'pgbench, one INSERT, 20 connections', value: pgbenchRate, unit: 'transactions/s' },
        { name: 'compared with pgbench', value: (100 * ourBest.rate) / pgbenchRate, unit: '%' },
      )
    else rows.push(skippedRow('pgbench', SKIP_REASONS_ALLOWED_IN_CI.pgbench))
    return [...rows, ...(await measureGrowth(db, server.url, key, body, sizes))]
  } finally {
    peerServer.stop()
    await db.close()
    await postgres.stop()
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
  key: DeploymentKey
  method: 'GET' | 'POST'
  target: string
  body?: string
}

async function measureCalls(url: string, call: Call, seconds: number, connections = CONNECTIONS): Promise<LoadResult> {
  const { method, target, body } = call
  return measureLoad({
    url: url + target,
    method,
    connections,
    duration: seconds,
    ...(body ? { body } : {}),
    headers: await signedHeaders(call),
  })
}

async function waitForPreparation(db: Database) {
  for (;;) {
    const { rows } = await sql`select 1 from mandates where status = 'preparing' limit 1`.execute(db.queries)
    if (rows.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Measures single list, get and create calls of an organisation with few and with many mandates. */
async function measureGrowth(
  db: Database,
  url: string,
  key: DeploymentKey,
  body: string,
  { mandateCounts, secondsPerMeasurement, repetitions }: Sizes,
): Promise<BenchmarkRow[]> {
  const { orgId } = key
  const rows: BenchmarkRow[] = []
  const millisecondsAtFirstCount = new Map<string, number>()
  for (const mandateCount of mandateCounts) {
    await setMandateCount(db, orgId, mandateCount)
    const { rows: mandateRows } = await sql<{ id: string; workflow_id: string }>`
      select mandate_id as id, workflow_id from mandates where org_id = ${orgId} order by mandate_id offset 400 limit 1`.execute(
      db.queries,
    )
    const { id, workflow_id } = mandateRows[0]!
    for (const [name, method, target] of [
      ['list', 'GET', '/mandates?limit=25'],
      ['list of a workflow by status', 'GET', `/mandates?limit=25&workflow_id=${workflow_id}&status=ready`],
      ['get', 'GET', `/mandates/${id}`],
      ['create', 'POST', '/mandates'],
    ] as const) {
      const call = { key, method, target: PARTNER_API + target, ...(method === 'POST' ? { body } : {}) }
      const results: LoadResult[] = []
      for (let i = 0; i < repetitions; i++) results.push(await measureCalls(url, call, secondsPerMeasurement, 1))
      const milliseconds = 1000 / fastestOf(results).rate
      const millisecondsWithFew = millisecondsAtFirstCount.get(name)
      const note =
        millisecondsWithFew === undefined
          ? undefined
          : `${(milliseconds / millisecondsWithFew).toFixed(2)} times the time at ${mandateCounts[0]}`
      rows.push({
        name: `${name}, ${mandateCount.toLocaleString('en')} mandates`,
        value: milliseconds,
        unit: 'ms',
        note,
      })
      millisecondsAtFirstCount.set(name, millisecondsWithFew ?? milliseconds)
      await waitForPreparation(db)
    }
  }
  return rows
}

/** Deletes mandates, or copies a prepared one, until the organisation has about this many. */
async function setMandateCount(db: Database, orgId: string, targetCount: number) {
  const { rows } = await sql<{ id: string; existing: number }>`
    select max(mandate_id) as id, count(*)::int as existing from mandates where org_id = ${orgId} and status = 'ready'`.execute(
    db.queries,
  )
  const { id, existing } = rows[0]!
  if (existing > targetCount) {
    await sql`delete from mandates where org_id = ${orgId} and mandate_id < (
      select mandate_id from mandates where org_id = ${orgId} order by mandate_id desc offset ${targetCount} limit 1)`.execute(
      db.queries,
    )
  } else {
    await sql`
      insert into mandates (mandate_id, org_id, mode, workflow_id, status, methods, body, warnings, language_warnings, created_via, prepare_at, created_at, updated_at)
      select 'JM_0' || lpad(number::text, 25, '0'), org_id, mode, workflow_id, status, methods, body, warnings, language_warnings, created_via, prepare_at, created_at, updated_at
      from mandates, generate_series(1, ${targetCount - existing}) as number where mandate_id = ${id}`.execute(
      db.queries,
    )
    await sql`
      insert into mandate_flows (mandate_id, flow_version, flow, created_at)
      select 'JM_0' || lpad(number::text, 25, '0'), 1, flow, created_at
      from mandate_flows, generate_series(1, ${targetCount - existing}) as number where mandate_id = ${id}`.execute(
      db.queries,
    )
  }
  await sql`vacuum analyze mandates, mandate_flows`.execute(db.queries)
}

const MAX_PGBENCH_SECONDS = 20

/** Returns the INSERT transactions per second that pgbench measures, or undefined if pgbench is not installed. */
function runPgbench(connection: ConnectionSettings, bodyLength: number, seconds: number): number | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-pgbench-'))
  try {
    const script = join(folder, 'insert.sql')
    writeFileSync(script, `insert into bench_inserts (body, created_at) values (repeat('x', ${bodyLength}), now());\n`)
    const { status, stdout, stderr } = spawnSync(
      'pgbench',
      [
        ...['-h', connection.host!, '-p', String(connection.port ?? 5432), '-U', connection.user!],
        ...['-n', '-M', 'prepared', '-c', '20', '-j', '1', '-T', String(seconds), '-f', script, connection.database!],
      ],
      {
        encoding: 'utf8',
        env: { ...process.env, ...(connection.password ? { PGPASSWORD: connection.password } : {}) },
      },
    )
    if (status === 0) {
      const [, rate] = /tps = ([\d.]+)/.exec(stdout) ?? []
      if (rate !== undefined) return Number(rate)
      // On a busy machine, opening the connections can take all the time, and pgbench then prints no rate.
      if (seconds > MAX_PGBENCH_SECONDS) throw new Error(`pgbench printed no rate: ${stdout}`)
      return runPgbench(connection, bodyLength, seconds * 4)
    }
    if (stderr) console.error(`pgbench: ${stderr.trim().split('\n').at(-1)}`)
    return undefined
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await runFromCommandLine('mandates', runBenchmark)
