import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { chooseLauncher } from '../../server/platform/postgres/launch.ts'
import { findFreePort } from '../support/free-port.ts'
import { serverUrl, type TestCluster } from './cluster.ts'

/** Smaller than the pool of a server, so that its connections take turns on the sessions of PostgreSQL. */
const DEFAULT_POOL_SIZE = 5

export const PGBOUNCER_ADVICE = 'Install it with: apt-get install pgbouncer'

export function isPgBouncerAvailable(): boolean {
  return spawnSync('pgbouncer', ['--version'], { env: pathWithSystemPrograms(), stdio: 'ignore' }).status === 0
}

function pathWithSystemPrograms(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` }
}

/** Starts PgBouncer in transaction mode in front of a PostgreSQL server of the tests. Its URL is that of the maintenance database. */
export async function startPgBouncer(
  clusterUrl: string,
  { poolSize = DEFAULT_POOL_SIZE }: { poolSize?: number } = {},
): Promise<TestCluster & { pid: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'attestry-pgbouncer-'))
  const { hostname, port, searchParams } = new URL(clusterUrl)
  const poolerPort = await findFreePort()
  const users = [new URL(clusterUrl), new URL(serverUrl(clusterUrl))]
  await writeFile(
    join(folder, 'users.txt'),
    users.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`).join(''),
  )
  const settings = {
    ...(await readSettingsOfGuide()),
    listen_addr: '127.0.0.1',
    listen_port: poolerPort,
    unix_socket_dir: '',
    auth_file: 'users.txt',
    default_pool_size: poolSize,
    server_idle_timeout: 5, // most databases of the tests are used for a few seconds
  }
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    [
      `[databases]\n* = host=${searchParams.get('host') ?? hostname} port=${port}\n\n[pgbouncer]`,
      ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
    ].join('\n'),
  )
  // PgBouncer does not run as root, and must be the user who may open the socket of PostgreSQL.
  const launcher = chooseLauncher({})
  await chmod(folder, 0o755)
  if (launcher.owner) await chown(folder, launcher.owner.uid, launcher.owner.gid)
  const server = launcher.start('pgbouncer', ['--quiet', 'pgbouncer.ini'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    endWithParent: true,
  })
  const url = new URL(clusterUrl)
  url.host = `127.0.0.1:${poolerPort}`
  url.search = ''
  await waitUntilReady(url.href)
  return {
    url: url.href,
    pid: server.pid!,
    async stop() {
      const exited = once(server, 'exit')
      server.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the settings of the example in the guide, which are thereby tested. */
async function readSettingsOfGuide(): Promise<Record<string, string>> {
  const guide = await readFile(new URL('../../docs/guides/run-in-production.md', import.meta.url), 'utf8')
  const [, lines] = /^\[pgbouncer\]\n(.*?)^```$/ms.exec(guide)!
  return Object.fromEntries([...lines!.matchAll(/^(\w+) = (.+)$/gm)].map(([, name, value]) => [name, value]))
}

async function waitUntilReady(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      return await client.end()
    } catch (error) {
      if (tries === 100) throw error
      await pause(100)
    }
  }
}

/** Returns the URL of the same database and role through a pooler. */
export function pooledUrl(url: string, poolerUrl: string): string {
  const newUrl = new URL(url)
  newUrl.host = new URL(poolerUrl).host
  newUrl.search = ''
  return newUrl.href
}
