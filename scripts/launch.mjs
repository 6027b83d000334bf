// Installs missing packages, then runs a script with the Node version that the project installs from npm. Runs on Node 20 or later
// before anything is installed, and is therefore plain JavaScript without dependencies.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundlesFolder, bundlesOption } from './modules/bundled-packages.mjs'
import { programFolder } from './modules/bundled-program.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** The first Node version that runs TypeScript without a flag. */
const MIN_NODE_VERSION = [22, 18]
// By default V8 reserves three times 16 MB for young objects; an idle server needs much less.
const NODE_FLAGS = ['--max-semi-space-size=8']
// By default glibc keeps a mostly empty heap for each of a dozen threads.
const MEMORY_ENV = { MALLOC_ARENA_MAX: '1' }
const PROGRESS_INTERVAL_MS = 10_000
const PARENT_CHECK_INTERVAL_MS = 500
const BUNDLING_DELAY_MS = 15_000

/**
 * Installs the packages of package-lock.json if node_modules lacks one or has another version, and bundles some of them. After an
 * installation, it also bundles the programs.
 */
export async function install({ dev }) {
  const isPackageMissing = findMissingPackage({ dev }) !== undefined
  if (isPackageMissing) await installPackages({ dev })
  if (!existsSync(bundlesFolder())) await writeBundles('bundled-packages.mjs')
  if (isPackageMissing && !existsSync(programFolder())) await writeBundles('bundled-program.mjs')
}

async function writeBundles(script) {
  const code = await run(nodeBinary(), [join(root, 'scripts/modules', script)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (code !== 0) print('bundling modules failed; see the output above. Starting without bundles, which takes longer')
}

/** Bundles the programs for the next start if their sources have changed, when the server has started, and with the lowest priority. */
function bundleForNextStart() {
  setTimeout(() => {
    if (existsSync(programFolder())) return
    const child = spawn(nodeBinary(), [join(root, 'scripts/modules/bundled-program.mjs')], { stdio: 'ignore' })
    child.on('error', () => {}) // the next start loads the modules one by one
    child.on('spawn', () => {
      try {
        setPriority(child.pid, constants.priority.PRIORITY_LOW)
      } catch {
        // Some sandboxes forbid it. The server runs nevertheless.
      }
    })
    process.on('exit', () => child.kill())
  }, BUNDLING_DELAY_MS)
}

async function installPackages({ dev }) {
  print('Installing packages (only on the first run and after updates)…')
  const startedAt = Date.now()
  const seconds = () => Math.round((Date.now() - startedAt) / 1000)
  const progress = setInterval(() => print(`  still installing after ${seconds()} s`), PROGRESS_INTERVAL_MS)
  const npm = process.env.npm_execpath
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...(dev ? [] : ['--omit=dev'])]
  const [command, commandArgs] = npm?.endsWith('.js') ? [process.execPath, [npm, ...args]] : ['npm', args]
  const code = await run(command, commandArgs, { stdio: ['ignore', 'inherit', 'inherit'] })
  clearInterval(progress)
  if (code !== 0) fail('installing packages failed; see the npm output above', code)
  print(`Installed packages in ${seconds()} s.`)
}

/** Returns the path of the first package that is missing or has another version than in the lock file, or undefined. */
function findMissingPackage({ dev }) {
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  const installedLock = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(installedLock)) return 'node_modules'
  const installed = JSON.parse(readFileSync(installedLock, 'utf8')).packages
  return Object.entries(locked).find(([path, entry]) => {
    if (path === '' || entry.link || !path.startsWith('node_modules/')) return false
    if (entry.dev && !dev) return false
    // npm does not install the packages of other platforms.
    if ((entry.optional || entry.devOptional) && !installed[path]) return false
    return installed[path]?.version !== entry.version
  })?.[0]
}

/**
 * Returns the Node binary that npm installed, so that every machine runs the same version. On a platform for which npm has none,
 * returns the current Node.
 */
function nodeBinary() {
  const bundled = join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node')
  if (existsSync(bundled)) return bundled
  const [major, minor] = process.versions.node.split('.').map(Number)
  const [minMajor, minMinor] = MIN_NODE_VERSION
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return process.execPath
  return fail(
    `Node.js ${MIN_NODE_VERSION.join('.')} or later is required on ${process.platform}-${process.arch}; this is ${process.versions.node}`,
  )
}

/**
 * Runs a script of this project and exits with its exit code. Forwards signals; the script's IPC channel closes if this
 * process is killed.
 */
export function runScript(script, args, env = {}) {
  // Without "--", Node.js reads --env-file from the arguments of the script too, and stops if the file does not exist.
  const flags = existsSync(bundlesFolder()) ? [...NODE_FLAGS, bundlesOption()] : NODE_FLAGS
  const child = spawn(nodeBinary(), [...flags, '--', join(root, script), ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
      ...MEMORY_ENV,
      ...process.env,
      ...env,
    },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // If npm is killed, it cannot forward the signal. Therefore the script is stopped when npm is no longer the parent of this process.
  // Without npm, the parent is not watched, because a shell may exit before the processes it started.
  const parent = process.ppid
  if (process.env.npm_lifecycle_event)
    setInterval(() => {
      if (process.ppid !== parent) child.kill('SIGTERM')
    }, PARENT_CHECK_INTERVAL_MS).unref()
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}

function run(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, ...options })
    child.on('error', (error) => fail(`starting ${command} failed: ${error.message}`))
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function print(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text, code = 1) {
  print(`attestry: ${text}`)
  process.exit(code)
}

const tasks = {
  start: { script: 'server/main.ts', dev: false },
  test: { script: 'scripts/test.ts', dev: true },
  check: { script: 'scripts/check.ts', dev: true },
  verify: { script: 'scripts/verify.ts', dev: true },
  bench: { script: 'bench/run.ts', dev: true, printsHelp: true },
  openapi: { script: 'scripts/openapi.ts', dev: true },
  'api-types': { script: 'scripts/api-types.ts', dev: true },
  sdks: { script: 'scripts/sdks.ts', dev: true },
  collections: { script: 'scripts/collections.ts', dev: true },
  tables: { script: 'scripts/tables.ts', dev: true },
  'env-template': { script: 'scripts/env-template.ts', dev: false },
  release: { script: 'scripts/release.ts', dev: false },
  'tag-release': { script: 'scripts/tag-release.ts', dev: true, printsHelp: true },
  'first-webhook': { script: 'scripts/first-webhook.ts', dev: false },
  screenshots: { script: 'scripts/screenshots.ts', dev: true },
  sbom: { script: 'scripts/sbom.ts', dev: true },
  'scan-dependencies': { script: 'scripts/scan-dependencies.ts', dev: true },
}

/** Returns the comment in which a script describes its options: its first block of lines that start with "//". */
function helpOf(script) {
  const lines = readFileSync(join(root, script), 'utf8').split('\n')
  const start = lines.findIndex((line) => line.startsWith('// '))
  const length = lines.slice(start).findIndex((line) => !line.startsWith('//'))
  return lines.slice(start, start + length).map((line) => line.replace(/^\/\/ ?/, ''))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, ...args] = process.argv.slice(2)
  const task = tasks[name]
  if (!task) fail(`unknown task ${name}; expected one of ${Object.keys(tasks).join(', ')}`)
  if (args.includes('--help') && !task.printsHelp) {
    console.log(helpOf(task.script).join('\n'))
    process.exit(0)
  }
  await install(task)
  runScript(task.script, args)
  if (name === 'start') bundleForNextStart()
}
