import { Counter, Gauge } from 'prom-client'
import { isLocalOnly } from '../../config.ts'
import type { Context } from '../../context.ts'
import { SECOND } from '../../platform/clock.ts'
import { startPoller } from '../../platform/jobs/poller.ts'
import type { BackgroundActivity } from '../../platform/jobs/queue.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { ANY_DAY_PREFIX, DELIVERIES_DUE } from '../deliveries.ts'
import { type ResolveHost, resolveName } from '../target-rules.ts'
import { WEBHOOK_CHANGED, WEBHOOK_CREATED } from '../webhooks.ts'
import type { ReadScope } from './delivery-queue.ts'
import { findNextDueTimes, hasActiveWebhooks } from './due.ts'
import { openEndpointPool } from './endpoint-pool.ts'
import { openRecorder } from './recorder.ts'
import { loadHttpClient } from './sender.ts'

export interface DeliveryOptions
  extends Pick<
    Context,
    | 'config'
    | 'db'
    | 'clock'
    | 'log'
    | 'metrics'
    | 'vault'
    | 'listener'
    | 'connection'
    | 'queue'
    | 'mailboxes'
    | 'keyring'
  > {
  resolve?: ResolveHost
  /** Timeout of a whole attempt. */
  timeoutMs?: number
  /** Time for the attempts in flight when the process stops; then they are aborted and stay pending. */
  graceMs?: number
  /** PEM certificate to trust in addition to the system's authorities. */
  ca?: string
}

const REQUEST_TIMEOUT_MS = 10 * SECOND
const TICK_INTERVAL_MS = 100
/** Interval of the fallback poll for due deliveries without a notification, such as those of a process that crashed. */
const POLL_INTERVAL_MS = 1000
/** Poll interval while no endpoint is open, no delivery is due within this time, and no other process was active recently. */
const IDLE_POLL_INTERVAL_MS = 5000
/** Another process counts as active for this long after it was last found to hold a lock. */
const OTHER_PROCESS_ACTIVE_MS = 30 * SECOND
/** Maximum fraction of the time spent polling: slow polls run less often. */
const MAX_POLL_TIME_FRACTION = 0.02
const STOP_GRACE_MS = 5 * SECOND
const FLUSH_TIMEOUT_MS = 5 * SECOND

/**
 * Delivers events to webhook endpoints. Each endpoint has its own limit on attempts in flight (its window), so a slow endpoint
 * does not delay the others, and only a bounded number of its deliveries is in memory. An endpoint belongs to one process at a
 * time, which therefore needs no locks on single deliveries: it reads the due ones, sends them and records the outcomes.
 */
export function startDelivery(options: DeliveryOptions): BackgroundActivity {
  const { config, db, clock, log, listener, connection, keyring } = options
  const metrics = deliveryMetrics(options.metrics)
  const recorder = openRecorder(options)
  /** The next time at which a delivery is due, by webhook ID. */
  const dueTimes = new Map<string, number>()
  let stopped = false

  const pool = openEndpointPool({
    connection,
    deps: {
      ...options,
      recorder,
      rules: { allow: config.webhookAllow, onLoopback: isLocalOnly(config) },
      resolve: options.resolve ?? resolveName,
      timeoutMs: options.timeoutMs ?? REQUEST_TIMEOUT_MS,
      onAttempt: ({ error }) => metrics.attempts.inc({ outcome: error === null ? 'delivered' : 'failed' }),
      scheduleWake,
    },
    onConnected: () => poller.pollWithin(0),
  })
  void listener.on(DELIVERIES_DUE, (payload) => {
    if (payload === '') return poller.pollWithin(0) // after a reconnection: notifications may have been missed
    if (payload.startsWith(ANY_DAY_PREFIX)) wake(payload.slice(ANY_DAY_PREFIX.length), 'any')
    else wake(payload, 'recent')
  })
  void listener.on(WEBHOOK_CHANGED, (webhookId) => {
    if (webhookId === '') return pool.reloadAll()
    pool.reload(webhookId)
  })
  keyring.onPauseChanged(() => {
    pool.reloadAll()
    poller.pollWithin(0)
  })
  // The HTTP client is loaded only if there are webhooks.
  db.onCommitted(WEBHOOK_CREATED, () => void loadHttpClient())
  void hasActiveWebhooks(db.queries).then(
    (hasWebhooks) => void (hasWebhooks && loadHttpClient()),
    () => {},
  )
  const poller = startPoller({
    poll,
    onError: (error) => log.warn({ err: error }, 'polling due webhook deliveries failed, retrying'),
    retryDelayMs: POLL_INTERVAL_MS,
  })
  const tickTimer = setInterval(tick, TICK_INTERVAL_MS)
  tickTimer.unref()

  return { stop }

  function wake(webhookId: string, scope: ReadScope) {
    if (stopped) return
    dueTimes.delete(webhookId)
    pool.wake(webhookId, scope)
  }

  function scheduleWake(webhookId: string, dueAt: number) {
    dueTimes.set(webhookId, Math.min(dueAt, dueTimes.get(webhookId) ?? dueAt))
  }

  function tick() {
    const now = clock.now()
    for (const [webhookId, dueAt] of dueTimes) if (dueAt <= now) wake(webhookId, 'any')
    metrics.inFlight.set(pool.inFlight)
    void pool.closeIdle()
    void pool.claim()
  }

  async function poll(): Promise<number> {
    if (!pool.connected) return POLL_INTERVAL_MS // onConnected polls immediately
    const startedAt = performance.now()
    if (pool.size > 0) await keyring.ensureFresh() // a notification of a pause may have been lost
    const dueWebhooks = await findNextDueTimes(db.queries, keyring.pausedOrganisations())
    for (const { webhook_id, at } of dueWebhooks) scheduleWake(webhook_id, at.getTime())
    const durationMs = performance.now() - startedAt
    return Math.max(isIdle() ? IDLE_POLL_INTERVAL_MS : POLL_INTERVAL_MS, durationMs / MAX_POLL_TIME_FRACTION)
  }

  function isIdle() {
    const isAlone = performance.now() - pool.otherProcessSeenAt > OTHER_PROCESS_ACTIVE_MS
    const nextPollAt = clock.now() + IDLE_POLL_INTERVAL_MS
    return isAlone && pool.size === 0 && ![...dueTimes.values()].some((dueAt) => dueAt <= nextPollAt)
  }

  async function stop() {
    stopped = true
    clearInterval(tickTimer)
    void poller.stop()
    await pool.stop(options.graceMs ?? STOP_GRACE_MS)
    await recorder.flush(FLUSH_TIMEOUT_MS)
    await pool.close()
  }
}

function deliveryMetrics({ registry }: Metrics) {
  const attempts =
    (registry.getSingleMetric('attestry_webhook_attempts_total') as Counter<'outcome'>) ??
    new Counter({
      name: 'attestry_webhook_attempts_total',
      help: 'Attempts to deliver an event to a webhook endpoint, by outcome: delivered or failed.',
      labelNames: ['outcome'],
      registers: [registry],
    })
  const inFlight =
    (registry.getSingleMetric('attestry_webhook_attempts_in_flight') as Gauge) ??
    new Gauge({
      name: 'attestry_webhook_attempts_in_flight',
      help: 'Delivery attempts waiting for a response.',
      registers: [registry],
    })
  return { attempts, inFlight }
}
