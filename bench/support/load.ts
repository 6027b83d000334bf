import { fork } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { sign } from '../../sdk/index.ts'

export interface LoadResult {
  /** Requests per second. */
  rate: number
  /** Latency in milliseconds. */
  p50: number
  p99: number
}

/** Sends requests for some seconds and throws if any fails. */
export async function measureLoad(options: autocannon.Options): Promise<LoadResult> {
  const result = await autocannon(options)
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} error responses and ${result.errors} connection errors at ${options.url}`)
  return { rate: result.requests.average, p50: result.latency.p50, p99: result.latency.p99 }
}

export const bestOf = (results: LoadResult[]): LoadResult =>
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

export interface Peer {
  url: string
  stop(): void
}

/** Starts a minimal server in another process that responds to every GET with the same bytes. */
export function startPeerServer(kind: 'fastify' | 'node', body: string): Promise<Peer> {
  return forkServer('peer-server.ts', kind, body)
}

/** Forks a script of this folder that sends its port once it listens. */
export async function forkServer(script: string, ...args: string[]): Promise<Peer> {
  const child = fork(new URL(script, import.meta.url).pathname, args)
  const [port] = (await once(child, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill() }
}
