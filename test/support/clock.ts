import type { TestContext } from 'node:test'
import type { Clock } from '../../server/platform/clock.ts'

/** A clock that tests move by hand. It starts at a fixed, unremarkable moment: a Wednesday noon in India. */
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

/** Lets the clock run on by itself, for tests in which a person takes their time. */
export function keepTime(t: TestContext, clock: TestClock): void {
  const timer = setInterval(() => clock.advance(50), 50)
  t.after(() => clearInterval(timer))
}
