import type { FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { type Problem, problem } from '../../api/problem.ts'
import { BoundedMap } from '../bounded-map.ts'
import type { Metrics } from '../metrics.ts'
import type { App } from './server.ts'

/**
 * Decides which requests to reject while the process is overloaded, so that the callers with the most work are rejected first, and
 * callers at an ordinary rate are not affected.
 *
 * If the event loop is overloaded, each caller may use at most `allowance` units per second; the allowance shrinks while the event
 * loop lags and grows when it does not. If most responses are slow, requests wait for the database, and each caller may have at most
 * `MAX_OPEN_REQUESTS` requests in progress. A request with a small body is one unit. If only one caller sends requests, it is never
 * rejected, because no other caller would benefit.
 */

/** A request with a body counts as one more unit per this many bytes. */
const BYTES_PER_UNIT = 4096
/** The time over which the rate of a caller is averaged. */
const RATE_WINDOW_MS = 1000
const MAX_CALLERS = 10_000
/** A caller is alone if no other caller has sent a request for this long. */
const ALONE_AFTER_MS = 10_000
/** With a lag above this for several ticks, the allowance shrinks. */
const OVERLOAD_LAG_MS = 60
const OVERLOAD_TICKS = 5
/** With a lag below this, the allowance grows. */
const NORMAL_LAG_MS = 25
const SHRINK_FACTOR = 0.8
const GROWTH_FACTOR = 1.05
const MIN_ALLOWANCE = 20
/** If the median response takes longer than this, requests wait for each other. */
const SLOW_RESPONSE_MS = 80
/** With a median response time below this for several ticks, they do not. */
const NORMAL_RESPONSE_MS = 40
const NORMAL_TICKS = 20
/** With fewer responses per tick, slow ones are caused by what they do, not by the number of requests. */
const MIN_RESPONSES_PER_TICK = 15
const MAX_OPEN_REQUESTS = 64
/** If the process gets less of a CPU core than this, the lag is caused by other processes, and rejecting requests would not help. */
const MIN_CPU_SHARE = 0.3

export interface LoadSample {
  /** The longest delay of the event loop since the last sample. */
  lagMs: number
  /** The share of one CPU core that the process used since the last sample. */
  cpuShare: number
}

/** A request that was not rejected. */
interface OpenRequest {
  caller: string
  startedAt: number
}

interface CallerRate {
  unitsPerSecond: number
  updatedAt: number
}

export class LoadShedder {
  readonly #rates = new BoundedMap<string, CallerRate>(MAX_CALLERS)
  readonly #now: () => number
  readonly #random: () => number
  #allowance = Number.POSITIVE_INFINITY
  #overloadedTicks = 0
  /** The highest rate of a caller since the last sample. */
  #highestRate = 0
  readonly #openRequests = new Map<string, number>()
  /** The durations of the requests that ended since the last sample. */
  #responseTimes: number[] = []
  #isSlow = false
  #normalTicks = 0
  #lastCaller: string | undefined
  /** The time of the last request that came from another caller than the one before it. */
  #callerChangedAt = Number.NEGATIVE_INFINITY

  constructor(now: () => number = () => performance.now(), random: () => number = Math.random) {
    this.#now = now
    this.#random = random
  }

  get isShedding(): boolean {
    return this.#allowance !== Number.POSITIVE_INFINITY || this.#isSlow
  }

  /** Counts a request, and returns whether to reject it. */
  shouldReject(caller: string, bodyBytes: number): boolean {
    const now = this.#now()
    const rate = this.#rates.get(caller) ?? { unitsPerSecond: 0, updatedAt: now }
    const decay = Math.exp((rate.updatedAt - now) / RATE_WINDOW_MS)
    rate.unitsPerSecond = rate.unitsPerSecond * decay + ((1 + bodyBytes / BYTES_PER_UNIT) * 1000) / RATE_WINDOW_MS
    rate.updatedAt = now
    this.#rates.set(caller, rate)
    this.#highestRate = Math.max(this.#highestRate, rate.unitsPerSecond)
    if (this.#lastCaller !== undefined && caller !== this.#lastCaller) this.#callerChangedAt = now
    this.#lastCaller = caller
    if (now - this.#callerChangedAt > ALONE_AFTER_MS) return false
    if (this.#isSlow && (this.#openRequests.get(caller) ?? 0) >= MAX_OPEN_REQUESTS) return true
    // Reject the share of the caller's requests that exceeds the allowance.
    return rate.unitsPerSecond > this.#allowance && this.#random() > this.#allowance / rate.unitsPerSecond
  }

  /** Counts a request that is in progress. Pass the returned value to `end` when it has ended. */
  begin(caller: string): OpenRequest {
    this.#openRequests.set(caller, (this.#openRequests.get(caller) ?? 0) + 1)
    return { caller, startedAt: this.#now() }
  }

  end({ caller, startedAt }: OpenRequest): void {
    const openCount = this.#openRequests.get(caller)! - 1
    if (openCount > 0) this.#openRequests.set(caller, openCount)
    else this.#openRequests.delete(caller)
    this.#responseTimes.push(this.#now() - startedAt)
  }

  /** Adjusts the limits to the load. */
  sample(sample: LoadSample): void {
    this.#adjustAllowance(sample)
    const responseTimes = this.#responseTimes.sort((a, b) => a - b)
    this.#responseTimes = []
    const medianMs = responseTimes[Math.floor(responseTimes.length / 2)] ?? 0
    if (responseTimes.length >= MIN_RESPONSES_PER_TICK && medianMs > SLOW_RESPONSE_MS) this.#isSlow = true
    this.#normalTicks = medianMs > NORMAL_RESPONSE_MS ? 0 : this.#normalTicks + 1
    if (this.#normalTicks >= NORMAL_TICKS) this.#isSlow = false
  }

  #adjustAllowance({ lagMs, cpuShare }: LoadSample): void {
    const highestRate = this.#highestRate
    this.#highestRate = 0
    if (lagMs > OVERLOAD_LAG_MS && cpuShare >= MIN_CPU_SHARE) {
      if (++this.#overloadedTicks < OVERLOAD_TICKS) return
      this.#allowance = Math.max(MIN_ALLOWANCE, Math.min(this.#allowance, highestRate) * SHRINK_FACTOR)
      return
    }
    this.#overloadedTicks = 0
    if (this.#allowance === Number.POSITIVE_INFINITY || lagMs > NORMAL_LAG_MS) return
    this.#allowance *= GROWTH_FACTOR
    if (this.#allowance > 2 * highestRate) this.#allowance = Number.POSITIVE_INFINITY
  }
}

const PROBE_INTERVAL_MS = 20
const SAMPLE_INTERVAL_MS = 100

/** Measures the load of this process and passes samples to `onSample`. Returns a function that stops. */
function measureLoad(onSample: (sample: LoadSample) => void): () => void {
  let expectedAt = performance.now() + PROBE_INTERVAL_MS
  let sampledAt = performance.now()
  let usedCpu = process.cpuUsage()
  let lagMs = 0
  const timer = setInterval(() => {
    const now = performance.now()
    lagMs = Math.max(lagMs, now - expectedAt)
    expectedAt = now + PROBE_INTERVAL_MS
    const elapsedMs = now - sampledAt
    if (elapsedMs < SAMPLE_INTERVAL_MS) return
    const { user, system } = process.cpuUsage(usedCpu)
    onSample({ lagMs, cpuShare: (user + system) / 1000 / elapsedMs })
    usedCpu = process.cpuUsage()
    sampledAt = now
    lagMs = 0
  }, PROBE_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Probes must be answered under load: a process that is restarted because it is busy makes the load on the others worse. */
const EXEMPT_PATHS = ['/healthz', '/readyz', '/metrics']
/** Responses to rejected requests are held back for this long, because many clients retry immediately. */
const REJECTION_DELAY_MS = 250
const MAX_DELAYED_REJECTIONS = 1000
/** Short, so that few responses are sent at once. */
const REJECTION_TICK_MS = 10
const RETRY_AFTER_SECONDS = 1
/** Long enough to tell keys apart, and not enough of a session key to use it. */
const SHOWN_KEY_LENGTH = 24

declare module 'fastify' {
  interface FastifyRequest {
    /** Names the caller by the key that was sent, unless an earlier request with this key was authenticated. */
    unacceptedKey: string | undefined
  }
}

export interface LoadSheddingOptions {
  metrics: Metrics
  /** Returns whether the guards of an API have accepted the caller's key. */
  isAuthenticated: (request: FastifyRequest) => boolean
  /** Returns the address that limits count: one customer has many IPv6 addresses. */
  callerAddress: (ip: string) => string
  shedder?: LoadShedder
}

/** Rejects requests of the busiest callers with status 503 while the process is overloaded. */
export function shedLoad(
  app: App,
  { metrics, isAuthenticated, callerAddress, shedder = new LoadShedder() }: LoadSheddingOptions,
): void {
  // An unknown key must not give its sender a share of its own, so it counts as a part of the address's share.
  const acceptedKeys = new BoundedMap<string, true>(MAX_CALLERS)
  const rejectedRequests = new Counter({
    name: 'attestry_rejected_requests_total',
    help: 'Number of requests that were rejected with status 503 because the process was overloaded.',
    registers: [metrics.registry],
  })
  app.decorateRequest('unacceptedKey', undefined)
  let delayedRejections: { dueAt: number; reject: () => void }[] = []
  const stopMeasuring = measureLoad((sample) => shedder.sample(sample))
  const timer = setInterval(() => sendDelayedRejections(performance.now()), REJECTION_TICK_MS).unref()
  app.addHook('onClose', async () => {
    stopMeasuring()
    clearInterval(timer)
    sendDelayedRejections(Number.POSITIVE_INFINITY)
  })
  app.addHook('onRequest', (request, reply, done) => {
    if (EXEMPT_PATHS.includes(request.raw.url!)) return done()
    const address = callerAddress(request.ip)
    const keyName = callerKey(address, request)
    const isAccepted = keyName !== undefined && acceptedKeys.has(keyName)
    request.unacceptedKey = isAccepted ? undefined : keyName
    const caller = isAccepted ? keyName : address
    if (!shedder.shouldReject(caller, Number(request.headers['content-length'] ?? 0) || 0)) {
      const openRequest = shedder.begin(caller)
      reply.raw.on('close', () => shedder.end(openRequest)) // emitted once
      return done()
    }
    rejectedRequests.inc()
    if (delayedRejections.length >= MAX_DELAYED_REJECTIONS) return done(overloadedProblem())
    delayedRejections.push({
      dueAt: performance.now() + REJECTION_DELAY_MS,
      reject: () => done(overloadedProblem()),
    })
  })
  app.addHook('onResponse', (request, _reply, done) => {
    const { unacceptedKey } = request
    if (unacceptedKey !== undefined && isAuthenticated(request)) acceptedKeys.set(unacceptedKey, true)
    done()
  })

  function sendDelayedRejections(now: number) {
    if (delayedRejections.length === 0 || delayedRejections[0]!.dueAt > now) return
    const dueRejections = delayedRejections.filter(({ dueAt }) => dueAt <= now)
    delayedRejections = delayedRejections.slice(dueRejections.length)
    for (const { reject } of dueRejections) reject()
  }
}

function callerKey(address: string, { headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key']
  return typeof key === 'string' ? `${address} ${key.slice(0, SHOWN_KEY_LENGTH)}` : undefined
}

function overloadedProblem(): Problem {
  return problem(
    'SERVICE_UNAVAILABLE',
    'The server is overloaded and is rejecting some requests of its busiest callers. Nothing was changed. Retry after the time in the Retry-After header.',
    { retryAfter: RETRY_AFTER_SECONDS },
  )
}
