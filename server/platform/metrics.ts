import type pg from 'pg'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { withDeadline } from './deadline.ts'
import { RequestTimes } from './request-times.ts'

/** Milliseconds that a figure from the database may take. */
const DATABASE_DEADLINE = 2000

export interface Metrics {
  registry: Registry
  requests: RequestTimes
  jobs: Histogram<'queue' | 'outcome'>
  /** Counts what an operator should be woken for, by name. */
  alarms: Counter<'alarm'>
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 })
  return {
    registry,
    requests: new RequestTimes(registry),
    jobs: new Histogram({
      name: 'attestry_job_duration_seconds',
      help: 'Jobs by queue and outcome, with the time they took.',
      labelNames: ['queue', 'outcome'],
      buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 90],
      registers: [registry],
    }),
    alarms: new Counter({
      name: 'attestry_alarms_total',
      help: 'Things an operator should look at, by name.',
      labelNames: ['alarm'],
      registers: [registry],
    }),
  }
}

export function observePool(metrics: Metrics, pool: pg.Pool): void {
  new Gauge({
    name: 'attestry_database_connections',
    help: 'Connections of the pool: open, idle, and callers waiting for one.',
    labelNames: ['state'],
    registers: [metrics.registry],
    collect() {
      this.set({ state: 'open' }, pool.totalCount)
      this.set({ state: 'idle' }, pool.idleCount)
      this.set({ state: 'waiting' }, pool.waitingCount)
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

/** Without the database these are left out: the other figures matter all the more then. */
export function observeQueues(
  metrics: Metrics,
  depths: () => Promise<QueueDepth[]>,
  deadline = DATABASE_DEADLINE,
): void {
  const registers = [metrics.registry]
  // Both are collected at the same time, and asked for once.
  let asked: Promise<QueueDepth[]> | undefined
  const current = () => {
    asked ??= withDeadline(depths(), deadline)
      .catch(() => [])
      .finally(() => {
        asked = undefined
      })
    return asked
  }
  new Gauge({
    name: 'attestry_queue_oldest_seconds',
    help: 'Age of the oldest job that could run now.',
    labelNames: ['queue'],
    registers,
    async collect() {
      const found = await current()
      this.reset()
      for (const { queue, oldestSeconds } of found) this.set({ queue }, oldestSeconds)
    },
  })
  new Gauge({
    name: 'attestry_queue_jobs',
    help: 'Jobs by queue and state: waiting, active, failed.',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      const found = await current()
      this.reset()
      for (const { queue, waiting, active, failed } of found) {
        this.set({ queue, state: 'waiting' }, waiting)
        this.set({ queue, state: 'active' }, active)
        this.set({ queue, state: 'failed' }, failed)
      }
    },
  })
}
