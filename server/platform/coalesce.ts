import { runForAllOrganisations } from './database/tenant-scope.ts'

export interface CoalesceOptions {
  /** A call that has waited this long for a run that then fails gets that run's error instead of waiting for another run. */
  failTogetherAfterMs?: number
}

/**
 * Returns a function that runs `work`, one run at a time. Calls made during a run share the next run, which starts after it:
 * every call is served by a run that started after the call.
 */
export function coalesce<Result>(
  work: () => Promise<Result>,
  { failTogetherAfterMs = Number.POSITIVE_INFINITY }: CoalesceOptions = {},
): () => Promise<Result> {
  let running: Promise<Result> | undefined
  let next: Promise<Result> | undefined
  return () => {
    if (next) return next
    const calledAt = performance.now()
    const previous: Promise<unknown> = running ?? Promise.resolve()
    next = previous
      .catch((error) => {
        if (performance.now() - calledAt < failTogetherAfterMs) return
        next = undefined
        throw error
      })
      .then(() => {
        next = undefined
        // Calls of several organisations may share a run.
        running = runForAllOrganisations(work).finally(() => {
          running = undefined
        })
        return running
      })
    return next
  }
}
