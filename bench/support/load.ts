import { fork } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { sign } from '../../sdk/index.ts'
import { afterBenchmarks } from './benchmark.ts'

export interface LoadResult {
  /** Requests per second. */
  rate: number
  /** Median latency in milliseconds. */
  p50: number
  /** 99th percentile of the latency in milliseconds. */
  p99: number
}

/** Sends requests for the duration in `options` and throws if any request fails. */
export async function measureLoad(options: autocannon.Options): Promise<LoadResult> {
  const result = await autocannon(options)
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} error responses and ${result.errors} connection errors at ${options.url}`)
  return { rate: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 }
}

export const fastestOf = (results: LoadResult[]): LoadResult =>
  results.reduce((best, result) => (result.rate > best.rate ? result : best))

interface SignedRequest {
  key: { keyId: string; secret: string }
  method: 'GET' | 'POST'
  target: string
  body?: string | undefined
}

/** Returns the headers of a signed request; they stay valid longer than any measurement takes. */
export async function signedHeaders({ key, method, target, body }: SignedRequest): Promise<Record<string, string>> {
  const timestamp = Math.floor(Date.now() / 1000)
  return {
    'x-api-key': key.keyId,
    'x-timestamp': String(timestamp),
    'x-signature': await sign({ secret: key.secret, timestamp, method, target, body }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
}

export interface PeerServer {
  url: string
  stop(): void
}

/** Starts a minimal server in another process that responds to every GET with the same bytes. */
export function startPeerServer(kind: 'fastify' | 'node', body: string): Promise<PeerServer> {
  return forkServer('peer-server.ts', kind, body)
}

/** Starts a script of this folder as a child process, which sends its port once it listens. */
export async function forkServer(script: string, ...args: string[]): Promise<PeerServer> {
  const child = fork(new URL(script, import.meta.url).pathname, args)
  afterBenchmarks(async () => void child.kill()) // if the benchmark fails, it does not call stop()
  const [port] = (await once(child, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() }
}
