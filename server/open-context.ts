import packageJson from '../package.json' with { type: 'json' }
import { openKeyUses } from './access/key-uses.ts'
import { openKeyring } from './access/keyring.ts'
import { openRateLimits } from './access/rate-limits.ts'
import { observeBacklogs } from './backlogs.ts'
import { openCatalogue } from './catalogue/catalogue.ts'
import { openIndexFile } from './catalogue/index-file.ts'
import { openChannels } from './channels/adapters.ts'
import type { Config } from './config.ts'
import { findHead, findPublishedHead } from './console/audit-chain.ts'
import { openAuditLog } from './console/audit-log.ts'
import type { Context } from './context.ts'
import { openLedger } from './events/ledger.ts'
import { openOwnSkills } from './items/own-skills.ts'
import { openSmtp } from './mail/smtp.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import { openListener } from './platform/database/listener.ts'
import { Uploads } from './platform/http/uploads.ts'
import { type Job, openQueue, type Worker } from './platform/jobs/queue.ts'
import { createLog, type Log } from './platform/log.ts'
import {
  createMetrics,
  type Metrics,
  observeAuditChain,
  observePool,
  observeQueues,
  observeReplica,
} from './platform/metrics.ts'
import type { Telemetry } from './platform/telemetry/trace.ts'
import { loadBank } from './questions/bank/bank.ts'
import { openWriter } from './questions/open-writer.ts'
import type { StartedDatabase } from './start-database.ts'
import { openStore } from './store.ts'
import { openEmailDomains } from './verification/endorsements/email-domains.ts'
import { fanOut } from './webhooks/deliveries.ts'

export interface ContextOptions {
  /** Every kind of job; a process that only enqueues jobs needs them too. */
  jobs: Job<object>[]
  /** Registers job handlers, schedules and engines; omitted in a process that only enqueues jobs. */
  work?: (worker: Worker, context: Context) => void
  /** Whether `work` is called only by `context.queue.startWork()`, so that a server can listen first. */
  defersWork?: boolean
  clock?: Clock
  log?: Log
  /** Called with a message for the terminal when a slow part of the start begins. */
  progress?: (text: string) => void
  /** The embedded database, if it was started before; it is stopped with the context, or if opening it fails. */
  startedDatabase?: StartedDatabase | undefined
}

export interface OpenedContext {
  context: Context
  close(): Promise<void>
}

/** Opens every dependency in order. If a dependency fails to open, those opened before it are closed. */
export async function openContext(config: Config, options: ContextOptions): Promise<OpenedContext> {
  const openedResources = new AsyncDisposableStack()
  const { startedDatabase } = options
  if (startedDatabase)
    openedResources.defer(() =>
      startedDatabase.postgres.then(
        (postgres) => postgres.stop(),
        () => {},
      ),
    )
  try {
    const context = await openAll(config, options, openedResources)
    return { context, close: () => openedResources.disposeAsync() }
  } catch (error) {
    await openedResources.disposeAsync()
    throw error
  }
}

async function openAll(
  config: Config,
  options: ContextOptions,
  openedResources: AsyncDisposableStack,
): Promise<Context> {
  const {
    jobs,
    work,
    defersWork = false,
    clock = systemClock,
    log = createLog(config.logLevel),
    progress,
    startedDatabase,
  } = options
  const metrics = createMetrics()
  const telemetry = await openTelemetry(config, metrics, log)
  openedResources.defer(() => telemetry?.close())
  // Only routes search: a process that serves none does not need the index.
  const indexOnDemand = config.indexOnDemand || !config.roles.includes('api')
  // Several servers can use an external database, and not all of them have a folder.
  const indexFile = config.databaseUrl || indexOnDemand ? undefined : openIndexFile(config.dataDir, log)
  const emailDomains = await openEmailDomains(config.disposableDomainsFile)
  const { db, connection, pooledConnection, vault, mailboxes, adminKey } = await openStore(
    config,
    'server',
    { log, clock, traceQueries: telemetry !== undefined, startedDatabase, ...(progress ? { progress } : {}) },
    openedResources,
  )
  observePool(metrics, db.pool)
  if (db.replica) observeReplica(metrics, db.replica)
  const listener = await openListener(connection, log)
  openedResources.defer(() => listener.close())
  await db.listen(listener)
  const reloadVault = () => {
    vault.reload().catch((error) => log.error({ err: error }, 'loading the data keys failed; restart the process'))
  }
  await listener.on('data_keys_changed', reloadVault)
  reloadVault() // keys may have changed since the vault was opened
  const keyring = await openKeyring({ db, vault, listener, log })
  openedResources.defer(() => keyring.close())
  const keyUses = openKeyUses({ db, log })
  openedResources.defer(() => keyUses.close())
  const limits = await openRateLimits({ config, db, clock, log, metrics })
  openedResources.defer(() => limits.close())
  const bank = await loadBank()
  // With an AI writer, every skill can be measured.
  const isMeasurable = (skillNumber: number, retiredItems: number) =>
    config.ai !== undefined || bank.canMeasure(skillNumber, retiredItems)
  const catalogue = await openCatalogue({ db, listener, log, isMeasurable, indexOnDemand, indexFile })
  openedResources.defer(() => catalogue.close())
  const ownSkills = await openOwnSkills({ db, listener, log })
  const events = await openLedger({
    db,
    clock,
    log,
    metrics,
    listener,
    onSequenced: (tx, sequenced) => fanOut(tx, sequenced, clock),
  })
  openedResources.defer(() => events.close())
  const audit = openAuditLog({ db, clock, log })
  openedResources.defer(() => audit.close())
  observeAuditChain(metrics, {
    findHead: () => findHead(db.queries),
    findPublishedHead: () => findPublishedHead(db.queries),
  })
  const smtp = config.smtpUrl === undefined ? undefined : await openSmtp(config.smtpUrl)
  openedResources.defer(() => smtp?.close())
  const { channels, close: closeChannels } = openChannels({ config, smtp })
  openedResources.defer(closeChannels)
  const writer = openWriter(config.ai, { clock, log })

  const services = {
    config,
    log,
    metrics,
    telemetry,
    clock,
    connection,
    listener,
    db,
    vault,
    mailboxes,
    keyring,
    keyUses,
    limits,
    catalogue,
    ownSkills,
    events,
    audit,
    writer,
    smtp,
    channels,
    emailDomains,
    uploads: new Uploads(),
    adminKey,
  }
  const queue = await openQueue({
    connection: pooledConnection ?? connection,
    isPooled: pooledConnection !== undefined,
    ...(pooledConnection || connection.hosts ? { listener } : {}),
    db,
    clock,
    log,
    metrics,
    telemetry,
    jobs,
    defersWork,
    ...(work ? { work: (worker, queue) => work(worker, Object.assign(services, { queue })) } : {}),
  })
  openedResources.defer(() => queue.stop())
  observeQueues(metrics, () => queue.depths())
  observeBacklogs(metrics, services)
  return Object.assign(services, { queue })
}

/** Opens the export of traces and metrics if an endpoint is configured. Otherwise OpenTelemetry is not loaded. */
async function openTelemetry(config: Config, { registry }: Metrics, log: Log): Promise<Telemetry | undefined> {
  if (!config.telemetry) return undefined
  const telemetry = await import('./platform/telemetry/export.ts')
  return telemetry.openTelemetry({ settings: config.telemetry, version: packageJson.version, registry, log })
}
