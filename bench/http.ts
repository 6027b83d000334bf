import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { withServer } from './support/deployment.ts'
import { bestOf, type LoadResult, measureLoad, signedHeaders, startPeerServer } from './support/load.ts'

const CONNECTIONS = 50
const TARGET = '/api/v1/partner/shifts'

/** Measures a small signed GET request, compared with servers that only send the same bytes. */
export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const [rounds, duration] = short ? [1, 1] : [3, 6]
  return withServer({ short }, async ({ server, deployment }) => {
    const key = await deployment.createKey()
    const headers = () => signedHeaders({ key, method: 'GET', target: TARGET })
    const body = await (await fetch(server.url + TARGET, { headers: await headers() })).text()
    const fastify = await startPeerServer('fastify', body)
    const node = await startPeerServer('node', body)
    const measure = async (url: string) =>
      measureLoad({ url: url + TARGET, headers: await headers(), connections: CONNECTIONS, duration })
    const results = { ours: [] as LoadResult[], fastify: [] as LoadResult[], node: [] as LoadResult[] }
    // In turns, so that other load on the machine affects all three equally.
    for (let round = 0; round < rounds; round++) {
      results.ours.push(await measure(server.url))
      results.fastify.push(await measure(fastify.url))
      results.node.push(await measure(node.url))
    }
    fastify.stop()
    node.stop()
    const [ours, bareFastify, bareNode] = [results.ours, results.fastify, results.node].map((all) => bestOf(all).rate)
    return [
      { name: 'GET /shifts, signed, rate-limited, validated', value: ours!, unit: 'requests/s' },
      { name: 'bare Fastify, same bytes', value: bareFastify!, unit: 'requests/s' },
      { name: 'bare node:http, same bytes', value: bareNode!, unit: 'requests/s' },
      {
        name: 'compared with bare Fastify',
        value: (100 * ours!) / bareFastify!,
        unit: '%',
        note: 'target: at least 60',
      },
      { name: 'compared with bare node:http', value: (100 * ours!) / bareNode!, unit: '%' },
    ]
  })
}

if (import.meta.main) await runFromCommandLine('http', run)
