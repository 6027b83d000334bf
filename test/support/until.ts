import { setTimeout as pause } from 'node:timers/promises'

const MIN_POLL_INTERVAL_MS = 10
/** Calls are limited by the clock of the test, which stands still while a test polls. */
const MAX_POLL_INTERVAL_MS = 250
/** Long, because it is reached only if the condition is never met or the machine is extremely busy. */
const DEFAULT_TIMEOUT_MS = 40_000

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

/** Polls until the condition is truthy and returns its value; throws after the timeout. The longer it takes, the less often it polls. */
export async function until<T>(
  condition: () => T | Promise<T>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  describe: () => string = () => String(condition),
): Promise<Truthy<T>> {
  const startedAt = performance.now()
  for (;;) {
    const value = await condition()
    if (value) return value as Truthy<T>
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs > timeoutMs) throw new Error(`condition not met within ${timeoutMs} ms: ${describe()}`)
    await pause(Math.min(Math.max(elapsedMs / 5, MIN_POLL_INTERVAL_MS), MAX_POLL_INTERVAL_MS))
  }
}
