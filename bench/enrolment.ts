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

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const calls = short ? 3 : 20
  const app = await startBenchApp()
  const bare = new pg.Client({ connectionString: app.postgresUrl })
  await bare.connect()
  try {
    const { post, mandateId: mandate_id } = await createCampaignPartner(app, 'live')
    const { campaign } = await post('/campaigns', { mandate_id, candidates: createCandidates(0) })
    const other = await createCampaignPartner(app, 'live')
    const warm = await other.post('/campaigns', { mandate_id: other.mandateId, candidates: createCandidates(0) })
    for (let call = 1; call < (short ? 1 : WARM_UP_CALLS); call++)
      await other.post(`/campaigns/${warm.campaign.campaign_id}/candidates`, { candidates: createCandidates(call) })
    await pause(200)
    globalThis.gc?.()
    const before = process.memoryUsage.rss()
    let peak = before
    let peakInFirstHalf = 0
    const startedAt = performance.now()
    for (let call = 1; call < calls; call++) {
      await post(`/campaigns/${campaign.campaign_id}/candidates`, { candidates: createCandidates(call) })
      if (call < calls / 2) peakInFirstHalf = Math.max(peakInFirstHalf, process.memoryUsage.rss())
      peak = Math.max(peak, process.memoryUsage.rss())
    }
    const seconds = (performance.now() - startedAt) / 1000
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from candidates where campaign_id = ${campaign.campaign_id}`.execute(
      app.context.db.queries,
    )
    if (rows[0]!.count !== calls * CANDIDATES_PER_CALL)
      throw new Error(`only ${rows[0]!.count} candidates were enrolled`)
    const ours = ((calls - 1) * CANDIDATES_PER_CALL) / seconds
    const inserted = await insertRows(bare, calls)
    const copied = await copyRows(bare, calls)
    return [
      {
        name: 'candidates enrolled, 1,000 per call',
        value: ours,
        unit: 'per second',
        note: 'signed calls, one at a time',
      },
      { name: '20,000 in 20 calls', value: (seconds * 20) / (calls - 1), unit: 's', note: 'target: under 60' },
      { name: 'peak memory growth', value: (peak - before) / MEGABYTE, unit: 'MB RSS' },
      {
        name: 'growth in the second half',
        value: (peak - Math.max(peakInFirstHalf, before)) / MEGABYTE,
        unit: 'MB RSS',
        note: 'target: about 0',
      },
      {
        name: 'bare multi-row INSERT, 1,000 rows per statement',
        value: inserted,
        unit: 'per second',
        note: 'same columns and indexes',
      },
      { name: 'bare COPY of a file', value: copied, unit: 'per second', note: 'same columns and indexes' },
      { name: 'compared with INSERT', value: (100 * ours) / inserted, unit: '%' },
      { name: 'compared with COPY', value: (100 * ours) / copied, unit: '%' },
    ]
  } finally {
    await bare.end()
    await app.stop()
  }
}

function createCandidates(call: number) {
  return Array.from({ length: CANDIDATES_PER_CALL }, (_, row) => {
    const number = call * CANDIDATES_PER_CALL + row
    return {
      external_candidate_id: `ext-${number}`,
      name: `Person ${number}`,
      phone: `+91${9_800_000_000 + number}`,
      metadata: { source: 'bench', batch: String(call) },
    }
  })
}

const columns =
  'candidate_id, campaign_id, org_id, mode, external_candidate_id, name, phone, email, language, metadata, token_hash, token, enrolled_at'

function bareRows(call: number): unknown[][] {
  return createCandidates(call).map(({ external_candidate_id, name, phone, metadata }) => [
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

async function insertRows(client: pg.Client, calls: number): Promise<number> {
  await client.query('create table bare_inserts (like candidates including all)')
  const batches = Array.from({ length: calls }, (_, call) => bareRows(call))
  const width = batches[0]![0]!.length
  const placeholders = batches[0]!.map(
    (row, at) => `(${row.map((_, column) => `$${at * width + column + 1}`).join(', ')})`,
  )
  const text = `insert into bare_inserts (${columns}) values ${placeholders.join(', ')}`
  const startedAt = performance.now()
  for (const rows of batches) await client.query({ name: 'bare', text, values: rows.flat() })
  return (calls * CANDIDATES_PER_CALL) / ((performance.now() - startedAt) / 1000)
}

async function copyRows(client: pg.Client, calls: number): Promise<number> {
  await client.query('create table bare_copies (like candidates including all)')
  const folder = await mkdtemp(join(tmpdir(), 'attestry-bench-'))
  await chmod(folder, 0o755) // the database runs as another user
  try {
    const text = (value: unknown) =>
      value === null
        ? '\\N'
        : Buffer.isBuffer(value)
          ? `\\\\x${value.toString('hex')}`
          : value instanceof Date
            ? value.toISOString()
            : String(value)
    let copyMs = 0
    for (let call = 0; call < calls; call++) {
      const file = join(folder, `${call}.txt`)
      await writeFile(
        file,
        bareRows(call)
          .map((row) => `${row.map(text).join('\t')}\n`)
          .join(''),
        { mode: 0o644 },
      )
      const startedAt = performance.now()
      await client.query(`copy bare_copies (${columns}) from '${file}'`)
      copyMs += performance.now() - startedAt
    }
    return (calls * CANDIDATES_PER_CALL) / (copyMs / 1000)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await runFromCommandLine('enrolment', run)
