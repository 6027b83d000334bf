import { sql } from 'kysely'
import type { Context } from '../server/context.ts'
import { identifyPeople } from '../server/people/identity/people.ts'
import { writeToDisk } from './support/app.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { type DatabaseCosts, measureDatabaseCosts } from './support/database-costs.ts'
import { simulateCampaigns } from './support/simulated-campaigns.ts'

/** Candidates per year: of a large organisation, and ten times and a hundred times as many. */
const CANDIDATES_PER_YEAR = [10_000_000, 100_000_000, 1_000_000_000]
/** Candidates are contacted on 300 days a year in 11 hours, and three times the average rate is the peak. */
const CONTACT_SECONDS_PER_YEAR = 300 * 11 * 3600
const PEAK_FACTOR = 3
/** Share of a core that may be in use at the peak, so that replies stay fast and one of several machines may fail. */
const MAX_CORE_SHARE = 0.5
const PEOPLE_COUNT = 2_000

const KB = 1000
const MB = 1000 * KB
const TB = 1000 * 1000 * MB

/**
 * Measures what a candidate costs from enrolment to the delivered result, and computes from it what larger loads need. The candidates are test
 * numbers in small campaigns, so that calls to providers are missing, and each call and campaign has few candidates.
 */
export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  let endMeasurement: (() => Promise<DatabaseCosts>) | undefined
  let costs: DatabaseCosts | undefined
  let bytesPerPerson = 0
  const { candidateCount, replyCount, eventCount, serverCpuMs } = await simulateCampaigns(
    short ? 10 : 200,
    async ({ context, postgresUrl }) => {
      await writeToDisk(context)
      bytesPerPerson = await measurePeople(context)
      endMeasurement = await measureDatabaseCosts(postgresUrl)
    },
    async () => {
      costs = await endMeasurement!()
    },
  )
  const { cpuMs, walBytes, storedBytes, tables } = costs!
  const perCandidate = {
    serverCpuMs: serverCpuMs / candidateCount,
    databaseCpuMs: cpuMs === undefined ? undefined : cpuMs / candidateCount,
    walBytes: walBytes / candidateCount,
    // The test numbers are the same people in each campaign.
    storedBytes: storedBytes / candidateCount + bytesPerPerson,
  }
  return [
    { name: 'replies', value: replyCount / candidateCount, unit: 'per candidate' },
    { name: 'webhooks', value: eventCount / candidateCount, unit: 'per candidate' },
    { name: 'CPU of servers', value: perCandidate.serverCpuMs, unit: 'ms per candidate' },
    ...(perCandidate.databaseCpuMs === undefined
      ? []
      : [{ name: 'CPU of PostgreSQL', value: perCandidate.databaseCpuMs, unit: 'ms per candidate' }]),
    { name: 'write-ahead log', value: perCandidate.walBytes / KB, unit: 'KB per candidate' },
    { name: 'stored, with indexes', value: perCandidate.storedBytes / KB, unit: 'KB per candidate' },
    ...tables.map(({ name, bytes }) => ({
      name: `stored in ${name}`,
      value: bytes / candidateCount / KB,
      unit: 'KB per candidate',
    })),
    { name: 'stored in people', value: bytesPerPerson / KB, unit: 'KB per candidate' },
    ...CANDIDATES_PER_YEAR.flatMap((count) => needsOf(count, perCandidate)),
  ]
}

interface CostPerCandidate {
  serverCpuMs: number
  databaseCpuMs: number | undefined
  walBytes: number
  storedBytes: number
}

function needsOf(candidatesPerYear: number, cost: CostPerCandidate): BenchmarkRow[] {
  const label = `${(candidatesPerYear / 1_000_000).toLocaleString('en')} million a year`
  const peakRate = (PEAK_FACTOR * candidatesPerYear) / CONTACT_SECONDS_PER_YEAR
  const coresFor = (cpuMs: number) => (peakRate * cpuMs) / 1000 / MAX_CORE_SHARE
  return [
    { name: `${label}: candidates at the peak`, value: peakRate, unit: 'per second' },
    { name: `${label}: cores of servers`, value: coresFor(cost.serverCpuMs), unit: '' },
    ...(cost.databaseCpuMs === undefined
      ? []
      : [{ name: `${label}: cores of PostgreSQL`, value: coresFor(cost.databaseCpuMs), unit: '' }]),
    { name: `${label}: write-ahead log at the peak`, value: (peakRate * cost.walBytes) / MB, unit: 'MB/s' },
    { name: `${label}: stored`, value: (candidatesPerYear * cost.storedBytes) / TB, unit: 'TB per year' },
  ]
}

/** Returns the stored bytes of a person, with indexes. */
async function measurePeople({ db, clock }: Context): Promise<number> {
  const { rows: organisations } = await sql<{ org_id: string }>`select org_id from organisations limit 1`.execute(
    db.queries,
  )
  const size = async () => {
    const { rows } = await sql<{ bytes: number }>`
      select sum(pg_total_relation_size(oid))::bigint as bytes from pg_class where relname in ('people', 'person_addresses')`.execute(
      db.queries,
    )
    return Number(rows[0]!.bytes)
  }
  const before = await size()
  const scope = { orgId: organisations[0]!.org_id, mode: 'live' as const }
  const people = Array.from({ length: PEOPLE_COUNT }, (_, index) => ({
    phone: `+9198${String(index).padStart(8, '0')}`,
  }))
  await db.transaction((tx) => identifyPeople(tx, scope, clock.now(), people))
  return ((await size()) - before) / PEOPLE_COUNT
}

if (import.meta.main) await runFromCommandLine('capacity', runBenchmark)
