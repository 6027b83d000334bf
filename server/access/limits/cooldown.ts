import { HOUR, MINUTE, SECOND } from '../../platform/clock.ts'
import { SLACK } from './windows.ts'

const LONGEST = 900 * SECOND

/** How long the nth cooldown in a row lasts: 60, 120, 240, 480, then 900 seconds. */
export function cooldownLength(level: number): number {
  return level === 0 ? 0 : Math.min(LONGEST, MINUTE * 2 ** (level - 1))
}

/** The last level, after which cooldowns do not grow. */
export const TOP_LEVEL = 5

/** A key that called too often is refused everything for a while, longer if it happens again within the hour. */
export class Cooldown {
  start = 0
  level = 0

  /** Milliseconds left, 0 where there is none. */
  left(now: number): number {
    // A clock set back ends a cooldown: nobody knows how much of it has passed.
    if (this.start - now > SLACK) this.start = now - cooldownLength(this.level)
    return Math.max(0, this.start + cooldownLength(this.level) - now)
  }

  /** Starts one where none runs. */
  begin(now: number): void {
    this.level = now - this.start <= HOUR ? Math.min(TOP_LEVEL, this.level + 1) : 1
    this.start = now
  }

  /** When it no longer matters that there was one. */
  get forgottenAt(): number {
    return this.start + HOUR
  }
}
