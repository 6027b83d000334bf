import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { findBinaries } from '../../server/platform/postgres/binaries.ts'
import {
  clusterPaths,
  createCluster,
  prepareStart,
  readPassword,
  superuser,
} from '../../server/platform/postgres/cluster.ts'
import { chooseLauncher } from '../../server/platform/postgres/launch.ts'
import { findFreePort } from '../support/free-port.ts'
import { chooseDataFolder, runStatements, type TestCluster } from './cluster.ts'

/** Starts a PostgreSQL server as an operator would: reached over TCP with a password, by a user who may only create databases. */
export async function startExternalPostgres(): Promise<TestCluster> {
  const dataDir = await realpath(await mkdtemp(join(await chooseDataFolder(), 'attestry-external-')))
  const paths = clusterPaths(dataDir)
  const launcher = chooseLauncher({})
  const binaries = findBinaries(launcher, { privateFolder: dataDir, sharedFolders: ['/var/tmp', tmpdir()] })
  await createCluster(paths, binaries, launcher)
  prepareStart(paths, launcher)
  const port = await findFreePort()
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'fsync=off',
    'full_page_writes=off',
  ]
  const server = launcher.start(
    binaries.postgres,
    ['-D', launcher.programPath(paths.data), ...settings.flatMap((setting) => ['-c', setting])],
    {
      cwd: paths.data,
      stdio: 'ignore',
      endWithParent: true,
    },
  )
  const password = randomBytes(12).toString('hex')
  await createOperator(`postgres://${superuser}:${readPassword(paths)}@127.0.0.1:${port}/postgres`, password)
  return {
    url: `postgres://operator:${password}@127.0.0.1:${port}/operator`,
    async stop() {
      const exited = once(server, 'exit')
      server.kill('SIGINT')
      await exited
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function createOperator(url: string, password: string) {
  for (let tries = 0; ; tries++) {
    try {
      return await runStatements(
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
