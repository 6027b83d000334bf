import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { MINUTE_SLACK_MS } from './windows.ts'

const MAX_COOLDOWN_MS = 900 * SECOND

/** Returns the length of a cooldown by its level: 60, 120, 240, 480, then 900 seconds. */
export function cooldownMs(level: number): number {
  return level === 0 ? 0 : Math.min(MAX_COOLDOWN_MS, MINUTE * 2 ** (level - 1))
}

/** From this level on, cooldowns have the same length. */
export const MAX_COOLDOWN_LEVEL = 5

/** Period in which all calls of a key are rejected. Each further cooldown within an hour is longer. */
export class Cooldown {
  start = 0
  level = 0

  /** Returns the milliseconds left of the cooldown, or 0 if there is none. */
  remaining(now: number): number {
    // If the clock was set back, the elapsed time is unknown: end the cooldown.
    if (this.start - now > MINUTE_SLACK_MS) this.start = now - cooldownMs(this.level)
    return Math.max(0, this.start + cooldownMs(this.level) - now)
  }

  /** Starts a cooldown. Call only if none is running. */
  begin(now: number): void {
    this.level = now - this.start <= HOUR ? Math.min(MAX_COOLDOWN_LEVEL, this.level + 1) : 1
    this.start = now
  }

  /** Time from which the next cooldown has level 1 again. */
  get levelResetsAt(): number {
    return this.start + HOUR
  }
}
