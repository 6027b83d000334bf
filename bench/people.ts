/**
 * Measures the processor time, of the server and its database connections, of enrolling 1,000 candidates in one call and of listing their
 * results. Processor time, and not elapsed time, because it can be compared on a machine that does other work too.
 */
import { readFile } from 'node:fs/promises'
import pg from 'pg'
import type { AttestryClient } from '../sdk/index.ts'
import { createCampaignPartner, startBenchApp } from './support/app.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'

const CANDIDATES_PER_CALL = 1000
const PAGE_SIZE = 100
const CLOCK_TICKS_PER_SECOND = 100

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const rounds = short ? 2 : 9
  const app = await startBenchApp()
  const sqlClient = new pg.Client({ connectionString: app.postgresUrl })
  await sqlClient.connect()
  try {
    const { post, client, mandateId: mandate_id } = await createCampaignPartner(app, 'live')
    const enrolments: number[] = []
    const listings: number[] = []
    for (let round = 0; round < rounds; round++) {
      const candidates = createCandidates(round)
      enrolments.push(await cpuSeconds(sqlClient, () => post('/campaigns', { mandate_id, candidates })))
      if (round === 0) await listPage(client) // assigns the positions in the list
      listings.push(await cpuSeconds(sqlClient, () => listResults(client)))
    }
    // The first round compiles the code and fills caches.
    return [
      { name: 'enrolment of 1,000 candidates', value: median(enrolments.slice(1)), unit: 's CPU' },
      { name: 'listing of 1,000 results in pages of 100', value: median(listings.slice(1)), unit: 's CPU' },
    ]
  } finally {
    await sqlClient.end()
    await app.stop()
  }
}

async function listResults(client: AttestryClient): Promise<void> {
  let cursor: string | undefined
  for (let page = 0; page < CANDIDATES_PER_CALL / PAGE_SIZE; page++) {
    const { items, next_cursor } = await listPage(client, cursor)
    if (items.length !== PAGE_SIZE) throw new Error(`a page has ${items.length} results`)
    cursor = next_cursor ?? undefined
  }
}

async function listPage(client: AttestryClient, cursor?: string) {
  const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
  const { status, body } = await client.request('GET', `/results?limit=${PAGE_SIZE}${query}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return (body as { data: { items: object[]; next_cursor: string | null } }).data
}

/** Returns the processor time of this process and of all database connections while a function runs. */
async function cpuSeconds(client: pg.Client, run: () => Promise<unknown>): Promise<number> {
  const before = await connectionTimes(client)
  const usageBefore = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(usageBefore)
  const after = await connectionTimes(client)
  let total = (user + system) / 1_000_000
  for (const [pid, seconds] of after) total += seconds - (before.get(pid) ?? 0)
  return total
}

async function connectionTimes(client: pg.Client): Promise<Map<number, number>> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  )
  const times = new Map<number, number>()
  for (const { pid } of rows) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined) // the connection was closed
    const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ')
    if (fields) times.set(pid, (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND)
  }
  return times
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function createCandidates(round: number) {
  return Array.from({ length: CANDIDATES_PER_CALL }, (_, row) => {
    const number = round * CANDIDATES_PER_CALL + row
    return {
      external_candidate_id: `ext-${number}`,
      name: `Person ${number}`,
      phone: `+91${9_800_000_000 + number}`,
      metadata: { source: 'bench', batch: String(round) },
    }
  })
}

if (import.meta.main) await runFromCommandLine('people', runBenchmark)
