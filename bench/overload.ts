import { setTimeout as pause } from 'node:timers/promises'
import autocannon from 'autocannon'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { type DeploymentKey, withServer } from './support/deployment.ts'
import { signedHeaders } from './support/load.ts'

/** How many times its capacity the server is loaded with. */
const OVERLOAD_FACTOR = 5
const FLOOD_CONNECTIONS = 400
const HONEST_REQUESTS_PER_SECOND = 20
/** Load shedding starts within a second. */
const WARM_UP_MS = 3000

const TARGET = '/api/v1/partner/workflows'

interface Latencies {
  p50: number
  p99: number
  errorCount: number
}

/**
 * Measures what an honest caller with an ordinary rate notices while another key sends five times as many requests as the server
 * can handle.
 */
export function runBenchmark(options: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const seconds = options.short ? 1 : 15
  return withServer(options, async ({ deployment, server }) => {
    const [floodKey, honestKey] = [await deployment.createKey(), await deployment.createKey()]
    const floodHeaders = await signedHeaders({ key: floodKey, method: 'GET', target: TARGET })
    const flood = (duration: number, overallRate?: number) =>
      autocannon({
        url: server.url + TARGET,
        headers: floodHeaders,
        connections: overallRate === undefined ? 20 : FLOOD_CONNECTIONS,
        duration,
        ...(overallRate === undefined ? {} : { overallRate }),
      })
    const quiet = await measureHonestCaller(server.url, honestKey, seconds)
    const capacity = (await flood(seconds)).requests.average
    const floodSeconds = seconds + WARM_UP_MS / 1000
    const flooding = flood(floodSeconds, Math.round(capacity * OVERLOAD_FACTOR))
    await pause(WARM_UP_MS)
    const overloaded = await measureHonestCaller(server.url, honestKey, seconds)
    const { requests, statusCodeStats } = await flooding
    const rejected = (statusCodeStats as Record<string, { count?: number }> | undefined)?.['503']?.count ?? 0
    return [
      { name: 'capacity', value: capacity, unit: 'requests/s' },
      { name: 'flood, responses', value: requests.average, unit: 'requests/s', note: `${rejected} rejected with 503` },
      { name: 'honest caller, without the flood, p99', value: quiet.p99, unit: 'ms' },
      { name: 'honest caller, during the flood, p50', value: overloaded.p50, unit: 'ms' },
      {
        name: 'honest caller, during the flood, p99',
        value: overloaded.p99,
        unit: 'ms',
        note: `target: at most 250; ${overloaded.errorCount} errors`,
      },
    ]
  })
}

async function measureHonestCaller(url: string, key: DeploymentKey, seconds: number): Promise<Latencies> {
  const latencies: number[] = []
  let errorCount = 0
  const send = async () => {
    const headers = await signedHeaders({ key, method: 'GET', target: TARGET })
    const startedAt = performance.now()
    const response = await fetch(url + TARGET, { headers })
    await response.arrayBuffer()
    if (!response.ok) errorCount++
    latencies.push(performance.now() - startedAt)
  }
  const calls: Promise<void>[] = []
  for (let sent = 0; sent < seconds * HONEST_REQUESTS_PER_SECOND; sent++) {
    calls.push(send())
    await pause(1000 / HONEST_REQUESTS_PER_SECOND)
  }
  await Promise.all(calls)
  latencies.sort((a, b) => a - b)
  const percentile = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!
  return { p50: percentile(0.5), p99: percentile(0.99), errorCount }
}

if (import.meta.main) await runFromCommandLine('overload', runBenchmark)
