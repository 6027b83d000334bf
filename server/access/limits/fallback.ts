import type { Decision, Limited, Limiter, Maybe, MinuteWindow, Refusal, Rule, Standings } from './limiter.ts'
import type { KeyLimits, LimitClass } from './table.ts'

/** The engine that is shared, as far as this needs to know it. */
export interface SharedLimiter extends Limiter {
  connect(): Promise<void>
  /** Succeeds where a decision would. */
  probe(): Promise<void>
}

export interface FallbackOptions {
  /** Told of each change of the engine that decides; the reason where the shared one failed. */
  onSwitch(to: 'redis' | 'memory', reason?: string): void
  /** Milliseconds that a call waits for the shared engine. */
  patience?: number
  /** Milliseconds between two attempts to return to it. */
  probeEvery?: number
}

/**
 * Asks the shared engine while it answers and the one in the process while it does not. A call that meets the failure
 * is decided in the process: it waits no longer than `patience` and never fails.
 */
export class FallbackLimiter implements Limiter {
  /** Settles once it is known whether the shared engine answers; calls before that are decided in the process. */
  readonly ready: Promise<void>
  readonly #shared: SharedLimiter
  readonly #own: Limiter
  readonly #onSwitch: FallbackOptions['onSwitch']
  readonly #patience: number
  readonly #probeEvery: number
  #isShared = false
  /** What was reported last: nothing is said of a start that goes well. */
  #reported: 'redis' | 'memory' = 'redis'
  #probing: NodeJS.Timeout | undefined
  #closed = false

  constructor(shared: SharedLimiter, own: Limiter, { onSwitch, patience = 250, probeEvery = 500 }: FallbackOptions) {
    this.#shared = shared
    this.#own = own
    this.#onSwitch = onSwitch
    this.#patience = patience
    this.#probeEvery = probeEvery
    this.ready = this.#start()
  }

  decide(key: string, limits: KeyLimits, limitClass: LimitClass, recruiter: string | undefined, now: number) {
    return this.#ask<Decision>((engine) => engine.decide(key, limits, limitClass, recruiter, now))
  }

  minute(key: string, limits: KeyLimits, limitClass: LimitClass, now: number) {
    return this.#ask<MinuteWindow>((engine) => engine.minute(key, limits, limitClass, now))
  }

  cooldown(key: string, now: number) {
    return this.#ask<number>((engine) => engine.cooldown(key, now))
  }

  browsePage(key: string, limits: KeyLimits, now: number) {
    return this.#ask<Refusal | undefined>((engine) => engine.browsePage(key, limits, now))
  }

  seeSkills(key: string, limits: KeyLimits, skills: readonly number[], now: number) {
    return this.#ask<Refusal | undefined>((engine) => engine.seeSkills(key, limits, skills, now))
  }

  take(caller: string, rules: readonly Rule[], now: number) {
    return this.#ask<Standings>((engine) => engine.take(caller, rules, now))
  }

  peek(caller: string, rules: readonly Rule[], now: number) {
    return this.#ask<Standings>((engine) => engine.peek(caller, rules, now))
  }

  charge(caller: string, rules: readonly Rule[], now: number) {
    return this.#ask<Standings>((engine) => engine.charge(caller, rules, now))
  }

  limited(now: number) {
    return this.#ask<Limited[]>((engine) => engine.limited(now))
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#probing)
    await this.#shared.close()
    await this.#own.close()
  }

  #ask<T>(question: (engine: Limiter) => Maybe<T>): Maybe<T> {
    if (!this.#isShared) return question(this.#own)
    return new Promise<T>((answer) => {
      let answered = false
      const settle = (decided: Maybe<T>) => {
        answered = true
        clearTimeout(timer)
        answer(decided)
      }
      const giveUp = (error: Error) => {
        // Where patience ran out, the call has its answer and only the failure's late news arrives.
        if (answered) return
        this.#fail(error)
        settle(question(this.#own))
      }
      const timer = setTimeout(() => giveUp(this.#tooSlow()), this.#patience)
      Promise.resolve(question(this.#shared)).then(settle, giveUp)
    })
  }

  #fail(error: Error): void {
    this.#isShared = false
    this.#report('memory', error.message)
    this.#probeLater()
  }

  #probeLater(): void {
    if (this.#probing || this.#closed) return
    this.#probing = setTimeout(() => {
      this.#probing = undefined
      void this.#probe()
    }, this.#probeEvery)
    this.#probing.unref()
  }

  /** Tries the shared engine; returns to it where it answers in time, else tries again later. */
  async #probe(): Promise<void> {
    try {
      await this.#inTime(this.#shared.probe())
    } catch (error) {
      return this.#fail(error as Error)
    }
    if (this.#closed) return
    this.#isShared = true
    this.#report('redis')
  }

  #inTime(attempt: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#tooSlow()), this.#patience)
      attempt.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }

  #tooSlow(): Error {
    return new Error(`no answer within ${this.#patience} ms`)
  }

  #report(to: 'redis' | 'memory', reason?: string): void {
    if (this.#reported === to || this.#closed) return
    this.#reported = to
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
