import type { Config } from '../server/config.ts'
import { readConfig } from '../server/config.ts'
import { type Clock, systemClock } from '../server/platform/clock.ts'
import { connectionSettings } from '../server/platform/database/connection-settings.ts'
import { createLog } from '../server/platform/log.ts'
import { clusterExists, clusterPaths } from '../server/platform/postgres/cluster.ts'
import { openStore, type Store } from '../server/store.ts'

export interface CliStore extends Store {
  config: Config
  clock: Clock
}

interface CliStoreOptions {
  /** Whether the command may create an embedded database if there is none. */
  createsDatabase?: boolean
}

/** Opens the deployment's database for one command, whether or not a server is running. */
export async function withStore<T>(
  action: (store: CliStore) => Promise<T>,
  { createsDatabase = false }: CliStoreOptions = {},
): Promise<T> {
  const config = readConfig(process.env)
  if (!createsDatabase) requireDatabase(config)
  nameDatabase(config)
  const log = createLog('warn', { write: (line) => process.stderr.write(line) })
  await using opened = new AsyncDisposableStack()
  // Ctrl-C must also stop a database that this command started.
  const onInterrupt = () => void opened.disposeAsync().finally(() => process.exit(130))
  process.once('SIGINT', onInterrupt)
  opened.defer(() => void process.off('SIGINT', onInterrupt))
  const store = await openStore(
    config,
    'command',
    { log, clock: systemClock, progress: (text) => console.error(text) },
    opened,
  )
  return await action({ ...store, config, clock: systemClock })
}

/**
 * Throws if no external database is configured and DATA_DIR contains no embedded one. A command in the wrong folder, or in a shell without
 * the configuration, would otherwise create a database and work on it.
 */
export function requireDatabase(config: Config): void {
  if (config.databaseUrl || clusterExists(clusterPaths(config.dataDir))) return
  throw new Error(
    `there is no database in ${config.dataDir}, and DATABASE_URL is not set: run this command in the folder with the server's attestry.env, name the file with --env-file, or set DATABASE_URL or DATA_DIR. To create a new deployment, run "attestry init" and start the server`,
  )
}

/** Prints the database that a command works on to standard error. */
export function nameDatabase(config: Config): void {
  console.error(`Database: ${describeDatabase(config)}`)
}

/** Returns the database of a deployment for messages, without user name and password. */
export function describeDatabase({ databaseUrl, dataDir }: Config): string {
  if (!databaseUrl) return `embedded, ${dataDir}`
  const { connectionString, hosts } = connectionSettings(databaseUrl)
  const url = URL.parse(connectionString!)
  if (!url) return 'DATABASE_URL'
  return `${hosts ? hosts.map(({ host, port }) => `${host}:${port}`).join(',') : url.host}${url.pathname}`
}
