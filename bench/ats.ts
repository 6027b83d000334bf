/**
 * Measures the routes that applicant tracking systems call most often, the lists of tests, and checks the reports under load: orders of
 * all systems, with the worker killed between results and their reports.
 */
import { sql } from 'kysely'
import type { AdapterName } from '../server/ats/adapter.ts'
import type { TestApp } from '../test/support/app.ts'
import { connectAts } from '../test/support/ats/connection.ts'
import { FastClock, reportWithKills } from '../test/support/ats/kill-run.ts'
import { createCampaignPartner } from '../test/support/partners.ts'
import { withTestApp } from './support/app.ts'
import {
  type BenchmarkOptions,
  type BenchmarkRow,
  median,
  percentile,
  runFromCommandLine,
} from './support/benchmark.ts'

const FULL = { mandates: 1000, calls: 1000, ordersPerAts: 150, timeoutMs: 30 * 60_000 }
const SHORT = { mandates: 50, calls: 30, ordersPerAts: 2, timeoutMs: 100_000 }
/** The rate limit of a key is 50 requests per second. */
const CALL_INTERVAL_MS = 25

/** The systems that call for the list. */
const LIST_PATHS = { greenhouse: 'list_tests', ashby: 'assessment.list', workable: 'tests' } as const

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  const listRows = await withTestApp((app) => measureLists(app, sizes))
  const clock = new FastClock()
  const orderRows = await withTestApp(
    async (app, t) => {
      const startedAt = performance.now()
      const { setups, orders, kills, faults, replays, creditDifference } = await reportWithKills(t, app, {
        clock,
        ...sizes,
      })
      const seconds = (performance.now() - startedAt) / 1000
      const violations = setups.flatMap(({ ats }) => ats.violations)
      return [
        {
          name: 'orders that were reported',
          value: orders.length,
          unit: '',
          note: `${kills} kills, ${Math.round(seconds)} s`,
        },
        {
          name: 'accepted reports',
          value: orders.reduce((sum, { reports }) => sum + reports, 0),
          unit: '',
          note: 'a report that was accepted just before a kill is sent again',
        },
        {
          name: 'failed report attempts',
          value: Object.values(faults).reduce((sum, count) => sum + count, 0),
          unit: '',
          note: `${Object.entries(faults)
            .map(([name, count]) => `${name}: ${count}`)
            .join(', ')}; ${replays} sent again after a permanent failure`,
        },
        { name: 'messages in a wrong format or order', value: violations.length, unit: '', note: violations[0] },
        { name: 'credits that differ from one per order', value: creditDifference, unit: '' },
      ]
    },
    { clock },
  )
  return [...listRows, ...orderRows]
}

async function measureLists(app: TestApp, { mandates, calls }: { mandates: number; calls: number }) {
  const partner = await createCampaignPartner(app)
  const { mandate_id } = await partner.createMandate()
  await app.context.db.asOwner((owner) =>
    sql`insert into mandates (mandate_id, org_id, mode, workflow_id, status, flow_version, methods, body, warnings, language_warnings,
        created_via, prepare_at, created_at, updated_at)
      select 'JM_BENCH' || lpad(n::text, 18, '0'), org_id, mode, workflow_id, status, flow_version, methods, body, warnings,
        language_warnings, created_via, prepare_at, created_at, updated_at
      from mandates cross join generate_series(2, ${mandates}) as n where mandate_id = ${mandate_id}`.execute(
      owner.queries,
    ),
  )
  const rows: BenchmarkRow[] = []
  for (const [adapter, path] of Object.entries(LIST_PATHS)) {
    const { key } = await connectAts(app, partner.scope, adapter as AdapterName)
    const times: number[] = []
    for (let call = 0; call < calls; call++) {
      const startedAt = performance.now()
      const response = await fetch(`${app.url}/ats/${adapter}/${path}`, {
        method: adapter === 'ashby' ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}` },
      })
      const text = await response.text()
      times.push(performance.now() - startedAt)
      if (response.status !== 200) throw new Error(`${response.status} ${text}`)
      app.clock.advance(CALL_INTERVAL_MS)
    }
    const note = `median ${median(times).toFixed(1)} ms; ${mandates} mandates, one call at a time`
    rows.push({ name: `${adapter}: list of tests, p99`, value: percentile(times, 0.99), unit: 'ms', note })
  }
  return rows
}

if (import.meta.main) await runFromCommandLine('ats', runBenchmark)
