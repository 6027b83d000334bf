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
    const { times } = this
    let newest = times.at(-1) ?? now
    if (newest - now > clockSlackMs(this.#windowMs)) {
      for (let i = times.length - 1; i >= 0 && times[i]! > now; i--) times[i] = now
      newest = now
    }
    const time = Math.max(now, newest)
    let expiredCount = 0
    while (expiredCount < times.length && time - times[expiredCount]! >= this.#windowMs) expiredCount++
    if (expiredCount > 0) times.splice(0, expiredCount)
    return time
  }
}
