/**
 * Measures enrolment over HTTP, 1,000 candidates per call, including signature, validation, duplicate detection, daily limits,
 * tokens, credits, results, contacts and analytics; compared with COPY and multi-row INSERT into one table.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { createCampaignPartner, startBenchApp } from './support/app.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

const CANDIDATES_PER_CALL = 1000
const WARM_UP_CALLS = 4
const MEGABYTE = 1024 * 1024

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const callCount = short ? 3 : 20
  const app = await startBenchApp()
  const sqlClient = new pg.Client({ connectionString: app.postgresUrl })
  await sqlClient.connect()
  try {
    const { post, mandateId: mandate_id } = await createCampaignPartner(app, 'live')
    const { campaign } = await post('/campaigns', { mandate_id, candidates: createCandidates(0) })
    const warmUpPartner = await createCampaignPartner(app, 'live')
    const warmUpResponse = await warmUpPartner.post('/campaigns', {
      mandate_id: warmUpPartner.mandateId,
      candidates: createCandidates(0),
    })
    for (let call = 1; call < (short ? 1 : WARM_UP_CALLS); call++)
      await warmUpPartner.post(`/campaigns/${warmUpResponse.campaign.campaign_id}/candidates`, {
        candidates: createCandidates(call),
      })
    await pause(200)
    globalThis.gc?.()
    const rssBefore = process.memoryUsage.rss()
    let peakRss = rssBefore
    let peakRssInFirstHalf = 0
    const startedAt = performance.now()
    for (let call = 1; call < callCount; call++) {
      await post(`/campaigns/${campaign.campaign_id}/candidates`, { candidates: createCandidates(call) })
      if (call < callCount / 2) peakRssInFirstHalf = Math.max(peakRssInFirstHalf, process.memoryUsage.rss())
      peakRss = Math.max(peakRss, process.memoryUsage.rss())
    }
    const seconds = (performance.now() - startedAt) / 1000
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from candidates where campaign_id = ${campaign.campaign_id}`.execute(
      app.context.db.queries,
    )
    if (rows[0]!.count !== callCount * CANDIDATES_PER_CALL)
      throw new Error(`only ${rows[0]!.count} candidates were enrolled`)
    const enrolmentRate = ((callCount - 1) * CANDIDATES_PER_CALL) / seconds
    const insertRate = await measureInserts(sqlClient, callCount)
    const copyRate = await measureCopy(sqlClient, callCount)
    return [
      {
        name: 'candidates enrolled, 1,000 per call',
        value: enrolmentRate,
        unit: 'per second',
        note: 'signed calls, one at a time',
      },
      {
        name: '20,000 candidates in 20 calls',
        value: (seconds * 20) / (callCount - 1),
        unit: 's',
        note: 'target: under 60',
      },
      { name: 'peak memory growth', value: (peakRss - rssBefore) / MEGABYTE, unit: 'MB RSS' },
      {
        name: 'memory growth in the second half',
        value: (peakRss - Math.max(peakRssInFirstHalf, rssBefore)) / MEGABYTE,
        unit: 'MB RSS',
        note: 'target: about 0',
      },
      {
        name: 'bare multi-row INSERT, 1,000 rows per statement',
        value: insertRate,
        unit: 'per second',
        note: 'same columns and indexes',
      },
      { name: 'bare COPY of a file', value: copyRate, unit: 'per second', note: 'same columns and indexes' },
      {
        name: 'enrolment compared with INSERT',
        value: (100 * enrolmentRate) / insertRate,
        unit: '%',
        note: 'target: at least 50 %',
        operation: 'Enrolling candidates',
      },
      { name: 'enrolment compared with COPY', value: (100 * enrolmentRate) / copyRate, unit: '%' },
    ]
  } finally {
    await sqlClient.end()
    await app.stop()
  }
}

function createCandidates(callNumber: number) {
  return Array.from({ length: CANDIDATES_PER_CALL }, (_, row) => {
    const candidateNumber = callNumber * CANDIDATES_PER_CALL + row
    return {
      external_candidate_id: `ext-${candidateNumber}`,
      name: `Person ${candidateNumber}`,
      phone: `+91${9_800_000_000 + candidateNumber}`,
      metadata: { source: 'bench', batch: String(callNumber) },
    }
  })
}

const CANDIDATE_COLUMNS =
  'candidate_id, campaign_id, org_id, mode, external_candidate_id, name, phone, email, language, metadata, token_hash, token, enrolled_at'

/** Returns the candidates of one call as rows of the table `candidates`. */
function createCandidateRows(callNumber: number): unknown[][] {
  return createCandidates(callNumber).map(({ external_candidate_id, name, phone, metadata }) => [
    `CD_${randomBytes(13).toString('hex')}`,
    'CP_00000000000000000000000000',
    'ORG_0000000000000000000000000',
    'live',
    external_candidate_id,
    name,
    phone,
    null,
    null,
    JSON.stringify(metadata),
    randomBytes(32),
    randomBytes(80),
    new Date(),
  ])
}

/** Returns the rows inserted per second. */
async function measureInserts(client: pg.Client, callCount: number): Promise<number> {
  await client.query('create table bare_inserts (like candidates including all)')
  const batches = Array.from({ length: callCount }, (_, call) => createCandidateRows(call))
  const columnCount = batches[0]![0]!.length
  const placeholders = batches[0]!.map(
    (row, rowIndex) => `(${row.map((_, column) => `$${rowIndex * columnCount + column + 1}`).join(', ')})`,
  )
  const insertSql = `insert into bare_inserts (${CANDIDATE_COLUMNS}) values ${placeholders.join(', ')}`
  const startedAt = performance.now()
  for (const rows of batches) await client.query({ name: 'bare', text: insertSql, values: rows.flat() })
  return (callCount * CANDIDATES_PER_CALL) / ((performance.now() - startedAt) / 1000)
}

/** Returns the rows copied per second. */
async function measureCopy(client: pg.Client, callCount: number): Promise<number> {
  await client.query('create table bare_copies (like candidates including all)')
  const folder = await mkdtemp(join(tmpdir(), 'attestry-bench-'))
  await chmod(folder, 0o755) // the database runs as another user
  try {
    const formatForCopy = (value: unknown) =>
      value === null
        ? '\\N'
        : Buffer.isBuffer(value)
          ? `\\\\x${value.toString('hex')}`
          : value instanceof Date
            ? value.toISOString()
            : String(value)
    let copyMs = 0
    for (let call = 0; call < callCount; call++) {
      const file = join(folder, `${call}.txt`)
      await writeFile(
        file,
        createCandidateRows(call)
          .map((row) => `${row.map(formatForCopy).join('\t')}\n`)
          .join(''),
        { mode: 0o644 },
      )
      const startedAt = performance.now()
      await client.query(`copy bare_copies (${CANDIDATE_COLUMNS}) from '${file}'`)
      copyMs += performance.now() - startedAt
    }
    return (callCount * CANDIDATES_PER_CALL) / (copyMs / 1000)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await runFromCommandLine('enrolment', runBenchmark)
