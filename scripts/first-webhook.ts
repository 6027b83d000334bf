import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../test/support/free-port.ts'

// Measures the time from `git clone` to the first verified webhook for each SDK, by running docs/guides/use-an-sdk.md as a new user would:
// in a new clone, with an empty home folder and npm cache. As root on Linux, everything after the clone runs in a chroot that has only the
// programs and settings of the machine (/usr and /etc, read-only) and the clone. The clone and the start of the server are measured once, and
// are part of the time of every language.
//   npm run first-webhook                  all SDKs
//   npm run first-webhook -- Python Go     some of them

const root = fileURLToPath(new URL('..', import.meta.url))
const guide = readFileSync(join(root, 'docs/guides/use-an-sdk.md'), 'utf8')
const MAX_MINUTES = 5
const CHROOT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
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
const chroot = mayUseChroot() ? createChroot(folder) : undefined
const home = chroot?.home ?? join(folder, 'home')
mkdirSync(home, { recursive: true })
const checkout = join(home, 'attestry')
const project = join(home, 'first-campaign')
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK_VARIABLES.test(name))),
  // Without node_modules: `node` is the version of the machine, not the one that the project installs.
  PATH: process.env
    .PATH!.split(delimiter)
    .filter((each) => !each.includes('node_modules'))
    .join(delimiter),
  HOME: home,
  LANG: process.env.LANG,
}

let server: ChildProcess | undefined
try {
  const startedAt = performance.now()
  await waitForExit(spawn('git', ['clone', '--quiet', root, checkout], { env, stdio: ['ignore', 'pipe', 'inherit'] }))
  if (chroot) await waitForExit(start(['test', '!', '-e', root], checkout))
  console.log(
    chroot ? 'in a chroot without this checkout and the home folders' : 'without a chroot, which needs root on Linux',
  )
  const serverPort = await findFreePort()
  server = start(['npm', 'start'], checkout, { PORT: String(serverPort) })
  await waitForLine(server, /Attestry is running/)
  const startSeconds = (performance.now() - startedAt) / 1000
  console.log(`clone and npm start: ${startSeconds.toFixed(0)} s\n`)
  console.log('| SDK        | Section of the guide | From git clone to the first verified webhook |')
  console.log('| ---------- | -------------------: | -------------------------------------------: |')
  for (const name of names) {
    const seconds = await runLanguage(name, `http://127.0.0.1:${serverPort}`)
    const total = startSeconds + seconds
    console.log(`| ${name.padEnd(10)} | ${formatSeconds(seconds, 20)} | ${formatSeconds(total, 44)} |`)
    if (total <= MAX_MINUTES * 60) continue
    console.error(`${name} took more than ${MAX_MINUTES} minutes`)
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
  if (code !== 0) throw new Error(`${name}: the program exited with code ${code}`)
  return seconds
}

function findBlocks(heading: string, blockLanguage: string): string[] {
  const section = guide.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))!
  return [...section.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter((match) => match[1] === blockLanguage)
    .map((match) => match[2]!)
}

function formatSeconds(seconds: number, width: number): string {
  return `${seconds.toFixed(0)} s`.padStart(width)
}

/** Starts a command in a folder of the home folder, in the chroot if there is one. */
function start([command, ...args]: string[], cwd: string, extraEnv: NodeJS.ProcessEnv = {}): ChildProcess {
  const options: SpawnOptions = {
    env: { ...env, ...extraEnv },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  }
  if (!chroot) return spawn(command!, args, { ...options, cwd })
  const inside = { HOME: '/root', PATH: CHROOT_PATH }
  const workingFolder = join('/root', relative(home, cwd))
  return spawn(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', '--kill-child'],
      ...['sh', '-euc', chroot.script, 'sh', chroot.path, workingFolder, command!, ...args],
    ],
    { ...options, env: { ...options.env, ...inside } },
  )
}

/** Root in a container often may not create mounts. */
function mayUseChroot(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  return spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status === 0
}

/** Creates the folders of a chroot, and the script that mounts the system folders and runs a command in it. */
function createChroot(parent: string) {
  const path = join(parent, 'chroot')
  for (const name of ['usr', 'etc', 'dev', 'proc', 'tmp', 'var/tmp', 'root', 'home'])
    mkdirSync(join(path, name), { recursive: true })
  for (const name of ['tmp', 'var/tmp']) chmodSync(join(path, name), 0o1777)
  const mounted = ['/usr', '/etc']
  for (const name of ['bin', 'sbin', 'lib', 'lib64'].filter((each) => existsSync(`/${each}`))) {
    if (lstatSync(`/${name}`).isSymbolicLink()) symlinkSync(readlinkSync(`/${name}`), join(path, name))
    else mounted.push(mkdirp(path, `/${name}`))
  }
  // /etc/resolv.conf can be a link to a file outside /etc.
  const resolverFolder = existsSync('/etc/resolv.conf') ? dirname(realpathSync('/etc/resolv.conf')) : '/etc'
  if (resolverFolder !== '/etc') mounted.push(mkdirp(path, resolverFolder))
  const script = [
    ...mounted.flatMap((name) => [`mount --rbind ${name} "$1${name}"`, `mount --options remount,bind,ro "$1${name}"`]),
    'mount --rbind /dev "$1/dev"',
    'mount --types proc proc "$1/proc"',
    'root=$1 folder=$2',
    'shift 2',
    `exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$folder" "$@"`,
  ].join('\n')
  return { path, home: join(path, 'root'), script }
}

function mkdirp(parent: string, path: string): string {
  mkdirSync(join(parent, path), { recursive: true })
  return path
}

async function waitForExit(child: ChildProcess): Promise<void> {
  child.stdout!.resume()
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} exited with code ${code}`)
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
