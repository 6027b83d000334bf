import { sql } from 'kysely'
import { fromKysely, PgBoss } from 'pg-boss'
import type { Clock } from '../clock.ts'
import type { ConnectionSettings } from '../database/connection-settings.ts'
import type { Database, Tx } from '../database/database.ts'
import { DatabaseClient } from '../database/database-client.ts'
import type { Listener } from '../database/listener.ts'
import { runWithScope } from '../database/tenant-scope.ts'
import { PooledClient } from '../database/transaction-pooling.ts'
import type { Log } from '../log.ts'
import type { Metrics, QueueDepth } from '../metrics.ts'
import type { Telemetry } from '../telemetry/trace.ts'
import { type DelayedJobWatcher, notifyDelayedJob, watchDelayedJobs } from './delayed-jobs.ts'

/** A kind of job: its name, the type of its payload and how it is retried. Defined once, next to the code that enqueues it. */
export interface Job<Payload extends object> {
  readonly name: string
  readonly options: JobOptions
  readonly payload?: Payload
}

export interface JobOptions {
  /** Maximum number of retries; 20 by default. */
  retries?: number
  /** Delay before the first retry; doubles with each retry, with jitter. */
  retryDelaySeconds?: number
  maxRetryDelaySeconds?: number
  /** A run that takes longer counts as failed. */
  timeoutSeconds?: number
  /** Number of jobs that one process runs at the same time. */
  concurrency?: number
  /** Whether at most one job per key can be waiting; `enqueue` then requires a key. */
  unique?: boolean
}

export function defineJob<Payload extends object>(name: string, options: JobOptions = {}): Job<Payload> {
  return { name, options }
}

interface EnqueueOptions {
  /** Earliest start, in milliseconds since 1970. */
  at?: number
  /** Key of a unique job, which is not enqueued if a job with the same key is waiting. */
  key?: string
}

type Handler<Payload> = (payload: Payload, signal: AbortSignal) => Promise<void>

export interface Queue {
  /** Enqueues a job in the transaction of the change that needs it: both are committed or neither. */
  enqueue<Payload extends object>(tx: Tx, job: Job<Payload>, payload: Payload, options?: EnqueueOptions): Promise<void>
  enqueueMany<Payload extends object>(
    tx: Tx,
    job: Job<Payload>,
    payloads: Payload[],
    options?: EnqueueOptions,
  ): Promise<void>
  depths(): Promise<QueueDepth[]>
  /** Starts the work, if it was deferred. */
  startWork(): Promise<void>
  stop(): Promise<void>
}

/** A background activity that runs until it is stopped. */
export interface BackgroundActivity {
  stop(): Promise<void>
}

export interface Worker {
  /** Starts a background activity that runs until the queue stops. */
  run(start: () => BackgroundActivity): void
  /** Registers the handler for a kind of job. */
  handle<Payload extends object>(job: Job<Payload>, handler: Handler<Payload>): void
  /** Enqueues the job on a cron schedule in Indian time, once across all processes. */
  schedule(job: Job<Record<string, never>>, cron: string): void
}

export interface QueueOptions {
  connection: ConnectionSettings
  /** Whether `connection` goes through a pooler in transaction mode. */
  isPooled?: boolean
  /**
   * Receives the notifications of the queue if its own connection cannot: it does not work through a pooler in transaction mode, and does
   * not follow the primary of several database servers.
   */
  listener?: Listener
  db: Database
  clock: Clock
  log: Log
  metrics: Metrics
  telemetry?: Telemetry | undefined
  /** Every kind of job, including those that this process only enqueues. */
  jobs: Job<object>[]
  /** Registers handlers and schedules; absent in a process that only enqueues. */
  work?: (worker: Worker, queue: Queue) => void
  /** Whether the work starts only with `startWork`. */
  defersWork?: boolean
  /** Time that running jobs get to finish when the process stops; then they are released for another process. */
  graceSeconds?: number
}

const DATABASE_SCHEMA = 'pgboss'
/** Maximum number of connections of the queue, except the one that a worker listens on. */
export const QUEUE_CONNECTIONS = 4
/** If the process of a job sends no heartbeat for this long, the job is lost and another process runs it again. */
const HEARTBEAT_SECONDS = 10
/** Interval of the fallback poll of an idle worker, in case a notification was lost. */
const IDLE_POLL_SECONDS = 60
/** Time within which pg-boss stores that a job has failed, and the time of its retry. */
const FAILURE_STORED_WITHIN_MS = 500

export async function installQueue(connection: ConnectionSettings, log: Log): Promise<void> {
  const boss = new PgBoss({ ...bossOptions(connection), supervise: false, schedule: false, migrate: true })
  boss.on('error', (error) => log.warn({ err: error }, 'job queue error during installation'))
  await boss.start()
  await boss.stop({ graceful: false })
}

function bossOptions(connection: ConnectionSettings, Client = DatabaseClient) {
  return {
    ...connection,
    schema: DATABASE_SCHEMA,
    max: QUEUE_CONNECTIONS,
    application_name: 'attestry-queue',
    Client,
  }
}

export async function openQueue(options: QueueOptions): Promise<Queue> {
  const {
    connection,
    isPooled = false,
    listener,
    db,
    clock,
    log,
    metrics,
    telemetry,
    jobs,
    work,
    defersWork = false,
    graceSeconds = 20,
  } = options
  const stopController = new AbortController()
  const boss = new PgBoss({
    ...bossOptions(connection, isPooled ? PooledClient : DatabaseClient),
    migrate: false,
    createSchema: false,
    supervise: work !== undefined,
    schedule: work !== undefined,
    useListenNotify: work !== undefined,
    superviseIntervalSeconds: 60, // run earlier by watchDelayedJobs when a job is lost
    monitorIntervalSeconds: 5,
    flowIntervalSeconds: 3600, // for jobs that depend on other jobs, which we do not use
    cronMonitorIntervalSeconds: 30,
    cronWorkerIntervalSeconds: 15,
  })
  boss.on('error', (error) => {
    if (!stopController.signal.aborted) log.warn({ err: error }, 'job queue error, retrying on the next poll')
  })
  boss.on('warning', (warning) => log.warn({ warning }, 'job queue warning'))
  if (listener) boss.getDb().listen = listenWith(listener)
  await boss.start()
  const runningActivities: BackgroundActivity[] = []
  const workerIdsByQueue = new Map<string, string[]>()
  let delayedJobs: DelayedJobWatcher | undefined
  await declareQueues(boss, jobs)
  const queue: Queue = {
    enqueue: (tx, job, payload, enqueueOptions) => enqueueAll(tx, job, [payload], enqueueOptions),
    enqueueMany: enqueueAll,
    depths: () => readDepths(db),
    startWork: startWorkers,
    async stop() {
      stopController.abort()
      await Promise.all(runningActivities.map((activity) => activity.stop()))
      await delayedJobs?.stop()
      await boss.stop({ graceful: true, timeout: graceSeconds * 1000, close: true })
      if (work) await db.transaction(async (tx) => notifyDelayedJob(tx)).catch(() => {}) // the jobs that boss.stop released are due
    },
  }
  if (!defersWork) await startWorkers()
  return queue

  async function enqueueAll<Payload extends object>(
    tx: Tx,
    job: Job<Payload>,
    payloads: Payload[],
    { at, key }: EnqueueOptions = {},
  ) {
    if (payloads.length === 0) return
    if ((job.options.unique ?? false) !== (key !== undefined))
      throw new Error(`${job.name}: a key is required for a unique job, and not allowed for any other`)
    const startAfter = at === undefined ? undefined : Math.max(0, (at - clock.now()) / 1000)
    const rows = payloads.map((data) => ({
      data,
      ...(startAfter ? { startAfter } : {}),
      ...(key ? { singletonKey: key } : {}),
    }))
    await boss.insert(job.name, rows, { db: fromKysely(tx) })
    if (startAfter) notifyDelayedJob(tx)
  }

  async function startWorkers() {
    if (!work) return
    const registrations: Promise<unknown>[] = []
    const worker: Worker = {
      run(start) {
        runningActivities.push(start())
      },
      handle(job, handler) {
        for (let i = 0; i < (job.options.concurrency ?? 2); i++) registrations.push(startWorker(job, handler as never))
      },
      schedule(job, cron) {
        registrations.push(boss.schedule(job.name, cron, {}, { tz: 'Asia/Kolkata' }))
      },
    }
    work(worker, queue)
    await Promise.all(registrations)
    delayedJobs = watchDelayedJobs({ db, log, onDue: wakeWorkers, onLost: (queue) => boss.supervise(queue) })
  }

  async function startWorker(job: Job<object>, handler: Handler<object>) {
    const id: string = await boss.work(
      job.name,
      {
        batchSize: 1,
        pollingIntervalSeconds: 1,
        notifyPollingIntervalSeconds: IDLE_POLL_SECONDS, // new and delayed jobs wake the worker earlier
        heartbeatRefreshSeconds: HEARTBEAT_SECONDS / 3,
      },
      async ([run]: { id: string; data: unknown; signal: AbortSignal }[]) => {
        const endTimer = metrics.jobs.startTimer({ queue: job.name })
        const trace = telemetry?.startJob(job.name)
        const runJob = () => handler(run!.data as object, AbortSignal.any([run!.signal, stopController.signal]))
        try {
          await (trace ? runWithScope({ scope: undefined, trace }, runJob) : runJob())
          endTimer({ outcome: 'done' })
          trace?.end({ failed: false })
        } catch (error) {
          endTimer({ outcome: 'failed' })
          trace?.end({ failed: true })
          log.warn(
            { err: error, queue: job.name, job: run!.id, trace_id: trace?.traceId },
            'job failed, retrying if it has retries left',
          )
          delayedJobs?.check(FAILURE_STORED_WITHIN_MS)
          throw error
        } finally {
          boss.notifyWorker(id) // a job may have arrived while all workers were busy
        }
      },
    )
    workerIdsByQueue.set(job.name, [...(workerIdsByQueue.get(job.name) ?? []), id])
  }

  function wakeWorkers(queue: string) {
    for (const id of workerIdsByQueue.get(queue) ?? []) boss.notifyWorker(id)
  }
}

/** Returns the function that subscribes pg-boss to its notifications, on the connection of the listener. */
function listenWith(listener: Listener): NonNullable<ReturnType<PgBoss['getDb']>['listen']> {
  return async (channel, onNotification, onReconnect) => {
    let isClosed = false
    await listener.on(channel, (payload) => {
      if (isClosed) return
      if (payload === '') onReconnect()
      else onNotification(payload)
    })
    onReconnect()
    return {
      async close() {
        isClosed = true
      },
    }
  }
}

/** Creates the queues that do not exist, and updates those whose settings have changed. */
async function declareQueues(boss: PgBoss, jobs: Job<object>[]): Promise<void> {
  const existingQueues = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  await Promise.all(
    jobs.map(async ({ name, options }) => {
      const settings = settingsOf(options)
      const queue = existingQueues.get(name)
      if (!queue) await boss.createQueue(name, { ...settings, policy: options.unique ? 'short' : 'standard' })
      else if (Object.entries(settings).some(([key, value]) => queue[key as keyof typeof queue] !== value))
        await boss.updateQueue(name, settings)
    }),
  )
}

function settingsOf(options: JobOptions) {
  return {
    retryLimit: options.retries ?? 20,
    retryDelay: options.retryDelaySeconds ?? 1,
    retryBackoff: true,
    retryDelayMax: options.maxRetryDelaySeconds ?? 600,
    expireInSeconds: options.timeoutSeconds ?? 300,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    retentionSeconds: 90 * 86_400,
    deleteAfterSeconds: 86_400,
    notify: true,
  }
}

async function readDepths(db: Database): Promise<QueueDepth[]> {
  const { rows } = await sql<QueueDepth>`
    select q.name as queue,
      count(j.id) filter (where j.state in ('created', 'retry') and j.start_after <= now())::int as waiting,
      count(j.id) filter (where j.state = 'active')::int as active,
      count(j.id) filter (where j.state = 'failed')::int as failed,
      coalesce(extract(epoch from now() - min(j.start_after) filter (where j.state in ('created', 'retry') and j.start_after <= now())), 0)::float as "oldestSeconds"
    from pgboss.queue q left join pgboss.job j on j.name = q.name
    where q.name not like '\\_\\_%'
    group by q.name order by q.name`.execute(db.queries)
  return rows
}
