import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { setKeyLimits } from '../../server/access/key-limits.ts'
import { BUCKET_NAMES } from '../../server/access/limits/table.ts'
import { openDatabase } from '../../server/platform/database/database.ts'
import { startEmbeddedPostgres } from '../../server/platform/postgres/embedded.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { afterBenchmarks, type BenchmarkOptions } from './benchmark.ts'

const root = new URL('../..', import.meta.url).pathname

/** A server process on an embedded database. */
export interface BenchServer {
  url: string
  child: ChildProcess
  /** Milliseconds from the start of the process until /readyz returned 200. */
  readyAfterMs: number
  stop(): Promise<void>
}

export interface DeploymentKey {
  orgId: string
  keyId: string
  secret: string
}

export interface BenchDeployment {
  dataDir: string
  start(): Promise<BenchServer>
  /** Runs a CLI command and returns its JSON output. */
  cli<T>(...args: string[]): T
  /** Creates a LIVE partner key with rate limits that no benchmark reaches. */
  createKey(): Promise<DeploymentKey>
  remove(): void
}

export function createDeployment(): BenchDeployment {
  const dataDir = mkdtempSync(join(tmpdir(), 'attestry-bench-'))
  const serverEnv = { ...process.env, ...SERVER_ENV, DATA_DIR: dataDir, LOG_LEVEL: 'error' }
  const deployment: BenchDeployment = {
    dataDir,
    async start() {
      const port = await findFreePort()
      const startedAt = performance.now()
      const child = spawn('node', [join(root, 'scripts/launch.mjs'), 'start'], {
        env: { ...serverEnv, PORT: String(port), DRAIN_SECONDS: '0' },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const url = `http://127.0.0.1:${port}`
      while (!(await isReady(url))) {
        if (child.exitCode !== null) throw new Error(`the server exited with ${child.exitCode} before it was ready`)
        await pause(10)
      }
      return {
        url,
        child,
        readyAfterMs: performance.now() - startedAt,
        async stop() {
          const exited = once(child, 'exit')
          child.kill('SIGTERM')
          await exited
        },
      }
    },
    cli(...args) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'cli/main.ts'), ...args, '--json'], {
        env: serverEnv,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(stderr)
      return JSON.parse(stdout)
    },
    async createKey() {
      const { org_id } = deployment.cli<{ org_id: string }>('org', 'create', '--name', 'Bench')
      const key = deployment.cli<{ key_id: string; secret: string }>('key', 'create', '--org', org_id, '--mode', 'live')
      await raiseLimits(dataDir, key.key_id)
      return { orgId: org_id, keyId: key.key_id, secret: key.secret }
    },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  }
  return deployment
}

export interface RunningDeployment {
  deployment: BenchDeployment
  server: BenchServer
}

/** Trusts a local proxy, because some benchmarks send the visitor's address in `X-Forwarded-For`. */
const SERVER_ENV = { TRUST_PROXY: '127.0.0.1' }

let sharedDeployment: Promise<RunningDeployment> | undefined

/**
 * Runs a benchmark with a new server. With `short`, all benchmarks share one server, because starting it takes longer than
 * measuring.
 */
export async function withServer<T>(
  { short }: BenchmarkOptions,
  run: (running: RunningDeployment) => Promise<T>,
): Promise<T> {
  if (short) {
    if (!sharedDeployment) {
      sharedDeployment = startDeployment()
      afterBenchmarks(async () => stopDeployment(await sharedDeployment!))
    }
    return run(await sharedDeployment)
  }
  const running = await startDeployment()
  try {
    return await run(running)
  } finally {
    await stopDeployment(running)
  }
}

async function startDeployment(): Promise<RunningDeployment> {
  const deployment = createDeployment()
  return { deployment, server: await deployment.start() }
}

async function stopDeployment({ deployment, server }: RunningDeployment): Promise<void> {
  await server.stop()
  deployment.remove()
}

/** Raises all rate limits of a key in one transaction, which is faster than one CLI command per limit. */
async function raiseLimits(dataDir: string, keyId: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({ dataDir, role: 'command', log: () => {} })
  const db = openDatabase({ connection: postgres.connection, name: 'bench', onError: () => {} })
  try {
    const rates = { rate: 1_000_000, burst: 1_000_000, minute: 100_000_000, day: 100_000_000 }
    await db.transaction(async (tx) => {
      for (const bucket of BUCKET_NAMES) await setKeyLimits(tx, keyId, { bucket, rates })
    })
  } finally {
    await db.close()
    await postgres.stop()
  }
  await pause(1000) // the server applies new limits within a second
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    return false
  }
}

/** Returns the resident memory of the server process in megabytes, as reported by its metrics. */
export async function residentMegabytes(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)![1]) / 1024 / 1024
}
