import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'

/** A Redis of one's own for tests and benches: on loopback, in a temporary folder, gone with the process. */
export interface PrivateRedis {
  url: string
  pid: number
  /** Ends the server, as gently as asked; `start` brings it back, empty, at the same address. */
  kill(signal?: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  start(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Why tests of Redis are skipped on this machine, or false where they run. */
export function noRedis(): string | false {
  try {
    execFileSync('redis-server', ['--version'])
    return false
  } catch {
    return 'redis-server is not on this machine: install Redis 7 to run these tests'
  }
}

export async function startRedis({ cluster = false } = {}): Promise<PrivateRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'attestry-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let server: ChildProcess
  const endWithUs = () => server.kill('SIGKILL')

  async function start() {
    const options = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no']
    if (cluster)
      options.push(
        '--cluster-enabled',
        'yes',
        '--cluster-announce-ip',
        '127.0.0.1',
        '--cluster-port',
        `${await freePort()}`,
      )
    server = spawn('redis-server', options, { stdio: 'ignore' })
    const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: 500 })
    client.on('error', () => {})
    await client.ping()
    if (cluster) {
      await client.cluster('ADDSLOTSRANGE' as 'ADDSLOTS', 0, 16_383)
      while (!String(await client.cluster('INFO')).includes('cluster_state:ok')) await pause(20)
    }
    client.disconnect()
  }

  process.once('exit', endWithUs)
  await start()
  const redis: PrivateRedis = {
    url,
    get pid() {
      return server.pid!
    },
    start,
    async kill(signal = 'SIGTERM') {
      server.kill(signal)
      if (signal === 'SIGSTOP' || signal === 'SIGCONT') return
      if (server.exitCode === null && server.signalCode === null) await new Promise((done) => server.once('exit', done))
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', endWithUs)
      await redis.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return redis
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  return port
}
