// Helpers for tests of the embedded PostgreSQL. Folders and processes are removed when the test ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../server/platform/postgres/embedded.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { until } from '../support/until.ts'

export interface ProcessOptions {
  dataDir: string
  role: 'server' | 'command'
  machine?: EmbeddedPostgresOptions['machine']
  /** Number of connections that write rows continuously. */
  writers?: number
}

export const isRoot = process.getuid?.() === 0

/** The launch methods with which the current user can run PostgreSQL. */
export const launchMethods: { name: string; machine: NonNullable<EmbeddedPostgresOptions['machine']> }[] = isRoot
  ? [
      { name: 'root in a user namespace', machine: { rootMethod: 'unshare' } },
      { name: 'root as another user', machine: { rootMethod: 'setuid' } },
    ]
  : [{ name: 'an ordinary user', machine: {} }]

const processScript = fileURLToPath(new URL('postgres-process.ts', import.meta.url))
// A root user that may not create namespaces is usually in a container, where it may not inspect processes of other users either.
const containerCapabilities = ['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid', 'setpcap']
const containerCommand = [
  'setpriv',
  `--bounding-set=-all,${containerCapabilities.map((capability) => `+${capability}`).join()}`,
  '--',
]

/** Creates a temporary folder that other users may enter. */
export function createTemporaryFolder(t: Cleanup, base = tmpdir()): string {
  const folder = mkdtempSync(join(base, 'attestry-pg-'))
  chmodSync(folder, 0o755)
  t.after(() => {
    for (const pid of findProcessesIn(folder)) killIfRunning(pid)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // The process has ended since it was found.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const preparedDataDirs = new Map<string, Promise<string>>()

/** Returns a copy of a data folder on which PostgreSQL has been started and stopped once; faster than initialising a new one. */
export async function copyPreparedDataDir(t: Cleanup, method: (typeof launchMethods)[number]): Promise<string> {
  const originalDataDir = preparedDataDirs.get(method.name) ?? prepareDataDir(method)
  preparedDataDirs.set(method.name, originalDataDir)
  const dataDir = join(createTemporaryFolder(t), 'data')
  const copy = spawn('cp', ['-a', await originalDataDir, dataDir], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(copy, 'exit')
  if (code !== 0) throw new Error('copying the prepared data folder failed')
  return dataDir
}

async function prepareDataDir({ machine }: (typeof launchMethods)[number]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-pg-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'server', machine, log: () => {} })
  await postgres.stop()
  return dataDir
}

/** Returns the pids of the processes whose working directory is in the folder. */
export function findProcessesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && `${readlinkSync(`/proc/${pid}/cwd`)}/`.startsWith(`${folder}/`)
      } catch {
        return false
      }
    })
}

export function postgresDataFolder(dataDir: string): string {
  return join(dataDir, 'postgres', 'data')
}

/** A process that runs the embedded PostgreSQL, controlled through its standard input and output. */
export class PostgresProcess {
  readonly child: ChildProcess
  readonly events: { event: string; [key: string]: unknown }[] = []
  readonly written: string[] = []
  readonly ended: Promise<unknown>

  constructor(t: Cleanup, options: ProcessOptions) {
    const command = [process.execPath, processScript, JSON.stringify(options)]
    if (options.machine?.rootMethod === 'setuid') command.unshift(...containerCommand)
    this.child = spawn(command[0]!, command.slice(1), {
      stdio: ['pipe', 'pipe', 'inherit'],
      // In a new process group, like a program in a terminal.
      detached: true,
    })
    // Wait for the end of the output, not of the process, so that the last events are included.
    this.ended = once(this.child, 'close')
    this.child.stdin?.on('error', () => {})
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      const event = JSON.parse(line)
      if (event.event === 'written') this.written.push(event.id)
      else this.events.push(event)
    })
    t.after(async () => {
      this.child.kill('SIGKILL')
      await this.ended
    })
  }

  get pid(): number {
    return this.child.pid!
  }

  event(name: string) {
    return this.events.find(({ event }) => event === name)
  }

  /** Waits until PostgreSQL is up and returns its connection; throws if starting it failed. */
  async up(): Promise<EmbeddedPostgres['connection']> {
    await until(() => this.event('up') ?? this.event('failed') ?? this.child.exitCode !== null, 60_000)
    const upEvent = this.event('up')
    if (!upEvent) throw new Error(String(this.event('failed')?.message ?? `exited with ${this.child.exitCode}`))
    return upEvent.connection as EmbeddedPostgres['connection']
  }

  async stop(): Promise<void> {
    this.child.stdin?.write('stop\n')
    await this.ended
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.ended
  }
}

/** Runs one SQL statement on a new connection and returns its rows. */
export async function runQuery(
  connection: EmbeddedPostgres['connection'],
  text: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connection)
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end().catch(() => {})
  }
}

/** Runs one SQL statement, retrying until it succeeds. */
export function runQueryUntilSuccess(
  connection: EmbeddedPostgres['connection'],
  text: string,
): Promise<Record<string, unknown>[]> {
  return until(() => runQuery(connection, text).catch(() => undefined))
}
