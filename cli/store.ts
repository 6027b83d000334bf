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

/** Opens the deployment's database for one command, beside a running server or on its own. */
export async function withStore<T>(work: (store: CliStore) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  if (!config.databaseUrl && !existsSync(config.dataDir))
    console.error(
      `There is no deployment in ${config.dataDir} yet: making one. For a server that keeps its data elsewhere, set DATA_DIR as it does.`,
    )
  const log = createLog('warn', { write: (line) => process.stderr.write(line) })
  await using opened = new AsyncDisposableStack()
  // A database that this command started must not stay behind when somebody loses patience.
  const interrupted = () => void opened.disposeAsync().finally(() => process.exit(130))
  process.once('SIGINT', interrupted)
  opened.defer(() => void process.off('SIGINT', interrupted))
  const store = await openStore(
    config,
    'guest',
    { log, clock: systemClock, progress: (text) => console.error(text) },
    opened,
  )
  return await work({ ...store, config, clock: systemClock })
}
