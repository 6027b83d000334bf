import { setTimeout as pause } from 'node:timers/promises'
import { Counter, Gauge } from 'prom-client'
import { isForThisMachine } from '../../config.ts'
import type { Context } from '../../context.ts'
import { SECOND } from '../../platform/clock.ts'
import type { Running } from '../../platform/jobs/queue.ts'
import type { Metrics } from '../../platform/metrics.ts'
import { ANY_DAY, DELIVERIES_DUE } from '../deliveries.ts'
import { type Resolve, resolveName } from '../target-rules.ts'
import { WEBHOOK_CHANGED, WEBHOOK_MADE } from '../webhooks.ts'
import { findSoonest, hasEndpoints } from './due.ts'
import { type Endpoint, type EndpointTools, openEndpoint, type Which } from './endpoint.ts'
import { openOwnership } from './ownership.ts'
import { openRecorder } from './recorder.ts'
import { loadClient } from './sender.ts'

export interface DeliveryOptions
  extends Pick<Context, 'config' | 'db' | 'clock' | 'log' | 'metrics' | 'vault' | 'listener' | 'connection'> {
  resolve?: Resolve
  /** Milliseconds for a whole attempt. */
  timeout?: number
  /** Milliseconds that what is under way is given when the process stops; then it is handed back. */
  grace?: number
  /** Trusted besides the usual authorities. */
  ca?: string
}

const TIMEOUT = 10 * SECOND
/** Milliseconds between looks at the clock for what has become due. */
const TICK = 100
/**
 * Milliseconds at least between looks at the table, for what another process left behind: while there is something to send, and
 * while nothing is known to come soon. Longer where looking takes long.
 */
const SWEEP = 1000
const SWEEP_AT_REST = 5000
/** How long after another process was seen at work it may leave something behind. */
const WATCH_OTHERS = 30 * SECOND
const SWEEP_SHARE = 50
/** How long an endpoint with nothing to do is held on to, so that the next event finds everything ready. */
const LINGER = 3000
/** Endpoints held at once. */
const MOST_ENDPOINTS = 2000
const GRACE = 5 * SECOND

/**
 * Sends what is due to the endpoints that this process holds. Each endpoint has a window of its own, so a slow one delays
 * nobody and one with a million deliveries waiting costs no more than its window. An endpoint belongs to one process at a
 * time, which therefore needs no claims on single deliveries: it reads what is due, sends it, and writes down what came of it.
 */
export function startDelivery(options: DeliveryOptions): Running {
  const { config, db, clock, log, listener, connection, grace = GRACE } = options
  const figures = figuresIn(options.metrics)
  const recorder = openRecorder(options)
  const endpoints = new Map<string, Endpoint>()
  /** When something is due next, by endpoint; what comes after that the next look at the table tells. */
  const soonest = new Map<string, number>()
  const wanted = new Set<string>()
  let claiming = false
  let sweeping = false
  let nextSweep = 0
  let seenOthers = Number.NEGATIVE_INFINITY
  let stopped = false

  const tools: EndpointTools = {
    ...options,
    recorder,
    rules: { allow: config.webhookAllow, onLoopback: isForThisMachine(config) },
    resolve: options.resolve ?? resolveName,
    timeout: options.timeout ?? TIMEOUT,
    observe: ({ error }) => figures.attempts.inc({ outcome: error === null ? 'delivered' : 'failed' }),
    due: expect,
  }
  const ownership = openOwnership({
    connection,
    log,
    onConnected() {
      for (const id of endpoints.keys()) wanted.add(id)
      nextSweep = 0
      void claim()
    },
    onLost() {
      for (const endpoint of endpoints.values()) endpoint.suspend()
    },
  })
  void listener.on(DELIVERIES_DUE, (told) => {
    if (told === '') lookAgain()
    else if (told.startsWith(ANY_DAY)) wake(told.slice(ANY_DAY.length), 'any')
    else wake(told, 'recent')
  })
  void listener.on(WEBHOOK_CHANGED, (id) => {
    if (id === '') for (const endpoint of endpoints.values()) endpoint.changed()
    else if (endpoints.has(id)) endpoints.get(id)!.changed()
    else wake(id, 'any')
  })
  db.onCommitted(WEBHOOK_MADE, () => void loadClient())
  void hasEndpoints(db.queries).then(
    (has) => void (has && loadClient()),
    () => {},
  )
  const ticking = setInterval(tick, TICK)
  ticking.unref()

  return { stop }

  function wake(id: string, which: Which) {
    if (stopped) return
    soonest.delete(id)
    const endpoint = endpoints.get(id)
    if (endpoint) return endpoint.wake(which)
    wanted.add(id)
    void claim()
  }

  function expect(id: string, at: number) {
    soonest.set(id, Math.min(at, soonest.get(id) ?? at))
  }

  function lookAgain() {
    for (const endpoint of endpoints.values()) endpoint.wake('any')
    nextSweep = 0
  }

  function tick() {
    const now = clock.now()
    for (const [id, at] of soonest) if (at <= now) wake(id, 'any')
    figures.inFlight.set(sum([...endpoints.values()].map(({ inFlight }) => inFlight)))
    void letGo()
    if (performance.now() >= nextSweep) void sweep()
    if (wanted.size > 0) void claim()
  }

  /** Takes hold of the endpoints that something is due for; those of another process are left to it. */
  async function claim() {
    if (claiming || stopped || !ownership.connected) return
    claiming = true
    try {
      while (wanted.size > 0 && !stopped) {
        const ids = [...wanted].slice(0, 500)
        for (const id of ids) wanted.delete(id)
        const room = MOST_ENDPOINTS - endpoints.size
        const fresh = ids.filter((id) => !endpoints.has(id))
        for (const id of fresh.splice(Math.max(0, room))) expect(id, clock.now())
        const asked = [...fresh, ...ids.filter((id) => endpoints.has(id))]
        if (asked.length === 0) break
        const taken = new Set(await ownership.claim(asked))
        for (const id of asked) settleClaim(id, taken.has(id))
      }
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'endpoints could not be claimed yet')
    } finally {
      claiming = false
    }
  }

  function settleClaim(id: string, taken: boolean) {
    const endpoint = endpoints.get(id)
    if (taken && !endpoint) endpoints.set(id, openEndpoint(id, tools))
    else if (taken) endpoint!.resume()
    else {
      seenOthers = performance.now()
      endpoints.delete(id)
      endpoint?.close()
    }
  }

  async function letGo() {
    const since = performance.now() - LINGER
    const idle = [...endpoints].filter(([, { idleSince }]) => idleSince !== undefined && idleSince < since)
    if (idle.length === 0) return
    for (const [id, endpoint] of idle) {
      endpoints.delete(id)
      endpoint.close()
    }
    // When the connection is gone, so are the locks.
    await Promise.resolve()
      .then(() => ownership.release(idle.map(([id]) => id)))
      .catch(() => {})
  }

  async function sweep() {
    if (sweeping || stopped || !ownership.connected) return
    sweeping = true
    const started = performance.now()
    try {
      for (const { webhook_id, at } of await findSoonest(db.queries)) expect(webhook_id, at.getTime())
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'what is due could not be looked for yet')
    } finally {
      sweeping = false
      const took = performance.now() - started
      const soon = clock.now() + SWEEP_AT_REST
      const alone = performance.now() - seenOthers > WATCH_OTHERS
      const atRest = alone && endpoints.size === 0 && ![...soonest.values()].some((at) => at <= soon)
      const least = atRest ? SWEEP_AT_REST : SWEEP
      nextSweep = performance.now() + Math.max(least, SWEEP_SHARE * took)
    }
  }

  async function stop() {
    stopped = true
    clearInterval(ticking)
    const all = [...endpoints.values()]
    for (const endpoint of all) endpoint.suspend()
    const deadline = performance.now() + grace
    while (all.some(({ inFlight }) => inFlight > 0) && performance.now() < deadline) await pause(10)
    for (const endpoint of all) endpoint.abandon()
    await recorder.settle(GRACE)
    await ownership.close()
  }
}

function sum(numbers: number[]) {
  return numbers.reduce((total, number) => total + number, 0)
}

function figuresIn({ registry }: Metrics) {
  const attempts =
    (registry.getSingleMetric('attestry_webhook_attempts_total') as Counter<'outcome'>) ??
    new Counter({
      name: 'attestry_webhook_attempts_total',
      help: 'Attempts to deliver an event to an endpoint, by outcome: delivered or failed.',
      labelNames: ['outcome'],
      registers: [registry],
    })
  const inFlight =
    (registry.getSingleMetric('attestry_webhook_attempts_in_flight') as Gauge) ??
    new Gauge({
      name: 'attestry_webhook_attempts_in_flight',
      help: 'Attempts that wait for an answer now.',
      registers: [registry],
    })
  return { attempts, inFlight }
}
