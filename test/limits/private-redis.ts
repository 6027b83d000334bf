import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { findFreePort } from '../support/free-port.ts'

/** A Redis server for tests and benchmarks. It runs on loopback in a temporary folder and stops with the process. */
export interface TestRedis {
  url: string
  pid: number
  /** Sends a signal to the server. `start` then starts an empty server at the same address. */
  kill(signal?: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  start(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Returns why Redis tests are skipped, or false if `redis-server` is installed. */
export function redisSkipReason(): string | false {
  try {
    execFileSync('redis-server', ['--version'])
    return false
  } catch {
    return 'redis-server is not installed; install Redis 7 to run these tests'
  }
}

export async function startRedis({ cluster = false } = {}): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-redis-'))
  const port = await findFreePort()
  const url = `redis://127.0.0.1:${port}`
  let server: ChildProcess
  const killOnExit = () => server.kill('SIGKILL')

  async function startServer() {
    const serverOptions = [
      '--port',
      `${port}`,
      '--bind',
      '127.0.0.1',
      '--dir',
      folder,
      '--save',
      '',
      '--appendonly',
      'no',
    ]
    if (cluster)
      serverOptions.push(
        '--cluster-enabled',
        'yes',
        '--cluster-announce-ip',
        '127.0.0.1',
        '--cluster-port',
        `${await findFreePort()}`,
      )
    server = spawn('redis-server', serverOptions, { stdio: 'ignore' })
    const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: 500 })
    client.on('error', () => {})
    await client.ping()
    if (cluster) {
      await client.cluster('ADDSLOTSRANGE' as 'ADDSLOTS', 0, 16_383)
      while (!String(await client.cluster('INFO')).includes('cluster_state:ok')) await pause(20)
    }
    client.disconnect()
  }

  process.once('exit', killOnExit)
  await startServer()
  const redis: TestRedis = {
    url,
    get pid() {
      return server.pid!
    },
    start: startServer,
    async kill(signal = 'SIGTERM') {
      server.kill(signal)
      if (signal === 'SIGSTOP' || signal === 'SIGCONT') return
      if (server.exitCode === null && server.signalCode === null) await new Promise((done) => server.once('exit', done))
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', killOnExit)
      await redis.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return redis
}
