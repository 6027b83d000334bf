import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startApp } from '../support/app.ts'
import { oncePerFile } from '../support/cleanup.ts'
import { runClock, TestClock } from '../support/clock.ts'
import { findFreePort } from '../support/free-port.ts'
import { createCampaignPartner } from '../support/partners.ts'
import type { SdkLanguage } from './languages.ts'

// Runs the programs of docs/guides/use-an-sdk.md with the commands of the guide. The tests of a file share a server.

const root = fileURLToPath(new URL('../../', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/use-an-sdk.md'), 'utf8')

/** PATH without node_modules: the SDK must run on the machine's own Node, not only on the version that this project installs. */
export const path = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const offlineNpm = 'command npm --offline --no-audit --no-fund --loglevel=error'
/** In the guide, `npm exec` installs the compiler; here it is installed already. */
const NPM_FUNCTION = `npm() {
  case "$*" in
    "exec --yes --package typescript@${devDependencies.typescript} -- npm "*) shift 6; ${offlineNpm} "$@" ;;
    *) ${offlineNpm} "$@" ;;
  esac
}`

const startShared = oncePerFile(async (t) => {
  const app = await startApp(t, { worker: true, clock: new TestClock(Date.now()) })
  runClock(t, app.clock)
  return app
})

/**
 * Runs the section of a language in the guide, and its last command again with a port that is in use. A runtime other than Node.js has its own
 * command and PATH.
 */
export async function runCampaign(
  t: TestContext,
  { heading, blockLanguage, file }: SdkLanguage,
  runtime?: { command: string; runtimePath: string },
) {
  const app = await startShared()
  const { key } = await createCampaignPartner(app)
  const checkout = createCheckout(t, key.keyId, key.secret)
  const [program] = findBlocks(heading, blockLanguage)
  assert.ok(program, `${heading} has a program`)
  const blocks = [...findBlocks('Prepare', 'sh'), ...findBlocks(heading, 'sh')]
  writeFileSync(join(mkdirp(join(checkout, '../first-campaign')), file), program)
  let script = [NPM_FUNCTION, ...blocks].join('\n').replace('http://127.0.0.1:8080', app.url)
  if (runtime) {
    assert.match(script, /^node campaign\.mjs$/m)
    script = script.replace('node campaign.mjs', runtime.command)
  }
  const port = String(await findFreePort())
  const usedPort = await listenOnAnyPort(t)
  const lastCommand = script.trim().split('\n').at(-1)!
  script += `\nexport PORT=${usedPort}\nif ${lastCommand}; then exit 9; fi\n`

  const outcome = await runScript(t, checkout, script, {
    PORT: port,
    ...(runtime ? { PATH: runtime.runtimePath } : {}),
  })

  assert.equal(outcome.code, 0, outcome.output)
  const statuses = [...outcome.output.matchAll(/^candidate-(\d+) (\w+) qualified: (\w+)$/gm)]
  const candidatesWith = (status: string) =>
    statuses
      .filter((match) => match[2] === status)
      .map(([, number]) => Number(number))
      .sort((a, b) => a - b)
  assert.deepEqual(candidatesWith('completed'), [1, 2, 3, 4, 9, 11], outcome.output)
  assert.deepEqual(candidatesWith('declined'), [5, 10])
  assert.deepEqual(candidatesWith('failed'), [6, 7, 8])
  const qualified = statuses.filter((match) => match[3]!.toLowerCase() === 'true').map(([, number]) => Number(number))
  assert.deepEqual(qualified.toSorted(), [1, 4, 9])
  const events = [...outcome.output.matchAll(/^webhook verified: (\S+)$/gm)].map(([, type]) => type!)
  // Deliveries have no order: the program may end before those of the last results arrive.
  assert.ok(events.includes('result.completed'), outcome.output)
  assert.ok(events.includes('mandate.ready') && events.includes('campaign.completed'))
  const { items } = (await app.as(key).get('/webhooks')).body.data
  const states = items.map(({ status }: { status: string }) => status)
  assert.deepEqual(states, ['archived'], 'no endpoint is left, and none was created without a port')
}

async function listenOnAnyPort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Returns the command in the text of the guide that starts with the given words. */
export function findInlineCommand(start: string): string {
  const match = new RegExp(`\`(${start} [^\`]+)\``).exec(guide)
  assert.ok(match, `the guide has a command that starts with ${start}`)
  return match[1]!
}

/** Returns the code blocks of a language under a heading of the guide. */
export function findBlocks(heading: string, blockLanguage: string): string[] {
  const section = guide.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  assert.ok(section, `the guide has the heading ${heading}`)
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter((match) => match[1] === blockLanguage)
    .map((match) => match[2]!)
}

/** Creates a folder like a checkout in which the server was started: with the SDKs and the keys of the demo organisation. */
function createCheckout(t: TestContext, keyId: string, secret: string): string {
  const checkout = mkdirp(join(createFolder(t), 'attestry'))
  cpSync(join(root, 'sdk'), join(checkout, 'sdk'), { recursive: true, filter: (file) => !file.endsWith('/dist') })
  for (const name of ['node_modules', 'sdks']) symlinkSync(join(root, name), join(checkout, name))
  mkdirSync(join(checkout, '.attestry'))
  const keys = { key_id: keyId, secret }
  writeFileSync(join(checkout, '.attestry/demo-keys.json'), JSON.stringify(keys, null, 2))
  return checkout
}

export function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-sdk-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function mkdirp(folder: string): string {
  mkdirSync(folder, { recursive: true })
  return folder
}

export async function runScript(t: TestContext, folder: string, script: string, env: Record<string, string>) {
  // Settings of the outer npm and of proxies must not reach the programs.
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_|_proxy$/i.test(name))
  const child = spawn('bash', ['-euc', script], {
    cwd: folder,
    env: { ...Object.fromEntries(inherited), PATH: path, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: t.signal,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}
