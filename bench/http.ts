import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { withServer } from './support/deployment.ts'
import { fastestOf, type LoadResult, measureLoad, signedHeaders, startPeerServer } from './support/load.ts'

const CONNECTIONS = 50
const TARGET = '/api/v1/partner/shifts'

/** Measures a small signed GET request, compared with servers that only send the same bytes. */
export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const [rounds, duration] = short ? [1, 1] : [3, 6]
  return withServer({ short }, async ({ server, deployment }) => {
    const key = await deployment.createKey()
    const headers = () => signedHeaders({ key, method: 'GET', target: TARGET })
    const body = await (await fetch(server.url + TARGET, { headers: await headers() })).text()
    const fastify = await startPeerServer('fastify', body)
    const node = await startPeerServer('node', body)
    const measureServer = async (url: string) =>
      measureLoad({ url: url + TARGET, headers: await headers(), connections: CONNECTIONS, duration })
    const resultsByServer = { ours: [] as LoadResult[], fastify: [] as LoadResult[], node: [] as LoadResult[] }
    // In turns, so that other load on the machine affects all three equally.
    for (let round = 0; round < rounds; round++) {
      resultsByServer.ours.push(await measureServer(server.url))
      resultsByServer.fastify.push(await measureServer(fastify.url))
      resultsByServer.node.push(await measureServer(node.url))
    }
    fastify.stop()
    node.stop()
    const [ours, bareFastify, bareNode] = [resultsByServer.ours, resultsByServer.fastify, resultsByServer.node].map(
      (roundResults) => fastestOf(roundResults).rate,
    )
    return [
      { name: 'GET /shifts, signed, rate-limited, validated', value: ours!, unit: 'requests/s' },
      { name: 'bare Fastify, same bytes', value: bareFastify!, unit: 'requests/s' },
      { name: 'bare node:http, same bytes', value: bareNode!, unit: 'requests/s' },
      {
        name: 'compared with bare Fastify',
        value: (100 * ours!) / bareFastify!,
        unit: '%',
        note: 'target: at least 70 %',
        operation: 'Signed GET request',
      },
      { name: 'compared with bare node:http', value: (100 * ours!) / bareNode!, unit: '%' },
    ]
  })
}

if (import.meta.main) await runFromCommandLine('http', runBenchmark)
