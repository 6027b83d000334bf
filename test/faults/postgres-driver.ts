// For the tests of the embedded PostgreSQL: folders, processes and rows, all gone when the test is.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../server/platform/postgres/embedded.ts'

export interface ProcessOrder {
  dataDir: string
  role: 'owner' | 'guest'
  machine?: EmbeddedPostgresOptions['machine']
  /** How many connections write rows all the time. */
  writers?: number
}

export const isRoot = process.getuid?.() === 0

/** The ways in which PostgreSQL can be run by the user that runs the tests. */
export const ways: { name: string; machine: NonNullable<EmbeddedPostgresOptions['machine']> }[] = isRoot
  ? [
      { name: 'root in a user namespace', machine: { rootMethod: 'unshare' } },
      { name: 'root as another user', machine: { rootMethod: 'setuid' } },
    ]
  : [{ name: 'an ordinary user', machine: {} }]

const script = fileURLToPath(new URL('postgres-process.ts', import.meta.url))
// Where root may not make namespaces it is mostly in a container, and there it may not look into the processes of others either.
const containerCaps = ['chown', 'dac_override', 'fowner', 'fsetid', 'kill', 'setgid', 'setuid', 'setpcap']
const likeInContainer = ['setpriv', `--bounding-set=-all,${containerCaps.map((cap) => `+${cap}`).join()}`, '--']

/** A folder that others may enter, like the system's own temporary one. */
export function temporaryFolder(t: TestContext, base = tmpdir()): string {
  const folder = mkdtempSync(join(base, 'attestry-pg-'))
  chmodSync(folder, 0o755)
  t.after(() => {
    for (const pid of processesBelow(folder)) process.kill(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

const prepared = new Map<string, Promise<string>>()

/** A data folder as it is after a first start and a stop; made once and copied from then on, which is quicker. */
export async function preparedDataDir(t: TestContext, way: (typeof ways)[number]): Promise<string> {
  const original = prepared.get(way.name) ?? prepareDataDir(way)
  prepared.set(way.name, original)
  const dataDir = join(temporaryFolder(t), 'data')
  const copy = spawn('cp', ['-a', await original, dataDir], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(copy, 'exit')
  if (code !== 0) throw new Error('the prepared data folder cannot be copied')
  return dataDir
}

async function prepareDataDir({ machine }: (typeof ways)[number]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-pg-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const dataDir = join(folder, 'data')
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'owner', machine, log: () => {} })
  await postgres.stop()
  return dataDir
}

/** Living processes that work in or below the folder. */
export function processesBelow(folder: string): number[] {
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

export function dataFolder(dataDir: string): string {
  return join(dataDir, 'postgres', 'data')
}

export class Process {
  readonly child: ChildProcess
  readonly events: { event: string; [key: string]: unknown }[] = []
  readonly written: string[] = []
  readonly ended: Promise<unknown>

  constructor(t: TestContext, order: ProcessOrder) {
    const command = [process.execPath, script, JSON.stringify(order)]
    if (order.machine?.rootMethod === 'setuid') command.unshift(...likeInContainer)
    this.child = spawn(command[0]!, command.slice(1), {
      stdio: ['pipe', 'pipe', 'inherit'],
      // Like a program in a terminal: in a process group of its own.
      detached: true,
    })
    // Not the process's end but that of its output: what it said last counts too.
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

  /** The connection once it is up; throws what it says instead. */
  async up(): Promise<EmbeddedPostgres['connection']> {
    await until(() => this.event('up') ?? this.event('failed') ?? this.child.exitCode !== null, 60_000)
    const up = this.event('up')
    if (!up) throw new Error(String(this.event('failed')?.message ?? `ended with ${this.child.exitCode}`))
    return up.connection as EmbeddedPostgres['connection']
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

/** Waits for something to become true and fails loudly when it does not. */
export async function until<T>(condition: () => T | Promise<T>, withinMs = 20_000): Promise<NonNullable<T>> {
  for (const end = performance.now() + withinMs; performance.now() < end; await pause(10)) {
    const value = await condition()
    if (value) return value
  }
  throw new Error(`not within ${withinMs} ms: ${condition}`)
}

/** One statement over a connection of its own. */
export async function query(
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

/** The same, again and again until it is answered. */
export function eventually(
  connection: EmbeddedPostgres['connection'],
  text: string,
): Promise<Record<string, unknown>[]> {
  return until(() => query(connection, text).catch(() => undefined))
}
