import { slackOf } from './windows.ts'

/** When something happened within the last so many milliseconds, oldest first. */
export class RollingLog {
  readonly times: number[] = []
  readonly #window: number

  constructor(window: number) {
    this.#window = window
  }

  /** Forgets what has left the window; the time to write down for something that happens now. */
  settle(now: number): number {
    const { times } = this
    let newest = times.at(-1) ?? now
    if (newest - now > slackOf(this.#window)) {
      for (let i = times.length - 1; i >= 0 && times[i]! > now; i--) times[i] = now
      newest = now
    }
    const time = Math.max(now, newest)
    let gone = 0
    while (gone < times.length && time - times[gone]! >= this.#window) gone++
    if (gone > 0) times.splice(0, gone)
    return time
  }
}
