import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findBinaries } from '../../server/platform/postgres/binaries.ts'
import {
  clusterPlace,
  createCluster,
  prepareStart,
  readPassword,
  superuser,
} from '../../server/platform/postgres/cluster.ts'
import { chooseLaunch } from '../../server/platform/postgres/launch.ts'
import { administer, type TestCluster } from './cluster.ts'

/** A PostgreSQL as an operator would bring one: reached over TCP, by a user who may make databases and nothing more. */
export async function startExternal(): Promise<TestCluster> {
  const dataDir = await realpath(await mkdtemp(join(tmpdir(), 'attestry-external-')))
  const place = clusterPlace(dataDir)
  const launch = chooseLaunch({})
  const binaries = findBinaries(launch, { privateFolder: dataDir, sharedFolders: ['/var/tmp', tmpdir()] })
  await createCluster(place, binaries, launch)
  prepareStart(place, launch)
  const port = await freePort()
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'max_connections=200']
  const server = launch.start(
    binaries.postgres,
    ['-D', launch.here(place.data), ...settings.flatMap((setting) => ['-c', setting])],
    {
      cwd: place.data,
      stdio: 'ignore',
      endWithUs: true,
    },
  )
  const password = randomBytes(12).toString('hex')
  await makeOperator(`postgres://${superuser}:${readPassword(place)}@127.0.0.1:${port}/postgres`, password)
  return {
    url: `postgres://operator:${password}@127.0.0.1:${port}/operator`,
    async stop() {
      const gone = once(server, 'exit')
      server.kill('SIGINT')
      await gone
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function makeOperator(url: string, password: string) {
  for (let tries = 0; ; tries++) {
    try {
      return await administer(
        url,
        `create role operator login createdb password '${password}'`,
        'create database operator owner operator',
      )
    } catch (error) {
      if (tries === 100) throw error
      await pause(100)
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
    server.on('error', reject)
  })
}
