import { runForAllOrganisations } from '../database/tenant-scope.ts'

/** Repeats a poll, one at a time: after the delay that the previous poll returned, or earlier on request. */
export interface Poller {
  /** Polls within this many milliseconds; immediately if 0. If a poll is running, another poll runs after it. */
  pollWithin(milliseconds: number): void
  /** Stops polling, and waits for the poll that is running. */
  stop(): Promise<void>
}

export interface PollerOptions {
  /** Polls, and returns the milliseconds until the next poll. */
  poll: (isStopped: () => boolean) => Promise<number>
  /** Called with the error of a poll that failed. Not called after `stop`. */
  onError: (error: unknown) => void
  /** Delay after a poll that failed. */
  retryDelayMs: number
}

export function startPoller({ poll, onError, retryDelayMs }: PollerOptions): Poller {
  let timer: NodeJS.Timeout | undefined
  let nextPollAt = Number.POSITIVE_INFINITY
  let running: Promise<void> | undefined
  let stopped = false
  return {
    pollWithin,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }

  function pollWithin(milliseconds: number) {
    const pollAt = performance.now() + milliseconds
    if (stopped || pollAt >= nextPollAt) return
    nextPollAt = pollAt
    clearTimeout(timer)
    if (running) return // the running poll schedules the next one when it ends
    if (milliseconds <= 0) return startPoll()
    timer = setTimeout(startPoll, milliseconds)
    timer.unref()
  }

  function startPoll() {
    nextPollAt = Number.POSITIVE_INFINITY
    running = runForAllOrganisations(() => poll(() => stopped))
      .catch((error) => {
        if (!stopped) onError(error)
        return retryDelayMs
      })
      .then((delayMs) => {
        running = undefined
        const requestedDelayMs = nextPollAt - performance.now()
        nextPollAt = Number.POSITIVE_INFINITY
        pollWithin(Math.min(delayMs, requestedDelayMs))
      })
  }
}
