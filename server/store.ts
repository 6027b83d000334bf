import { loadBuiltIn } from './catalogue/built-in.ts'
import type { Config } from './config.ts'
import type { Clock } from './platform/clock.ts'
import { type ConnectionSettings, type Database, openDatabase } from './platform/database/database.ts'
import { migrate, readMigrations } from './platform/database/migrate.ts'
import { installQueue } from './platform/jobs/queue.ts'
import { openHome } from './platform/local-secrets.ts'
import type { Log } from './platform/log.ts'
import { startEmbeddedPostgres } from './platform/postgres/embedded.ts'
import { openVault, type Vault } from './platform/vault.ts'

export interface Store {
  connection: ConnectionSettings
  db: Database
  vault: Vault
  adminKey: string
  masterKey: Buffer
}

export interface StoreOptions {
  log: Log
  clock: Clock
  progress?: (text: string) => void
}

/** The migrated database and what opens its secrets: all that operator commands need. */
export async function openStore(
  config: Config,
  role: 'owner' | 'guest',
  options: StoreOptions,
  opened: AsyncDisposableStack,
): Promise<Store> {
  const { log, clock, progress } = options
  const home = config.databaseUrl ? undefined : await openHome(config.dataDir)
  const connection = await connect()
  const db = openDatabase({
    connection,
    name: `attestry ${role === 'owner' ? config.roles.join('+') : 'cli'} ${process.pid}`,
    onError: (error) => log.warn({ err: error }, 'a database connection broke'),
  })
  opened.defer(() => db.close())
  const applied = await migrate(db.pool, await readMigrations())
  if (applied.length > 0) {
    progress?.('Preparing the tables…')
    log.info({ applied }, 'migrations applied')
  }
  await installQueue(connection, log)
  await loadBuiltIn(db, clock, log)
  const masterKey = (config.masterKey ?? home?.masterKey)!
  const vault = await openVault(db, masterKey, clock)
  return { connection, db, vault, adminKey: (config.adminKey ?? home?.adminKey)!, masterKey }

  async function connect(): Promise<ConnectionSettings> {
    if (config.databaseUrl) return { connectionString: config.databaseUrl }
    const postgres = await startEmbeddedPostgres({
      dataDir: config.dataDir,
      role,
      log: ({ level, message, ...rest }) => log[level](rest, message),
      onLost(error) {
        log.fatal(error.message)
        process.exit(1)
      },
      ...(progress ? { progress } : {}),
    })
    opened.defer(() => postgres.stop())
    return postgres.connection
  }
}
