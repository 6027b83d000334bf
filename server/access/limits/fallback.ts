import { timeoutError } from '../../platform/deadline.ts'
import type {
  CallerDecision,
  LimitError,
  LimitedCaller,
  Limiter,
  MaybePromise,
  MinuteWindow,
  RateLimitDecision,
  Rule,
} from './limiter.ts'
import type { KeyLimits, LimitClass } from './table.ts'

/** A limiter whose counts all processes of the deployment share. */
export interface SharedLimiter extends Limiter {
  connect(): Promise<void>
  /** Resolves if the engine can make decisions, and rejects otherwise. */
  probe(): Promise<void>
}

export interface FallbackLimiterOptions {
  /** Called when the limiter switches to the other engine; with the error if the shared engine failed. */
  onSwitch(to: 'redis' | 'memory', reason?: string): void
  /** Time that a call waits for the shared engine. */
  timeoutMs?: number
  /** Time between two attempts to return to the shared engine. */
  probeIntervalMs?: number
  /** Monotonic time in milliseconds. */
  now?: () => number
}

/** A timer that fires later than this was delayed by the event loop of this process. */
const MAX_TIMER_DELAY_MS = 20
const MAX_TIMER_RESTARTS = 3

/**
 * Uses the shared engine while it responds, and the local one otherwise. A call during which the shared engine fails is decided by the
 * local one: it waits at most `timeoutMs` and never fails.
 */
export class FallbackLimiter implements Limiter {
  /** Resolves after the first connection attempt; earlier calls are decided by the local engine. */
  readonly ready: Promise<void>
  readonly #shared: SharedLimiter
  readonly #local: Limiter
  readonly #onSwitch: FallbackLimiterOptions['onSwitch']
  readonly #timeoutMs: number
  readonly #probeIntervalMs: number
  readonly #now: () => number
  #usesShared = false
  /** Engine of the last `onSwitch` call. Redis at first, so that starting with Redis is not reported. */
  #reportedEngine: 'redis' | 'memory' = 'redis'
  #probeTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(
    shared: SharedLimiter,
    local: Limiter,
    { onSwitch, timeoutMs = 250, probeIntervalMs = 500, now = () => performance.now() }: FallbackLimiterOptions,
  ) {
    this.#shared = shared
    this.#local = local
    this.#onSwitch = onSwitch
    this.#timeoutMs = timeoutMs
    this.#probeIntervalMs = probeIntervalMs
    this.#now = now
    this.ready = this.#start()
  }

  decide(key: string, limits: KeyLimits, limitClass: LimitClass, recruiter: string | undefined, now: number) {
    return this.#run<RateLimitDecision>((engine) => engine.decide(key, limits, limitClass, recruiter, now))
  }

  minuteWindow(key: string, limits: KeyLimits, limitClass: LimitClass, now: number) {
    return this.#run<MinuteWindow>((engine) => engine.minuteWindow(key, limits, limitClass, now))
  }

  cooldown(key: string, limits: KeyLimits, now: number) {
    return this.#run<number>((engine) => engine.cooldown(key, limits, now))
  }

  recordPage(key: string, limits: KeyLimits, now: number) {
    return this.#run<LimitError | undefined>((engine) => engine.recordPage(key, limits, now))
  }

  recordSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number) {
    return this.#run<LimitError | undefined>((engine) => engine.recordSkills(key, limits, skills, now))
  }

  take(caller: string, rules: readonly Rule[], now: number) {
    return this.#run<CallerDecision>((engine) => engine.take(caller, rules, now))
  }

  peek(caller: string, rules: readonly Rule[], now: number) {
    return this.#run<CallerDecision>((engine) => engine.peek(caller, rules, now))
  }

  charge(caller: string, rules: readonly Rule[], now: number) {
    return this.#run<CallerDecision>((engine) => engine.charge(caller, rules, now))
  }

  listLimited(now: number) {
    return this.#run<LimitedCaller[]>((engine) => engine.listLimited(now))
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#probeTimer)
    await this.#shared.close()
    await this.#local.close()
  }

  #run<T>(operation: (engine: Limiter) => MaybePromise<T>): MaybePromise<T> {
    if (!this.#usesShared) return operation(this.#local)
    return new Promise<T>((resolve) => {
      let done = false
      const finish = (result: MaybePromise<T>) => {
        done = true
        stopTimer()
        resolve(result)
      }
      const fallBack = (error: Error) => {
        // After a timeout, the shared engine's own error can still arrive: ignore it.
        if (done) return
        this.#fail(error)
        finish(operation(this.#local))
      }
      const stopTimer = this.#startResponseTimer(() => fallBack(timeoutError(this.#timeoutMs)))
      Promise.resolve(operation(this.#shared)).then(finish, fallBack)
    })
  }

  /**
   * Calls `onTimeout` after the timeout, unless the timer is stopped. If this process was busy when the time passed, a response may
   * have arrived that it has not read yet, so the timer starts again. Returns a function that stops the timer.
   */
  #startResponseTimer(onTimeout: () => void): () => void {
    let timer: NodeJS.Timeout
    let restarts = 0
    const start = () => {
      const dueAt = this.#now() + this.#timeoutMs
      timer = setTimeout(() => {
        const wasStalled = this.#now() > dueAt + MAX_TIMER_DELAY_MS
        if (wasStalled && restarts++ < MAX_TIMER_RESTARTS) start()
        else onTimeout()
      }, this.#timeoutMs)
    }
    start()
    return () => clearTimeout(timer)
  }

  #waitForResponse<T>(response: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const stopTimer = this.#startResponseTimer(() => reject(timeoutError(this.#timeoutMs)))
      response.then(resolve, reject).finally(stopTimer)
    })
  }

  #fail(error: Error): void {
    this.#usesShared = false
    this.#report('memory', error.message)
    this.#probeLater()
  }

  #probeLater(): void {
    if (this.#probeTimer || this.#closed) return
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = undefined
      void this.#probe()
    }, this.#probeIntervalMs)
    this.#probeTimer.unref()
  }

  /** Returns to the shared engine if it responds in time, else probes again later. */
  async #probe(): Promise<void> {
    try {
      await this.#waitForResponse(this.#shared.probe())
    } catch (error) {
      return this.#fail(error as Error)
    }
    if (this.#closed) return
    this.#usesShared = true
    this.#report('redis')
  }

  #report(to: 'redis' | 'memory', reason?: string): void {
    if (this.#reportedEngine === to || this.#closed) return
    this.#reportedEngine = to
    this.#onSwitch(to, reason)
  }

  async #start(): Promise<void> {
    try {
      await this.#shared.connect()
    } catch (error) {
      return this.#fail(error as Error)
    }
    await this.#probe()
  }
}
