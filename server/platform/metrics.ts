import type pg from 'pg'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { coalesce } from './coalesce.ts'
import type { Replica } from './database/replica.ts'
import { withDeadline } from './deadline.ts'

const DATABASE_TIMEOUT_MS = 2000

export interface Metrics {
  registry: Registry
  requests: Histogram<'method' | 'route' | 'status'>
  jobs: Histogram<'queue' | 'outcome'>
  /** Counts conditions that need the attention of an operator, by name. */
  alarms: Counter<'alarm'>
  /** Time of the last backup that this process made, by its location. Absent until then. */
  lastBackup: Gauge<'location'>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 })
  return {
    registry,
    requests: new Histogram({
      name: 'attestry_http_request_duration_seconds',
      help: 'Duration of HTTP requests by method, route and status.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    }),
    jobs: new Histogram({
      name: 'attestry_job_duration_seconds',
      help: 'Duration of jobs by queue and outcome.',
      labelNames: ['queue', 'outcome'],
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 90],
      registers: [registry],
    }),
    alarms: new Counter({
      name: 'attestry_alarms_total',
      help: 'Number of detected conditions that need the attention of an operator, by name.',
      labelNames: ['alarm'],
      registers: [registry],
    }),
    lastBackup: new Gauge({
      name: 'attestry_last_backup_timestamp_seconds',
      help: 'Time of the last scheduled backup that this process made, in seconds since 1970.',
      labelNames: ['location'],
      registers: [registry],
    }),
  }
}

export function observePool(metrics: Metrics, pool: pg.Pool): void {
  new Gauge({
    name: 'attestry_database_connections',
    help: 'Open and idle connections of the database pool, and callers waiting for a connection.',
    labelNames: ['state'],
    registers: [metrics.registry],
    collect() {
      this.set({ state: 'open' }, pool.totalCount)
      this.set({ state: 'idle' }, pool.idleCount)
      this.set({ state: 'waiting' }, pool.waitingCount)
    },
  })
}

/** Registers metrics of the replica. Its lag is omitted while it cannot be used. */
export function observeReplica(metrics: Metrics, replica: Replica): void {
  replica.onUnavailable(() => metrics.alarms.inc({ alarm: 'replica_unavailable' }))
  const registers = [metrics.registry]
  const readLag = coalesce(() => withDeadline(replica.readLag(), DATABASE_TIMEOUT_MS).catch(() => undefined))
  new Gauge({
    name: 'attestry_replica_lag_bytes',
    help: 'Write-ahead log that the replica has not applied yet, in bytes. Absent while the replica cannot be used.',
    registers,
    async collect() {
      const lag = await readLag()
      this.reset()
      if (lag) this.set(lag.bytes)
      else this.remove()
    },
  })
  new Gauge({
    name: 'attestry_replica_lag_seconds',
    help: 'Age of the last transaction that the replica has applied, in seconds; 0 if it has applied all. Absent while the replica cannot be used.',
    registers,
    async collect() {
      const lag = await readLag()
      this.reset()
      if (lag) this.set(lag.seconds)
      else this.remove()
    },
  })
  new Gauge({
    name: 'attestry_replica_up',
    help: 'Whether the replica can be used (1) or not (0).',
    registers,
    async collect() {
      this.set((await readLag()) ? 1 : 0)
    },
  })
  new Counter({
    name: 'attestry_replica_reads_total',
    help: 'Requests that may read from the replica, by outcome: used, behind, unavailable, or failed there and repeated on the primary.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      for (const [outcome, count] of Object.entries(replica.outcomes)) this.inc({ outcome }, count)
    },
  })
}

export interface QueueDepth {
  queue: string
  waiting: number
  active: number
  failed: number
  oldestSeconds: number
}

/** Registers metrics of the job queues. They are omitted while the database does not respond, so that the others stay available. */
export function observeQueues(
  metrics: Metrics,
  readDepths: () => Promise<QueueDepth[]>,
  timeoutMs = DATABASE_TIMEOUT_MS,
): void {
  const registers = [metrics.registry]
  // Both metrics are collected at the same time and share one query.
  const currentDepths = coalesce(() => withDeadline(readDepths(), timeoutMs).catch((): QueueDepth[] => []))
  new Gauge({
    name: 'attestry_queue_oldest_seconds',
    help: 'Age in seconds of the oldest job of each queue that is ready to run.',
    labelNames: ['queue'],
    registers,
    async collect() {
      const depths = await currentDepths()
      this.reset()
      for (const { queue, oldestSeconds } of depths) this.set({ queue }, oldestSeconds)
    },
  })
  new Gauge({
    name: 'attestry_queue_jobs',
    help: 'Number of jobs by queue and state (waiting, active or failed).',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      const depths = await currentDepths()
      this.reset()
      for (const { queue, waiting, active, failed } of depths) {
        this.set({ queue, state: 'waiting' }, waiting)
        this.set({ queue, state: 'active' }, active)
        this.set({ queue, state: 'failed' }, failed)
      }
    },
  })
}

interface AuditHead {
  position: number
  hash: string
}

interface AuditChainReader {
  findHead(): Promise<AuditHead | undefined>
  findPublishedHead(): Promise<AuditHead | undefined>
}

/** Registers the length of the audit chain and its published head, which changes once per day. */
export function observeAuditChain(metrics: Metrics, chain: AuditChainReader, timeoutMs = DATABASE_TIMEOUT_MS): void {
  const registers = [metrics.registry]
  const read = (find: () => Promise<AuditHead | undefined>) =>
    withDeadline(find(), timeoutMs).catch((): AuditHead | undefined => undefined)
  new Gauge({
    name: 'attestry_audit_entries',
    help: 'Number of entries in the hash chain of the audit log.',
    registers,
    async collect() {
      const head = await read(chain.findHead)
      this.reset()
      if (head) this.set(head.position)
    },
  })
  new Gauge({
    name: 'attestry_audit_head_info',
    help: 'Position and hash of the audit entry that was published last, as labels. The value is always 1.',
    labelNames: ['position', 'hash'],
    registers,
    async collect() {
      const head = await read(chain.findPublishedHead)
      this.reset()
      if (head) this.set({ position: head.position, hash: head.hash }, 1)
    },
  })
}
