/**
 * Both search routes over HTTP, a typo to correct and all, against a Fastify route that sends the same bytes from memory.
 * Partners' calls are signed, limited and counted; visitors come each from an address of their own, which both servers are sent, and ask
 * eight times, as who types does.
 * The last two ask for what is typed on the way to every word of every name: first no more than a server remembers, then more, so that
 * nearly every answer is looked for anew.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import autocannon from 'autocannon'
import { sign } from '../sdk/index.ts'
import { parseBuiltIn, readBuiltInFiles } from '../server/catalogue/built-in.ts'
import { makeDeployment } from './support/deployment.ts'
import { printRows, type Row } from './support/rows.ts'

const SECONDS = 1.5
const ROUNDS = 8
const CONNECTIONS = 50
const CALLS_A_VISITOR = 8
const PARTNER = '/api/v1/partner/skills/search?q=weldng'
const PUBLIC = '/api/skills/search?keyword=weldng'

export async function run(): Promise<Row[]> {
  process.env.TRUST_PROXY = '127.0.0.1'
  const deployment = makeDeployment()
  const server = await deployment.start()
  try {
    const { org_id } = deployment.cli<{ org_id: string }>('org', 'create', '--name', 'Bench')
    const key = deployment.cli<{ key_id: string; secret: string }>('key', 'create', '--org', org_id, '--mode', 'live')
    const raised = ['--per-second', '1000000', '--burst', '1000000', '--per-minute', '100000000']
    for (const name of ['key', 'skillsSearch']) deployment.cli('key', 'limits', key.key_id, '--class', name, ...raised)
    const signed = async () => {
      const timestamp = Math.floor(Date.now() / 1000)
      const signature = await sign({ secret: key.secret, timestamp, method: 'GET', target: PARTNER })
      return { 'x-api-key': key.key_id, 'x-timestamp': String(timestamp), 'x-signature': signature }
    }
    const typed = await beginnings()
    const pages = [20, 19, 18, 17, 16, 15].flatMap((limit) => typed.map((path) => `${path}&limit=${limit}`))
    return [
      ...(await compare('GET /skills/search, signed, limited, counted', server.url, [PARTNER], signed)),
      ...(await compare('GET /api/skills/search, limited by address', server.url, [PUBLIC])),
      ...(await compare(`the same, ${typed.length} beginnings in turn`, server.url, typed)),
      ...(await compare(`the same, ${pages.length} questions in turn`, server.url, pages)),
    ]
  } finally {
    await server.stop()
    deployment.remove()
  }
}

type HeaderMaker = () => Promise<Record<string, string>>

/** What is typed on the way to the words of all names. A server remembers what it found for these, not for six times as many. */
async function beginnings(): Promise<string[]> {
  const words = parseBuiltIn(await readBuiltInFiles()).skills.flatMap(({ name }) => name.toLowerCase().split(/[^a-z]+/))
  const begun = words.flatMap((word) =>
    Array.from({ length: Math.max(0, word.length - 2) }, (_, at) => word.slice(0, at + 3)),
  )
  return [...new Set(begun)].map((word) => `/api/skills/search?keyword=${word}`)
}

/** In turns, so that whatever else the machine does falls on both alike; the best round of each counts. */
async function compare(name: string, url: string, paths: string[], headers?: HeaderMaker): Promise<Row[]> {
  const body = await usualAnswer(url, paths, headers)
  const peer = await startPeer(body)
  let ours = 0
  let bare = 0
  for (let round = 0; round < ROUNDS; round++) {
    ours = Math.max(ours, await measure(url, paths, headers))
    bare = Math.max(bare, await measure(peer.url, paths, headers))
  }
  peer.stop()
  const kilobytes = (Buffer.byteLength(body) / 1024).toFixed(1)
  return [
    { name, value: ours, unit: 'requests/s', note: `${kilobytes} KB` },
    { name: 'bare Fastify, same bytes', value: bare, unit: 'requests/s' },
    {
      name: 'against bare Fastify',
      value: (100 * ours) / bare,
      unit: '%',
      note: 'aim: at least 60',
    },
  ]
}

/** The answer to one of the paths: of some of them, that which is nearest to the average in length. */
async function usualAnswer(url: string, paths: string[], headers: HeaderMaker | undefined): Promise<string> {
  const answers: string[] = []
  for (let i = 0; i < Math.min(paths.length, 100); i++) {
    const path = paths[Math.floor((i * paths.length) / 100) % paths.length]!
    const given = headers ? await headers() : { 'x-forwarded-for': `10.255.0.${i}` }
    const response = await fetch(url + path, { headers: given })
    answers.push(await response.text())
    if (response.status !== 200) throw new Error(`${path}: ${answers.at(-1)}`)
  }
  const average = answers.reduce((sum, { length }) => sum + length, 0) / answers.length
  const distance = ({ length }: string) => Math.abs(length - average)
  return answers.sort((a, b) => distance(a) - distance(b))[0]!
}

async function measure(url: string, paths: string[], headers: HeaderMaker | undefined): Promise<number> {
  const result = await autocannon({
    url: url + paths[0],
    connections: CONNECTIONS,
    duration: SECONDS,
    ...(headers
      ? { headers: await headers() }
      : { requests: [{ setupRequest: (request) => fromNextAddress(request, paths) }] }),
  } as autocannon.Options)
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors at ${url}`)
  return result.requests.average
}

let calls = 0

function fromNextAddress(request: autocannon.Request, paths: string[]): autocannon.Request {
  const visitor = Math.floor(calls++ / CALLS_A_VISITOR)
  const address = `10.${(visitor >> 16) & 255}.${(visitor >> 8) & 255}.${visitor & 255}`
  return {
    ...request,
    path: paths[calls % paths.length]!,
    headers: { ...request.headers, 'x-forwarded-for': address },
  }
}

async function startPeer(body: string) {
  const child = fork(new URL('support/peer-server.ts', import.meta.url).pathname, ['fastify', body])
  const [port] = (await once(child, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}`, stop: () => child.kill() }
}

if (import.meta.main) {
  const rows = await run()
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
  else printRows('skill-route', rows)
  process.exit(0)
}
