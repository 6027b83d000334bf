import { clockSlackMs } from './windows.ts'

/** Times of the events within a rolling window, oldest first. */
export class RollingLog {
  readonly times: number[] = []
  readonly #windowMs: number

  constructor(windowMs: number) {
    this.#windowMs = windowMs
  }

  /** Deletes events that have left the window. Returns the time to record for an event that happens now. */
  prune(now: number): number {
    const time = this.#advance(now)
    const expiredCount = this.#expiredCount(time)
    if (expiredCount > 0) this.times.splice(0, expiredCount)
    return time
  }

  /** Returns the number of events in the window. Keeps older events, which are in the window again if the clock is set back. */
  count(now: number): number {
    return this.times.length - this.#expiredCount(this.#advance(now))
  }

  /** Returns the time to record for an event that happens now. If the clock was set back far, later events are moved to now. */
  #advance(now: number): number {
    const { times } = this
    let newest = times.at(-1) ?? now
    if (newest - now > clockSlackMs(this.#windowMs)) {
      for (let i = times.length - 1; i >= 0 && times[i]! > now; i--) times[i] = now
      newest = now
    }
    return Math.max(now, newest)
  }

  #expiredCount(time: number): number {
    const { times } = this
    let expiredCount = 0
    while (expiredCount < times.length && time - times[expiredCount]! >= this.#windowMs) expiredCount++
    return expiredCount
  }
}
