import { setTimeout as pause } from 'node:timers/promises'

const POLL_INTERVAL_MS = 10
/** Long, because it is reached only if the condition is never met or the machine is extremely busy. */
const DEFAULT_TIMEOUT_MS = 40_000

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>

/** Polls until the condition is truthy and returns its value; throws after the timeout. */
export async function until<T>(
  condition: () => T | Promise<T>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  describe: () => string = () => String(condition),
): Promise<Truthy<T>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value) return value as Truthy<T>
    if (performance.now() > deadline) throw new Error(`condition not met within ${timeoutMs} ms: ${describe()}`)
    await pause(POLL_INTERVAL_MS)
  }
}
