/** Repeats a poll, one run at a time: after the delay that the previous run returned, or earlier on request. */
export interface Poller {
  /** Polls within this many milliseconds; immediately if 0. A request during a poll runs another one after it. */
  pollWithin(milliseconds: number): void
  /** Waits for the poll that is running. */
  stop(): Promise<void>
}

export interface PollerOptions {
  /** Returns the milliseconds until the next poll. */
  poll: (isStopped: () => boolean) => Promise<number>
  /** Not called after `stop`. */
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
    const at = performance.now() + milliseconds
    if (stopped || at >= nextPollAt) return
    nextPollAt = at
    clearTimeout(timer)
    if (running) return // scheduled when it ends
    if (milliseconds <= 0) return start()
    timer = setTimeout(start, milliseconds)
    timer.unref()
  }

  function start() {
    nextPollAt = Number.POSITIVE_INFINITY
    running = poll(() => stopped)
      .catch((error) => {
        if (!stopped) onError(error)
        return retryDelayMs
      })
      .then((delay) => {
        running = undefined
        const requested = nextPollAt - performance.now()
        nextPollAt = Number.POSITIVE_INFINITY
        pollWithin(Math.min(delay, requested))
      })
  }
}
