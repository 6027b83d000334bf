export interface CoalesceOptions {
  /** A call that has waited this long for a run that then fails gets that run's error instead of waiting for another run. */
  failTogetherAfterMs?: number
}

/**
 * Returns a function that runs `work`, one run at a time. Calls made during a run share the next run, which starts after it:
 * every call is served by a run that started after the call.
 */
export function coalesce(
  work: () => Promise<void>,
  { failTogetherAfterMs = Number.POSITIVE_INFINITY }: CoalesceOptions = {},
): () => Promise<void> {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  return () => {
    if (next) return next
    const calledAt = performance.now()
    next = (running ?? Promise.resolve())
      .catch((error) => {
        if (performance.now() - calledAt < failTogetherAfterMs) return
        next = undefined
        throw error
      })
      .then(() => {
        next = undefined
        running = work().finally(() => {
          running = undefined
        })
        return running
      })
    return next
  }
}
