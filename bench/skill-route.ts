/**
 * Measures both search routes over HTTP with a query that has a typo, compared with a Fastify route that sends the same bytes from
 * memory. Partner calls are signed, rate-limited and counted; public calls come from a new address after every eight calls, about
 * as many as a person types letters. The last two measurements search for every beginning of every word of every skill name.
 */
import type autocannon from 'autocannon'
import { parseBuiltIn, readBuiltInFiles } from '../server/catalogue/built-in.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { withServer } from './support/deployment.ts'
import { measureLoad, signedHeaders, startPeerServer } from './support/load.ts'

const CONNECTIONS = 50
const CALLS_PER_VISITOR = 8
const PARTNER = '/api/v1/partner/skills/search?q=weldng'
const PUBLIC = '/api/skills/search?keyword=weldng'

interface Sizes {
  seconds: number
  rounds: number
}

const FULL: Sizes = { seconds: 1.5, rounds: 8 }
const SHORT: Sizes = { seconds: 1, rounds: 1 }

export async function run({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  return withServer({ short }, async ({ server, deployment }) => {
    const key = await deployment.createKey()
    const headers = () => signedHeaders({ key, method: 'GET', target: PARTNER })
    const partner = await compare('GET /skills/search, signed, rate-limited', server.url, [PARTNER], sizes, headers)
    const publicSearch = await compare('GET /api/skills/search, limited by address', server.url, [PUBLIC], sizes)
    if (short) return [...partner, ...publicSearch]
    const prefixes = await prefixSearches()
    const pages = [20, 19, 18, 17, 16, 15].flatMap((limit) => prefixes.map((path) => `${path}&limit=${limit}`))
    return [
      ...partner,
      ...publicSearch,
      ...(await compare(`the same, with ${prefixes.length} different prefixes`, server.url, prefixes, sizes)),
      ...(await compare(`the same, with ${pages.length} different queries`, server.url, pages, sizes)),
    ]
  })
}

type HeaderFactory = () => Promise<Record<string, string>>

/** Returns a search for every beginning, from three letters on, of every word of the built-in skill names. */
async function prefixSearches(): Promise<string[]> {
  const words = parseBuiltIn(await readBuiltInFiles()).skills.flatMap(({ name }) => name.toLowerCase().split(/[^a-z]+/))
  const prefixes = words.flatMap((word) =>
    Array.from({ length: Math.max(0, word.length - 2) }, (_, index) => word.slice(0, index + 3)),
  )
  return [...new Set(prefixes)].map((prefix) => `/api/skills/search?keyword=${prefix}`)
}

/** Measures in turns, so that other load affects both servers equally; the best round of each counts. */
async function compare(
  name: string,
  url: string,
  paths: string[],
  { rounds, seconds }: Sizes,
  headers?: HeaderFactory,
): Promise<BenchmarkRow[]> {
  const body = await typicalResponse(url, paths, headers)
  const peer = await startPeerServer('fastify', body)
  let ours = 0
  let bare = 0
  for (let round = 0; round < rounds; round++) {
    ours = Math.max(ours, await measure(url, paths, headers, seconds))
    bare = Math.max(bare, await measure(peer.url, paths, headers, seconds))
  }
  peer.stop()
  const kilobytes = (Buffer.byteLength(body) / 1024).toFixed(1)
  return [
    { name, value: ours, unit: 'requests/s', note: `${kilobytes} KB` },
    { name: 'bare Fastify, same bytes', value: bare, unit: 'requests/s' },
    { name: 'compared with bare Fastify', value: (100 * ours) / bare, unit: '%', note: 'target: at least 60' },
  ]
}

/** Requests up to 100 of the paths and returns the response whose length is closest to the average. */
async function typicalResponse(url: string, paths: string[], headers: HeaderFactory | undefined): Promise<string> {
  const bodies: string[] = []
  for (let i = 0; i < Math.min(paths.length, 100); i++) {
    const path = paths[Math.floor((i * paths.length) / 100) % paths.length]!
    const requestHeaders = headers ? await headers() : { 'x-forwarded-for': `10.255.0.${i}` }
    const response = await fetch(url + path, { headers: requestHeaders })
    bodies.push(await response.text())
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${bodies.at(-1)}`)
  }
  const average = bodies.reduce((sum, { length }) => sum + length, 0) / bodies.length
  const distance = ({ length }: string) => Math.abs(length - average)
  return bodies.sort((a, b) => distance(a) - distance(b))[0]!
}

async function measure(
  url: string,
  paths: string[],
  headers: HeaderFactory | undefined,
  duration: number,
): Promise<number> {
  const { rate } = await measureLoad({
    url: url + paths[0],
    connections: CONNECTIONS,
    duration,
    ...(headers
      ? { headers: await headers() }
      : { requests: [{ setupRequest: (request) => fromNextAddress(request, paths) }] }),
  } as autocannon.Options)
  return rate
}

let calls = 0

function fromNextAddress(request: autocannon.Request, paths: string[]): autocannon.Request {
  const visitor = Math.floor(calls++ / CALLS_PER_VISITOR)
  const address = `10.${(visitor >> 16) & 255}.${(visitor >> 8) & 255}.${visitor & 255}`
  return {
    ...request,
    path: paths[calls % paths.length]!,
    headers: { ...request.headers, 'x-forwarded-for': address },
  }
}

if (import.meta.main) await runFromCommandLine('skill-route', run)
