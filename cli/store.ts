import { existsSync } from 'node:fs'
import type { Config } from '../server/config.ts'
import { readConfig } from '../server/config.ts'
import { type Clock, systemClock } from '../server/platform/clock.ts'
import { createLog } from '../server/platform/log.ts'
import { openStore, type Store } from '../server/store.ts'

export interface CliStore extends Store {
  config: Config
  clock: Clock
}

/** Opens the deployment's database for one command, whether or not a server is running. */
export async function withStore<T>(action: (store: CliStore) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  if (!config.databaseUrl && !existsSync(config.dataDir)) {
    if (!process.env.DATA_DIR)
      throw new Error(
        `there is no deployment in ${config.dataDir}: run this command in the folder in which you started the server, or set DATA_DIR or DATABASE_URL. "npm start" creates a deployment`,
      )
    console.error(`No deployment found in DATA_DIR (${config.dataDir}); creating one.`)
  }
  console.error(`Database: ${describeDatabase(config)}`)
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

/** Returns the database of a deployment for messages, without user name and password. */
function describeDatabase({ databaseUrl, dataDir }: Config): string {
  if (!databaseUrl) return `embedded, ${dataDir}`
  const url = URL.parse(databaseUrl)
  return url ? `${url.host}${url.pathname}` : 'DATABASE_URL'
}
