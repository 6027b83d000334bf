import { loadBuiltInCatalogue } from './catalogue/built-in.ts'
import { type Config, readMasterKeyFile } from './config.ts'
import { registerHandlers } from './handlers.ts'
import { type MailboxHasher, openMailboxHasher } from './mail/mailbox-hash.ts'
import { openBlindIndex } from './people/identity/blind-index.ts'
import { applyRestoredErasures } from './people/restored-erasures.ts'
import type { Clock } from './platform/clock.ts'
import { type ConnectionSettings, connectionSettings } from './platform/database/connection-settings.ts'
import { type Database, openDatabase } from './platform/database/database.ts'
import { setVault } from './platform/database/database-vault.ts'
import { migrate, readMigrations } from './platform/database/migrate.ts'
import { waitForDatabase } from './platform/database/outage.ts'
import { requireOwnSessions, requireSameDatabase } from './platform/database/pooler-check.ts'
import { openReplica } from './platform/database/replica.ts'
import { requireFinishedRestore } from './platform/database/restore-marker.ts'
import { currentRole, grantRowAccess } from './platform/database/row-access.ts'
import { installQueue } from './platform/jobs/queue.ts'
import { loadLocalSecrets } from './platform/local-secrets.ts'
import type { Log } from './platform/log.ts'
import { openVault, type ReadMasterKey, type Vault } from './platform/vault.ts'
import { sealExistingRows } from './seal-existing.ts'
import { type StartedDatabase, startDatabase } from './start-database.ts'

export interface Store {
  /** Settings of PostgreSQL itself, or of a pooler in session mode: for locks, notifications and backups. */
  connection: ConnectionSettings
  /** Settings of a pooler in transaction mode, if there is one: for everything else. */
  pooledConnection: ConnectionSettings | undefined
  db: Database
  vault: Vault
  mailboxes: MailboxHasher
  adminKey: string
  masterKey: Buffer
  /** Number of people who were erased again, because the database was restored from a backup. */
  erasedAgain: number
}

interface Connections extends Pick<Store, 'connection' | 'pooledConnection'> {
  ownerConnection?: ConnectionSettings
  replicaConnection?: ConnectionSettings
}

/** How long a server that starts waits for a database that is starting or restarting. */
const DATABASE_WAIT_MS = 60_000

export interface StoreOptions {
  log: Log
  clock: Clock
  progress?: (text: string) => void
  /** Whether queries are added to the trace of their request or job. */
  traceQueries?: boolean
  /** The embedded database, if it was started before. The caller stops it if this function fails before it stops it. */
  startedDatabase?: StartedDatabase | undefined
}

/** Opens the database, applies migrations, and loads the encryption keys. Operator commands need nothing else. */
export async function openStore(
  config: Config,
  role: 'server' | 'command',
  options: StoreOptions,
  openedResources: AsyncDisposableStack,
): Promise<Store> {
  const { log, clock, progress, traceQueries = false, startedDatabase } = options
  registerHandlers()
  const localSecrets = config.databaseUrl ? undefined : await loadLocalSecrets(config.dataDir)
  const { connection, pooledConnection, ownerConnection, replicaConnection } = await connect()
  const name = `attestry ${role === 'server' ? config.roles.join('+') : 'cli'} ${process.pid}`
  const replica =
    replicaConnection && role === 'server' && config.roles.includes('api')
      ? openReplica({
          connection: replicaConnection,
          isPooled: pooledConnection !== undefined,
          primary: connection,
          name,
          maxConnections: config.databasePoolSize,
          clock,
          log,
        })
      : undefined
  const db = openDatabase({
    connection,
    pooledConnection,
    ...(ownerConnection ? { ownerConnection } : {}),
    maxConnections: config.databasePoolSize,
    traceQueries,
    replica,
    name,
    onError: (error) => log.warn({ err: error }, 'database connection lost, the pool will reconnect'),
  })
  openedResources.defer(() => db.close())
  if (role === 'server')
    await waitForDatabase(db, DATABASE_WAIT_MS, (text) => (progress ?? ((line) => log.warn(line)))(text))
  if (config.databaseUrl) await checkSessions()
  await db.asOwner(async (owner) => {
    await requireFinishedRestore(owner.pool)
    const appliedMigrations = await migrate(owner.pool, await readMigrations())
    if (appliedMigrations.length > 0) {
      progress?.('Migrating the database…')
      log.info({ applied: appliedMigrations }, 'migrations applied')
    }
    await installQueue(ownerConnection ?? connection, log)
    await grantRowAccess(owner, await currentRole(db))
  })
  await loadBuiltInCatalogue(db, clock, log)
  const readMasterKey: ReadMasterKey = async () => {
    if (config.masterKeyFile) return readMasterKeyFile(config.masterKeyFile)
    return config.masterKey ?? (await loadLocalSecrets(config.dataDir)).masterKey
  }
  const vault = await openVault(db, readMasterKey, clock)
  setVault(db, vault)
  const masterKey = await readMasterKey()
  await openBlindIndex(db, vault, clock)
  await sealExistingRows(db, log, progress)
  const mailboxes = await openMailboxHasher(db, vault, clock)
  const erasedAgain = await applyRestoredErasures(db, { clock, mailboxes, config }, progress)
  if (erasedAgain > 0) log.info({ people: erasedAgain }, 'people erased again after the restore of a backup')
  return {
    connection,
    pooledConnection,
    db,
    vault,
    mailboxes,
    adminKey: (config.adminKey ?? localSecrets?.adminKey)!,
    masterKey,
    erasedAgain,
  }

  /** Throws if a connection that needs a session of its own goes through a pooler in transaction mode. */
  async function checkSessions() {
    await requireOwnSessions({ variable: pooledConnection ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL', connection })
    if (!pooledConnection) return
    if (ownerConnection) await requireOwnSessions({ variable: 'DATABASE_OWNER_URL', connection: ownerConnection })
    await db.withSession((direct) => requireSameDatabase(db.pool, direct))
  }

  async function connect(): Promise<Connections> {
    const { databaseUrl, databaseDirectUrl, databaseOwnerUrl, databaseReplicaUrl } = config
    if (databaseUrl)
      return {
        connection: connectionSettings(databaseDirectUrl ?? databaseUrl),
        pooledConnection: databaseDirectUrl ? connectionSettings(databaseUrl) : undefined,
        ...(databaseReplicaUrl ? { replicaConnection: connectionSettings(databaseReplicaUrl) } : {}),
        ...(databaseOwnerUrl ? { ownerConnection: connectionSettings(databaseOwnerUrl) } : {}),
      }
    const started = startedDatabase ?? startDatabase(config.dataDir, role, progress)
    started.setLog(log)
    const postgres = await started.postgres
    openedResources.defer(() => postgres.stop())
    return {
      connection: postgres.serverConnection,
      pooledConnection: undefined,
      ownerConnection: postgres.connection,
    }
  }
}
