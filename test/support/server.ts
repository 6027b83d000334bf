import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { partnerCommands } from '../../cli/partner-commands.ts'
import { identifyProcess } from '../../server/platform/postgres/processes.ts'
import { ADMIN_KEY, cloneDatabase } from './app.ts'
import type { Cleanup } from './cleanup.ts'
import { nodeOptions } from './node-options.ts'

const root = new URL('../..', import.meta.url).pathname

/** A data folder and an environment for real server and CLI processes, on an embedded database or on that of the test run. */
export interface Deployment {
  dataDir: string
  env: NodeJS.ProcessEnv
  /** Runs a CLI command until it exits. */
  cli(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>
  json<T = any>(...args: string[]): Promise<T>
  /** Starts a server process. With `group`, it starts in a new process group, like a program in a terminal. */
  serve(options?: { env?: NodeJS.ProcessEnv; command?: string[]; group?: boolean }): Promise<ServerProcess>
}

interface ServerProcess {
  url: string
  child: ChildProcess
  output(): string
  /** Returns the pid of the embedded database. */
  postmaster(): Promise<number>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Commands that do not need a database. */
const COMMANDS_WITHOUT_DATABASE = [
  ...Object.keys(partnerCommands),
  'init',
  'migrate',
  'restore',
  'completion',
  '--help',
]

/**
 * Creates a deployment on a new database of the PostgreSQL server of the test run, with the tables and the catalogue. With `embedded`, it has an
 * embedded database of its own instead, which the first server or command creates: this takes some seconds.
 */
export async function createDeployment(t: Cleanup, { embedded = false } = {}): Promise<Deployment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'attestry-e2e-'))
  const runningProcesses = new Set<ChildProcess>()
  const database = embedded ? undefined : await cloneDatabase()
  t.after(async () => {
    for (const child of runningProcesses) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM')
        await Promise.race([once(child, 'exit'), pause(20_000).then(() => child.kill('SIGKILL'))])
      }
    }
    await database?.drop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const {
    TEST_POSTGRES_URL: _url,
    TEST_EXTERNAL: _external,
    TEST_POOLER_URL: _pooler,
    NODE_OPTIONS: _options,
    NODE_TEST_CONTEXT: _context,
    ...inherited
  } = process.env
  const env: NodeJS.ProcessEnv = {
    ...inherited,
    DATA_DIR: dataDir,
    PORT: '0',
    DRAIN_SECONDS: '0',
    CATALOGUE_INDEX_ON_DEMAND: 'true', // most tests search no skills, and building the index takes a second
    ATTESTRY_PROFILE: join(dataDir, 'no-profile.json'),
    ...(database
      ? {
          DATABASE_URL: database.url,
          DATABASE_OWNER_URL: database.ownerUrl,
          ADMIN_API_KEY: ADMIN_KEY,
          MASTER_KEY: randomBytes(32).toString('base64'),
        }
      : {}),
  }

  const deployment: Deployment = {
    dataDir,
    env,
    async cli(...args) {
      const needsDatabase = !args.some((argument) => COMMANDS_WITHOUT_DATABASE.includes(argument))
      if (embedded && needsDatabase && !existsSync(join(dataDir, 'postgres'))) await deployment.cli('migrate')
      const child = spawn(process.execPath, [...nodeOptions, join(root, 'cli/main.ts'), ...args], { env, cwd: root })
      const [stdout, stderr] = [collectOutput(child.stdout), collectOutput(child.stderr)]
      const [code] = (await once(child, 'close')) as [number | null]
      return { code: code ?? 1, stdout: stdout(), stderr: stderr() }
    },
    async json(...args) {
      const { code, stdout, stderr } = await deployment.cli(...args, '--json')
      if (code !== 0) throw new Error(`attestry ${args.join(' ')}: ${stderr}`)
      return JSON.parse(stdout)
    },
    async serve({
      env: extraEnv = {},
      command = [process.execPath, ...nodeOptions, join(root, 'server/main.ts')],
      group = false,
    } = {}) {
      const child = spawn(command[0]!, command.slice(1), {
        env: { ...env, ...extraEnv },
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: group,
      })
      runningProcesses.add(child)
      const [stdout, stderr] = [collectOutput(child.stdout!), collectOutput(child.stderr!)]
      const output = () => stdout() + stderr()
      const url = await waitForUrl(child, stdout, output)
      return {
        url,
        child,
        output,
        async postmaster() {
          return Number((await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')[0])
        },
        async stop(signal = 'SIGTERM') {
          if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
          const exited = once(child, 'exit') as Promise<[number | null]>
          child.kill(signal)
          return (await exited)[0]
        },
      }
    },
  }
  return deployment
}

function collectOutput(stream: NodeJS.ReadableStream): () => string {
  let text = ''
  stream.on('data', (chunk) => {
    text += chunk
  })
  return () => text
}

async function waitForUrl(child: ChildProcess, stdout: () => string, output: () => string): Promise<string> {
  for (let tries = 0; tries < 1200; tries++) {
    const url = /Attestry is running at (\S+)/.exec(stdout())?.[1]
    if (url) return url
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the server exited with ${child.exitCode ?? child.signalCode}:\n${output()}`)
    await pause(50)
  }
  throw new Error(`the server did not start:\n${output()}`)
}

/** Returns whether the process runs. A zombie process, which its new parent has not reaped yet, does not count as running. */
export function isAlive(pid: number): boolean {
  return identifyProcess(pid) !== undefined
}
