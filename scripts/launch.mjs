// Runs on any Node from 20 on, before anything is installed: installs what is missing, then hands over to the Node that the
// project brings along. Plain JavaScript without dependencies for that reason.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const OLDEST = [22, 18]
// V8 would keep three times 16 MB for young objects; a server at rest has few.
const FLAGS = ['--max-semi-space-size=8']
// The C library would keep a heap for each of a dozen threads, most of it empty.
const MEMORY = { MALLOC_ARENA_MAX: '1' }

/** Installs what package-lock.json asks for and node_modules lacks. */
export async function install({ dev }) {
  const missing = firstMissing({ dev })
  if (!missing) return
  say('Installing packages (this happens once, and after updates)…')
  const started = Date.now()
  const pulse = setInterval(() => say(`  still installing, ${Math.round((Date.now() - started) / 1000)} s`), 10_000)
  const npm = process.env.npm_execpath
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...(dev ? [] : ['--omit=dev'])]
  const [command, all] = npm?.endsWith('.js') ? [process.execPath, [npm, ...args]] : ['npm', args]
  const code = await run(command, all, { stdio: ['ignore', 'inherit', 'inherit'] })
  clearInterval(pulse)
  if (code !== 0) fail('Installing failed; the lines above say why.', code)
  say(`Installed in ${Math.round((Date.now() - started) / 1000)} s.`)
}

/** The first package that is absent or of another version than the lock file's. */
function firstMissing({ dev }) {
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const record = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(record)) return 'everything'
  const present = JSON.parse(readFileSync(record, 'utf8')).packages
  return Object.entries(wanted).find(([path, entry]) => {
    if (path === '' || entry.link || !path.startsWith('node_modules/')) return false
    if (entry.dev && !dev) return false
    // Packages for other platforms are never there.
    if ((entry.optional || entry.devOptional) && !present[path]) return false
    return present[path]?.version !== entry.version
  })?.[0]
}

/** The project's own Node where there is one, so that everybody runs the same. */
export function nodeBinary() {
  const bundled = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (existsSync(bundled)) return bundled
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return process.execPath
  return fail(`Attestry needs Node ${OLDEST.join('.')} or newer on this platform; this is ${process.versions.node}.`)
}

/** Runs a script of ours and ends with its exit code; signals reach it, and it learns when this process is killed. */
export async function handOver(script, args, env = {}) {
  const child = spawn(nodeBinary(), [...FLAGS, join(root, script), ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'), ...MEMORY, ...process.env, ...env },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // npm that was killed cannot tell: without it nobody is left to stop the server. A shell may well end before what it started.
  const parent = process.ppid
  if (process.env.npm_lifecycle_event)
    setInterval(() => {
      if (process.ppid !== parent) child.kill('SIGTERM')
    }, 500).unref()
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}

function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, ...options })
    child.on('error', (error) => fail(`${command} could not be started: ${error.message}`))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text, code = 1) {
  say(`attestry: ${text}`)
  process.exit(code)
}

const tasks = {
  start: { script: 'server/main.ts', dev: false },
  test: { script: 'scripts/test.ts', dev: true },
  verify: { script: 'scripts/verify.ts', dev: true },
  bench: { script: 'bench/run.ts', dev: true },
  openapi: { script: 'scripts/openapi.ts', dev: true },
  tables: { script: 'scripts/tables.ts', dev: true },
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, ...args] = process.argv.slice(2)
  const task = tasks[name]
  if (!task) fail(`launch.mjs takes one of ${Object.keys(tasks).join(', ')}`)
  await install(task)
  await handOver(task.script, args)
}
