import { fork } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { sign } from '../sdk/index.ts'
import { makeDeployment } from './support/deployment.ts'
import { printRows, type Row } from './support/rows.ts'

const SECONDS = 6
const CONNECTIONS = 50
const TARGET = '/api/v1/partner/shifts'

/** A trivial authenticated GET through everything, against servers that send the same bytes and do nothing else. */
export async function run(): Promise<Row[]> {
  const deployment = makeDeployment()
  const server = await deployment.start()
  try {
    const { org_id } = deployment.cli<{ org_id: string }>('org', 'create', '--name', 'Bench')
    const key = deployment.cli<{ key_id: string; secret: string }>('key', 'create', '--org', org_id, '--mode', 'live')
    const raised = ['--per-second', '1000000', '--burst', '1000000', '--per-minute', '100000000']
    for (const name of ['key', 'reads']) deployment.cli('key', 'limits', key.key_id, '--class', name, ...raised)
    const headers = async () => {
      const timestamp = Math.floor(Date.now() / 1000)
      return {
        'x-api-key': key.key_id,
        'x-timestamp': String(timestamp),
        'x-signature': await sign({ secret: key.secret, timestamp, method: 'GET', target: TARGET }),
      }
    }
    const body = await (await fetch(server.url + TARGET, { headers: await headers() })).text()
    const fastify = await startPeer('fastify', body)
    const node = await startPeer('node', body)
    const rates = { ours: [] as number[], fastify: [] as number[], node: [] as number[] }
    // In turns, so that whatever else the machine does falls on all three alike.
    for (let round = 0; round < 3; round++) {
      rates.ours.push(await measure(server.url, await headers()))
      rates.fastify.push(await measure(fastify.url, await headers()))
      rates.node.push(await measure(node.url, await headers()))
    }
    fastify.stop()
    node.stop()
    const [ours, bare, raw] = [best(rates.ours), best(rates.fastify), best(rates.node)]
    return [
      { name: 'GET /shifts, signed, limited, validated', value: ours, unit: 'requests/s' },
      { name: 'bare Fastify, same bytes', value: bare, unit: 'requests/s' },
      { name: 'bare node:http, same bytes', value: raw, unit: 'requests/s' },
      { name: 'against bare Fastify', value: (100 * ours) / bare, unit: '%', note: 'aim: at least 60' },
      { name: 'against bare node:http', value: (100 * ours) / raw, unit: '%' },
    ]
  } finally {
    await server.stop()
    deployment.remove()
  }
}

function best(rates: number[]) {
  return Math.max(...rates)
}

async function measure(url: string, headers: Record<string, string>): Promise<number> {
  const result = await autocannon({ url: url + TARGET, headers, connections: CONNECTIONS, duration: SECONDS })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors at ${url}`)
  return result.requests.average
}

async function startPeer(kind: 'fastify' | 'node', body: string) {
  const child = fork(new URL('support/peer-server.ts', import.meta.url).pathname, [kind, body])
  const [port] = (await once(child, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

if (import.meta.main) {
  printRows('http', await run())
  process.exit(0)
}
