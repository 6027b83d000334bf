import { type Keyring, openKeyring } from './access/keyring.ts'
import { type Limits, openLimits } from './access/rate-limits.ts'
import { type Catalogue, openCatalogue } from './catalogue/catalogue.ts'
import type { Config } from './config.ts'
import { type Ledger, openLedger } from './events/ledger.ts'
import { openPostOffice, type PostOffice } from './mail/smtp.ts'
import { type Clock, systemClock } from './platform/clock.ts'
import type { ConnectionSettings, Database } from './platform/database/database.ts'
import { type Listener, openListener } from './platform/database/listener.ts'
import { openQueue, type Queue, type Worker } from './platform/jobs/queue.ts'
import { createLog, type Log } from './platform/log.ts'
import { createMetrics, type Metrics, observePool, observeQueues } from './platform/metrics.ts'
import type { Vault } from './platform/vault.ts'
import { openWriter, type QuestionWriter } from './questions/questions.ts'
import { openStore } from './store.ts'
import { addressEvents } from './webhooks/deliveries.ts'
import { jobs } from './worker.ts'

/** What routes and jobs are given. */
export interface Context {
  config: Config
  log: Log
  metrics: Metrics
  clock: Clock
  connection: ConnectionSettings
  listener: Listener
  db: Database
  vault: Vault
  queue: Queue
  keyring: Keyring
  limits: Limits
  catalogue: Catalogue
  events: Ledger
  writer: QuestionWriter
  /** Undefined where no mail server is configured: mails are kept to be read here. */
  postOffice: PostOffice | undefined
  adminKey: string
}

export interface Overrides {
  clock?: Clock
  log?: Log
  /** Told of what takes time at the start, for a person to read. */
  progress?: (text: string) => void
  /** Registers what this process does with jobs; absent in one that only enqueues. */
  work?: (worker: Worker, context: Context) => void
}

export interface OpenedContext {
  context: Context
  close(): Promise<void>
}

/** Opens everything, in order; what was opened is closed again if a later step fails. */
export async function openContext(config: Config, overrides: Overrides = {}): Promise<OpenedContext> {
  const opened = new AsyncDisposableStack()
  try {
    const context = await openAll(config, overrides, opened)
    return { context, close: () => opened.disposeAsync() }
  } catch (error) {
    await opened.disposeAsync()
    throw error
  }
}

async function openAll(config: Config, overrides: Overrides, opened: AsyncDisposableStack): Promise<Context> {
  const log = overrides.log ?? createLog(config.logLevel)
  const clock = overrides.clock ?? systemClock
  const metrics = createMetrics()
  const base = await openStore(
    config,
    'owner',
    { log, clock, ...(overrides.progress ? { progress: overrides.progress } : {}) },
    opened,
  )
  const { db, connection } = base
  observePool(metrics, db.pool)
  const listener = await openListener(connection, log)
  opened.defer(() => listener.close())
  await db.listen(listener)
  const keyring = await openKeyring({ db, vault: base.vault, listener, log })
  opened.defer(() => keyring.close())
  const limits = await openLimits({ config, db, clock, log, metrics })
  opened.defer(() => limits.close())
  const catalogue = await openCatalogue({ db, listener, log })
  opened.defer(() => catalogue.close())
  const events = await openLedger({
    db,
    clock,
    log,
    listener,
    placing: (tx, placed) => addressEvents(tx, placed, clock),
  })
  opened.defer(() => events.close())
  const postOffice = config.smtpUrl === undefined ? undefined : await openPostOffice(config.smtpUrl)
  opened.defer(() => postOffice?.close())

  const context = {
    config,
    log,
    metrics,
    clock,
    listener,
    keyring,
    limits,
    catalogue,
    events,
    writer: openWriter(config.ai, { catalogue, clock, log }),
    postOffice,
    ...base,
  } as unknown as Context
  const work = overrides.work
  context.queue = await openQueue({
    connection,
    db,
    clock,
    log,
    metrics,
    jobs,
    ...(work ? { work: (worker: Worker) => work(worker, context) } : {}),
  })
  opened.defer(() => context.queue.stop())
  observeQueues(metrics, () => context.queue.depths())
  return context
}
