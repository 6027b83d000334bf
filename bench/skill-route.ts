/**
 * Measures both search routes over HTTP with a query that has a typo, compared with a Fastify route that sends the same bytes from
 * memory. Partner calls are signed, rate-limited and counted. Public calls use a new address after every eight calls, because
 * a person types about eight letters. The last two measurements search for every prefix of every word of every skill name.
 */
import type autocannon from 'autocannon'
import { parseBuiltInCatalogue, readBuiltInCatalogueFiles } from '../server/catalogue/built-in.ts'
import { type BenchmarkOptions, type BenchmarkRow, runFromCommandLine } from './support/benchmark.ts'
import { withServer } from './support/deployment.ts'
import { measureLoad, signedHeaders, startPeerServer } from './support/load.ts'

const CONNECTIONS = 50
const CALLS_PER_VISITOR = 8
const PARTNER_SEARCH = '/api/v1/partner/skills/search?q=weldng'
const PUBLIC_SEARCH = '/api/skills/search?keyword=weldng'

interface Sizes {
  seconds: number
  rounds: number
}

const FULL: Sizes = { seconds: 1.5, rounds: 8 }
const SHORT: Sizes = { seconds: 1, rounds: 1 }

export async function runBenchmark({ short }: BenchmarkOptions): Promise<BenchmarkRow[]> {
  const sizes = short ? SHORT : FULL
  return withServer({ short }, async ({ server, deployment }) => {
    const key = await deployment.createKey()
    const headers = () => signedHeaders({ key, method: 'GET', target: PARTNER_SEARCH })
    const partnerRows = await compareWithFastify(
      'GET /skills/search, signed, rate-limited',
      server.url,
      [PARTNER_SEARCH],
      sizes,
      headers,
    )
    const publicRows = await compareWithFastify(
      'GET /api/skills/search, limited by address',
      server.url,
      [PUBLIC_SEARCH],
      sizes,
    )
    if (short) return [...partnerRows, ...publicRows]
    const prefixPaths = await createPrefixPaths()
    const pathsWithLimits = [20, 19, 18, 17, 16, 15].flatMap((limit) =>
      prefixPaths.map((path) => `${path}&limit=${limit}`),
    )
    return [
      ...partnerRows,
      ...publicRows,
      ...(await compareWithFastify(
        `GET /api/skills/search, ${prefixPaths.length} different prefixes`,
        server.url,
        prefixPaths,
        sizes,
      )),
      ...(await compareWithFastify(
        `GET /api/skills/search, ${pathsWithLimits.length} different queries`,
        server.url,
        pathsWithLimits,
        sizes,
      )),
    ]
  })
}

type HeaderFactory = () => Promise<Record<string, string>>

/** Returns a search path for every prefix of at least three letters of every word of the built-in skill names. */
async function createPrefixPaths(): Promise<string[]> {
  const words = parseBuiltInCatalogue(await readBuiltInCatalogueFiles()).skills.flatMap(({ name }) =>
    name.toLowerCase().split(/[^a-z]+/),
  )
  const prefixes = words.flatMap((word) =>
    Array.from({ length: Math.max(0, word.length - 2) }, (_, index) => word.slice(0, index + 3)),
  )
  return [...new Set(prefixes)].map((prefix) => `/api/skills/search?keyword=${prefix}`)
}

/** Measures our server and bare Fastify in turns, so that other load affects both equally; the best round of each counts. */
async function compareWithFastify(
  name: string,
  url: string,
  paths: string[],
  { rounds, seconds }: Sizes,
  headers?: HeaderFactory,
): Promise<BenchmarkRow[]> {
  const body = await getTypicalResponse(url, paths, headers)
  const peer = await startPeerServer('fastify', body)
  let ourBestRate = 0
  let peerBestRate = 0
  for (let round = 0; round < rounds; round++) {
    ourBestRate = Math.max(ourBestRate, await measureRate(url, paths, headers, seconds))
    peerBestRate = Math.max(peerBestRate, await measureRate(peer.url, paths, headers, seconds))
  }
  peer.stop()
  const kilobytes = (Buffer.byteLength(body) / 1024).toFixed(1)
  return [
    { name, value: ourBestRate, unit: 'requests/s', note: `${kilobytes} KB` },
    { name: 'bare Fastify, same bytes', value: peerBestRate, unit: 'requests/s' },
    {
      name: 'compared with bare Fastify',
      value: (100 * ourBestRate) / peerBestRate,
      unit: '%',
      note: 'target: at least 75 %',
      operation: name,
    },
  ]
}

/** Requests up to 100 of the paths and returns the response body whose length is closest to the average. */
async function getTypicalResponse(url: string, paths: string[], headers: HeaderFactory | undefined): Promise<string> {
  const bodies: string[] = []
  for (let i = 0; i < Math.min(paths.length, 100); i++) {
    const path = paths[Math.floor((i * paths.length) / 100) % paths.length]!
    const requestHeaders = headers ? await headers() : { 'x-forwarded-for': `10.255.0.${i}` }
    const response = await fetch(url + path, { headers: requestHeaders })
    bodies.push(await response.text())
    if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${bodies.at(-1)}`)
  }
  const averageLength = bodies.reduce((sum, { length }) => sum + length, 0) / bodies.length
  const distance = ({ length }: string) => Math.abs(length - averageLength)
  return bodies.sort((a, b) => distance(a) - distance(b))[0]!
}

async function measureRate(
  url: string,
  paths: string[],
  headers: HeaderFactory | undefined,
  seconds: number,
): Promise<number> {
  const { rate } = await measureLoad({
    url: url + paths[0],
    connections: CONNECTIONS,
    duration: seconds,
    ...(headers
      ? { headers: await headers() }
      : { requests: [{ setupRequest: (request) => withNextAddress(request, paths) }] }),
  } as autocannon.Options)
  return rate
}

let callCount = 0

function withNextAddress(request: autocannon.Request, paths: string[]): autocannon.Request {
  const visitorNumber = Math.floor(callCount++ / CALLS_PER_VISITOR)
  const address = `10.${(visitorNumber >> 16) & 255}.${(visitorNumber >> 8) & 255}.${visitorNumber & 255}`
  return {
    ...request,
    path: paths[callCount % paths.length]!,
    headers: { ...request.headers, 'x-forwarded-for': address },
  }
}

if (import.meta.main) await runFromCommandLine('skill-route', runBenchmark)
