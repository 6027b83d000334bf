import type { Clock } from '../../server/platform/clock.ts'
import type { Cleanup } from './cleanup.ts'

/** A clock that advances only when a test moves it. It starts at a fixed time: Wednesday noon in India. */
export class TestClock implements Clock {
  #now: number

  constructor(now: number | string = '2026-03-11T06:30:00.000Z') {
    this.#now = typeof now === 'string' ? Date.parse(now) : now
  }

  now(): number {
    return this.#now
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds
  }

  set(now: number | string): void {
    this.#now = typeof now === 'string' ? Date.parse(now) : now
  }
}

/** Advances the clock in real time, for browser tests in which rate limits or timeouts must elapse. */
export function runClock(t: Cleanup, clock: TestClock): void {
  const timer = setInterval(() => clock.advance(50), 50)
  t.after(() => clearInterval(timer))
}
