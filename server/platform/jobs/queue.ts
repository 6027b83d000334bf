import { sql } from 'kysely'
import { fromKysely, PgBoss } from 'pg-boss'
import type { Clock } from '../clock.ts'
import { type ConnectionSettings, type Database, ResilientClient, type Tx } from '../database/database.ts'
import type { Log } from '../log.ts'
import type { Metrics, QueueDepth } from '../metrics.ts'
import { type Alarm, setAlarm, tellOfTime } from './delayed-jobs.ts'

/** A kind of job: its name, its payload's type, how it is retried. Declared once, beside the code that enqueues it. */
export interface Job<Payload extends object> {
  readonly name: string
  readonly options: JobOptions
  readonly payload?: Payload
}

export interface JobOptions {
  /** Runs after the first; 20 unless said otherwise. */
  retries?: number
  /** Seconds before the first retry; doubles from there, with jitter. */
  retryDelay?: number
  /** Longest wait between retries, in seconds. */
  retryDelayMax?: number
  /** A run that takes longer counts as failed; seconds. */
  timeout?: number
  /** How many run at once in one process. */
  concurrency?: number
  /** At most one waiting job a key; every enqueue then names its key. */
  unique?: boolean
}

export function defineJob<Payload extends object>(name: string, options: JobOptions = {}): Job<Payload> {
  return { name, options }
}

export interface EnqueueOptions {
  /** Not before this time, in epoch milliseconds. */
  at?: number
  /** For unique jobs: another one enqueued with the same key while the first still waits adds nothing. */
  key?: string
}

export type Handler<Payload> = (payload: Payload, signal: AbortSignal) => Promise<void>

export interface Queue {
  /** In the transaction of the change that asks for the job: either both are kept or neither. */
  enqueue<Payload extends object>(tx: Tx, job: Job<Payload>, payload: Payload, options?: EnqueueOptions): Promise<void>
  enqueueMany<Payload extends object>(
    tx: Tx,
    job: Job<Payload>,
    payloads: Payload[],
    options?: EnqueueOptions,
  ): Promise<void>
  depths(): Promise<QueueDepth[]>
  stop(): Promise<void>
}

/** Something that goes on by itself until it is stopped. */
export interface Running {
  stop(): Promise<void>
}

export interface Worker {
  /** What a process that works keeps doing beside its jobs, until the queue stops. */
  run(start: () => Running): void
  /** What this process does with the jobs of a kind. */
  handle<Payload extends object>(job: Job<Payload>, handler: Handler<Payload>): void
  /** Enqueues the job on a cron schedule in Indian time, once for all processes. */
  schedule(job: Job<Record<string, never>>, cron: string): void
}

export interface QueueOptions {
  connection: ConnectionSettings
  db: Database
  clock: Clock
  log: Log
  metrics: Metrics
  /** Every kind of job, also for processes that only enqueue. */
  jobs: Job<object>[]
  /** Registers handlers and schedules; absent in a process that only enqueues. */
  work?: (worker: Worker) => void
  /** Seconds that running jobs are given when the process stops, before they are handed back. */
  grace?: number
}

const SCHEMA = 'pgboss'
/** A process that dies without a word is noticed when its heartbeat stops for this long. */
const HEARTBEAT = 10
/** Seconds after which a worker that nobody wakes looks for a job by itself. */
const REST = 60
/** Milliseconds within which the failure of a job is written down. */
const RECORDED = 500

export async function installQueue(connection: ConnectionSettings, log: Log): Promise<void> {
  const boss = new PgBoss({ ...bossOptions(connection), supervise: false, schedule: false, migrate: true })
  boss.on('error', (error) => log.warn({ err: error }, 'queue'))
  await boss.start()
  await boss.stop({ graceful: false })
}

function bossOptions(connection: ConnectionSettings) {
  return { ...connection, schema: SCHEMA, max: 4, application_name: 'attestry-queue', Client: ResilientClient }
}

export async function openQueue(options: QueueOptions): Promise<Queue> {
  const { connection, db, clock, log, metrics, jobs, work, grace = 20 } = options
  const boss = new PgBoss({
    ...bossOptions(connection),
    migrate: false,
    createSchema: false,
    supervise: work !== undefined,
    schedule: work !== undefined,
    useListenNotify: work !== undefined,
    superviseIntervalSeconds: 60, // the alarm asks for it as soon as a job is lost
    monitorIntervalSeconds: 5,
    flowIntervalSeconds: 3600, // jobs that wait for other jobs: there are none
    cronMonitorIntervalSeconds: 30,
    cronWorkerIntervalSeconds: 15,
  })
  boss.on('error', (error) => log.warn({ err: error }, 'queue'))
  boss.on('warning', (warning) => log.warn({ warning }, 'queue'))
  await boss.start()
  const stopping = new AbortController()
  const running: Running[] = []
  const workers = new Map<string, string[]>()
  let alarm: Alarm | undefined
  await Promise.all(jobs.map((job) => declare(boss, job)))
  if (work) await startWork()

  return {
    enqueue: (tx, job, payload, when) => send(tx, job, [payload], when),
    enqueueMany: send,
    depths: () => depths(db),
    async stop() {
      stopping.abort()
      await Promise.all(running.map((each) => each.stop()))
      await alarm?.stop()
      await boss.stop({ graceful: true, timeout: grace * 1000, close: true })
      if (work) await db.transaction(async (tx) => tellOfTime(tx)).catch(() => {}) // of what was handed back
    },
  }

  async function send<Payload extends object>(
    tx: Tx,
    job: Job<Payload>,
    payloads: Payload[],
    when: EnqueueOptions = {},
  ) {
    if (payloads.length === 0) return
    if (job.options.unique !== (when.key !== undefined ? true : undefined))
      throw new Error(`${job.name}: a key goes with a unique job, and only with one`)
    const startAfter = when.at === undefined ? undefined : Math.max(0, (when.at - clock.now()) / 1000)
    const rows = payloads.map((data) => ({
      data,
      ...(startAfter ? { startAfter } : {}),
      ...(when.key ? { singletonKey: when.key } : {}),
    }))
    await boss.insert(job.name, rows, { db: fromKysely(tx) })
    if (startAfter) tellOfTime(tx)
  }

  async function startWork() {
    const handled: Promise<unknown>[] = []
    work!({
      run(start) {
        running.push(start())
      },
      handle(job, handler) {
        for (let place = 0; place < (job.options.concurrency ?? 2); place++) handled.push(takeUp(job, handler as never))
      },
      schedule(job, cron) {
        handled.push(boss.schedule(job.name, cron, {}, { tz: 'Asia/Kolkata' }))
      },
    })
    await Promise.all(handled)
    alarm = setAlarm({ db, log, due: wake, lost: (queue) => boss.supervise(queue) })
  }

  async function takeUp(job: Job<object>, handler: Handler<object>) {
    const id: string = await boss.work(
      job.name,
      {
        batchSize: 1,
        pollingIntervalSeconds: 1,
        notifyPollingIntervalSeconds: REST, // new jobs are announced, and the alarm tells of those put off
        heartbeatRefreshSeconds: HEARTBEAT / 3,
      },
      async ([run]: { id: string; data: unknown; signal: AbortSignal }[]) => {
        const end = metrics.jobs.startTimer({ queue: job.name })
        try {
          await handler(run!.data as object, AbortSignal.any([run!.signal, stopping.signal]))
          end({ outcome: 'done' })
        } catch (error) {
          end({ outcome: 'failed' })
          log.warn({ err: error, queue: job.name, job: run!.id }, 'job failed')
          alarm?.look(RECORDED)
          throw error
        } finally {
          boss.notifyWorker(id) // there may be another one, that came while all were busy
        }
      },
    )
    workers.set(job.name, [...(workers.get(job.name) ?? []), id])
  }

  function wake(queue: string) {
    for (const id of workers.get(queue) ?? []) boss.notifyWorker(id)
  }
}

async function declare(boss: PgBoss, { name, options }: Job<object>) {
  const settings = {
    retryLimit: options.retries ?? 20,
    retryDelay: options.retryDelay ?? 1,
    retryBackoff: true,
    retryDelayMax: options.retryDelayMax ?? 600,
    expireInSeconds: options.timeout ?? 300,
    heartbeatSeconds: HEARTBEAT,
    retentionSeconds: 90 * 86_400,
    deleteAfterSeconds: 86_400,
    notify: true,
  }
  if (await boss.getQueue(name)) await boss.updateQueue(name, settings)
  else await boss.createQueue(name, { ...settings, policy: options.unique ? 'short' : 'standard' })
}

async function depths(db: Database): Promise<QueueDepth[]> {
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
