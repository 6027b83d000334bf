import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../test/support/free-port.ts'

// Measures the time from `git clone` to the first verified webhook for each SDK, by running docs/guides/use-an-sdk.md as a new user would:
// in a new clone, with an empty home folder and npm cache. The clone and the start of the server are measured once, and are part of the time of
// every language.
//   npm run first-webhook                  all SDKs
//   npm run first-webhook -- Python Go     some of them

const root = fileURLToPath(new URL('..', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/use-an-sdk.md'), 'utf8')
const MAX_MINUTES = 5
const programs: Record<string, { blockLanguage: string; file: string }> = {
  TypeScript: { blockLanguage: 'js', file: 'campaign.mjs' },
  Python: { blockLanguage: 'python', file: 'campaign.py' },
  Go: { blockLanguage: 'go', file: 'campaign.go' },
  Java: { blockLanguage: 'java', file: 'Campaign.java' },
  PHP: { blockLanguage: 'php', file: 'campaign.php' },
}
/** Variables that a user needs to reach package registries. */
const NETWORK_VARIABLES =
  /^(https?_proxy|no_proxy|all_proxy|npm_config_(registry|cafile|.*proxy)|node_extra_ca_certs|ssl_cert_file)$/i

const unknown = process.argv.slice(2).filter((name) => !Object.hasOwn(programs, name))
if (unknown.length > 0) {
  console.error(`unknown SDK ${unknown.join(', ')}; expected some of ${Object.keys(programs).join(', ')}`)
  process.exit(1)
}
const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(programs)

const folder = mkdtempSync(join(tmpdir(), 'attestry-first-webhook-'))
const checkout = join(folder, 'attestry')
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK_VARIABLES.test(name))),
  // Without node_modules: `node` is the version of the machine, not the one that the project installs.
  PATH: process.env
    .PATH!.split(delimiter)
    .filter((each) => !each.includes('node_modules'))
    .join(delimiter),
  HOME: join(folder, 'home'),
  LANG: process.env.LANG,
}
mkdirSync(env.HOME)

let server: ChildProcess | undefined
try {
  const startedAt = performance.now()
  await runUntil(['git', 'clone', '--quiet', root, checkout], folder)
  const serverPort = await findFreePort()
  server = start(['npm', 'start'], checkout, { PORT: String(serverPort) })
  await waitForLine(server, /Attestry is running/)
  const startSeconds = (performance.now() - startedAt) / 1000
  console.log(`clone and npm start: ${startSeconds.toFixed(0)} s`)
  let slowest = 0
  for (const name of names) {
    const seconds = startSeconds + (await runLanguage(name, `http://127.0.0.1:${serverPort}`))
    slowest = Math.max(slowest, seconds)
    console.log(`${name}: ${seconds.toFixed(0)} s from git clone to the first verified webhook`)
  }
  if (slowest > MAX_MINUTES * 60) {
    console.error(`the slowest one took more than ${MAX_MINUTES} minutes`)
    process.exitCode = 1
  }
} finally {
  if (server?.pid && server.exitCode === null) {
    process.kill(-server.pid, 'SIGTERM')
    await once(server, 'exit')
  }
  rmSync(folder, { recursive: true, force: true })
}

/** Runs the section of a language, and returns the seconds until the first verified webhook. */
async function runLanguage(name: string, url: string): Promise<number> {
  const { blockLanguage, file } = programs[name]!
  const program = findBlocks(name, blockLanguage)[0]!
  const project = join(folder, 'first-campaign')
  rmSync(project, { recursive: true, force: true })
  mkdirSync(project)
  writeFileSync(join(project, file), program)
  const script = [...findBlocks('Prepare', 'sh'), ...findBlocks(name, 'sh')]
    .join('\n')
    .replaceAll('http://127.0.0.1:8080', url)
  const startedAt = performance.now()
  const child = start(['bash', '-euc', script], checkout, { PORT: String(await findFreePort()) })
  const ended = once(child, 'exit')
  await waitForLine(child, /^webhook verified: /)
  const seconds = (performance.now() - startedAt) / 1000
  const [code] = await ended
  if (code !== 0) throw new Error(`${name}: the program ended with ${code}`)
  return seconds
}

function findBlocks(heading: string, blockLanguage: string): string[] {
  const section = guide.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))!
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter((match) => match[1] === blockLanguage)
    .map((match) => match[2]!)
}

function start([command, ...args]: string[], cwd: string, extraEnv: NodeJS.ProcessEnv = {}): ChildProcess {
  const options = { cwd, env: { ...env, ...extraEnv }, detached: true } as const
  return spawn(command!, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
}

async function runUntil(command: string[], cwd: string): Promise<void> {
  const child = start(command, cwd)
  child.stdout!.resume()
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`)
}

/** Resolves when the program prints the line. Later output is discarded. */
function waitForLine(child: ChildProcess, pattern: RegExp): Promise<void> {
  return new Promise((resolve, reject) => {
    const lines: string[] = []
    createInterface({ input: child.stdout! }).on('line', (line) => {
      lines.push(line)
      if (pattern.test(line)) resolve()
    })
    child.on('exit', (code) =>
      reject(new Error(`ended with ${code} before ${pattern}:\n${lines.slice(-20).join('\n')}`)),
    )
  })
}
