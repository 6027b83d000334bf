import type { Clock } from '../clock.ts'
import { startPoller } from './poller.ts'

/** Processes due rows when notified, at the next due time, and on a fallback poll in case a notification was lost. */
export interface DuePoller {
  /** Runs `work` now, since there may be new rows. */
  wake(): void
  stop(): Promise<void>
}

export interface DuePollerOptions {
  clock: Clock
  /** Returns the due time of the next row, in milliseconds of `clock`; it may be in the past. Undefined if there is no row. */
  nextDueAt: () => Promise<number | undefined>
  /** Processes the rows that are due. */
  work: (isStopped: () => boolean) => Promise<void>
  onError: (error: unknown) => void
  /** Interval of the fallback poll. */
  pollIntervalMs?: number
}

const POLL_INTERVAL_MS = 5000
/** Delay if rows are still due after `work`: another process may have them locked. */
const RETRY_DELAY_MS = 500
const MIN_DELAY_MS = 20
/** How often the next due time is compared with the clock, which may be changed in the meantime. */
const CLOCK_CHECK_INTERVAL_MS = 500

export function startDuePoller({
  clock,
  nextDueAt,
  work,
  onError,
  pollIntervalMs = POLL_INTERVAL_MS,
}: DuePollerOptions): DuePoller {
  let isWoken = true
  /** The next due time, if it was in the future when it was read. */
  let upcomingDueAt: number | undefined
  let nextCheckAt = 0
  const poller = startPoller({ poll, onError, retryDelayMs: RETRY_DELAY_MS })
  poller.pollWithin(0)
  return {
    wake() {
      isWoken = true
      poller.pollWithin(0)
    },
    stop: poller.stop,
  }

  async function poll(isStopped: () => boolean): Promise<number> {
    const wasWoken = isWoken
    isWoken = false
    if (wasWoken || isUpcomingDue() || performance.now() >= nextCheckAt) {
      nextCheckAt = 0 // if this fails, the retry checks again
      let anythingDue = wasWoken || (await isAnythingDue())
      if (anythingDue) {
        await work(isStopped)
        anythingDue = await isAnythingDue()
      }
      nextCheckAt = performance.now() + (anythingDue ? RETRY_DELAY_MS : pollIntervalMs)
    }
    const untilDueMs = upcomingDueAt === undefined ? CLOCK_CHECK_INTERVAL_MS : upcomingDueAt - clock.now()
    return Math.max(MIN_DELAY_MS, Math.min(CLOCK_CHECK_INTERVAL_MS, untilDueMs, nextCheckAt - performance.now()))
  }

  function isUpcomingDue(): boolean {
    return upcomingDueAt !== undefined && upcomingDueAt <= clock.now()
  }

  async function isAnythingDue(): Promise<boolean> {
    upcomingDueAt = undefined
    const nextDue = await nextDueAt()
    if (nextDue !== undefined && nextDue <= clock.now()) return true
    upcomingDueAt = nextDue
    return false
  }
}
