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
  if (!config.databaseUrl && !existsSync(config.dataDir))
    console.error(
      `No deployment found in ${config.dataDir}; creating one. If the server stores its data elsewhere, set DATA_DIR to that folder.`,
    )
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
