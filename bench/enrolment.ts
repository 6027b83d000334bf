/**
 * Enrolment over HTTP, a thousand rows a call, with everything that belongs to it: signature, checks, duplicates, the day's people,
 * tokens, credits, results, contacts and analytics; against the bare rows of one table by COPY and by multi-row INSERT.
 */
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { startBench } from './support/campaign-setup.ts'
import { printRows, type Row } from './support/rows.ts'

const CALLS = 20
const ROWS = 1000
const MEGABYTE = 1024 * 1024

export async function run(): Promise<Row[]> {
  const bench = await startBench({ worker: false })
  const bare = new pg.Client({ connectionString: bench.postgresUrl })
  await bare.connect()
  try {
    const { post, mandateId: mandate_id } = await bench.partner('live')
    const { campaign } = await post('/campaigns', { mandate_id, candidates: people(0) })
    const other = await bench.partner('live')
    const warm = await other.post('/campaigns', { mandate_id: other.mandateId, candidates: people(0) })
    for (let call = 1; call < 4; call++)
      await other.post(`/campaigns/${warm.campaign.campaign_id}/candidates`, { candidates: people(call) })
    await pause(200)
    globalThis.gc?.()
    const before = resident()
    let most = before
    let halfway = 0
    const started = performance.now()
    for (let call = 1; call < CALLS; call++) {
      await post(`/campaigns/${campaign.campaign_id}/candidates`, { candidates: people(call) })
      if (call < CALLS / 2) halfway = Math.max(halfway, resident())
      most = Math.max(most, resident())
    }
    const seconds = (performance.now() - started) / 1000
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from candidates where campaign_id = ${campaign.campaign_id}`.execute(
      bench.context.db.queries,
    )
    if (rows[0]!.count !== CALLS * ROWS) throw new Error(`${rows[0]!.count} were enrolled`)
    const ours = ((CALLS - 1) * ROWS) / seconds
    const inserted = await insertRows(bare)
    const copied = await copyRows(bare)
    return [
      {
        name: 'candidates enrolled, 1,000 a call',
        value: ours,
        unit: 'a second',
        note: 'signed call, one after the other',
      },
      { name: '20,000 in 20 calls', value: (seconds * CALLS) / (CALLS - 1), unit: 's', note: 'aim: under 60' },
      { name: 'memory that they add at most', value: (most - before) / MEGABYTE, unit: 'MB RSS' },
      {
        name: 'of which the second half',
        value: (most - Math.max(halfway, before)) / MEGABYTE,
        unit: 'MB RSS',
        note: 'flat',
      },
      {
        name: 'bare multi-row INSERT, 1,000 a statement',
        value: inserted,
        unit: 'a second',
        note: 'same columns and indexes',
      },
      { name: 'bare COPY of a file', value: copied, unit: 'a second', note: 'same columns and indexes' },
      { name: 'against INSERT', value: (100 * ours) / inserted, unit: '%' },
      { name: 'against COPY', value: (100 * ours) / copied, unit: '%' },
    ]
  } finally {
    await bare.end()
    await bench.stop()
  }
}

function resident() {
  return process.memoryUsage.rss()
}

function people(call: number) {
  return Array.from({ length: ROWS }, (_, row) => {
    const number = call * ROWS + row
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
  return people(call).map(({ external_candidate_id, name, phone, metadata }) => [
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

async function insertRows(client: pg.Client): Promise<number> {
  await client.query('create table bare_inserts (like candidates including all)')
  const calls = Array.from({ length: CALLS }, (_, call) => bareRows(call))
  const width = calls[0]![0]!.length
  const places = calls[0]!.map((row, at) => `(${row.map((_, column) => `$${at * width + column + 1}`).join(', ')})`)
  const text = `insert into bare_inserts (${columns}) values ${places.join(', ')}`
  const started = performance.now()
  for (const rows of calls) await client.query({ name: 'bare', text, values: rows.flat() })
  return (CALLS * ROWS) / ((performance.now() - started) / 1000)
}

async function copyRows(client: pg.Client): Promise<number> {
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
    let spent = 0
    for (let call = 0; call < CALLS; call++) {
      const file = join(folder, `${call}.txt`)
      await writeFile(
        file,
        bareRows(call)
          .map((row) => `${row.map(text).join('\t')}\n`)
          .join(''),
        { mode: 0o644 },
      )
      const begun = performance.now()
      await client.query(`copy bare_copies (${columns}) from '${file}'`)
      spent += performance.now() - begun
    }
    return (CALLS * ROWS) / (spent / 1000)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  printRows('enrolment', await run())
  process.exit(0)
}
