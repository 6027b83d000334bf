import type { Caller } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { seconds } from '../platform/clock.ts'

/** Calls that a key may hold open at once; as many as it may make at once, where that is more. */
export const LEAST_WAITING = 20

type Waiter = Pick<Caller, 'keyId' | 'key'>

/** The calls of each key that are held open: one costs little, but anybody can make many. */
export class WaitingCalls {
  /** When each of them is over at the latest, as `performance.now()` tells it. */
  readonly #calls = new Map<string, Set<{ until: number }>>()

  /** Takes a place, to be given back with the answer; refused where the key has none left. */
  enter({ keyId, key }: Waiter, until: number): () => void {
    const calls = this.#calls.get(keyId) ?? new Set()
    const most = Math.max(LEAST_WAITING, key.limits.buckets.reads.burst)
    if (calls.size >= most) {
      const first = Math.min(...[...calls].map((call) => call.until))
      const retryAfter = Math.max(1, Math.ceil((first - performance.now()) / 1000))
      throw problem(
        'RATE_LIMITED',
        `This key has ${most} calls that wait for events, which is the most. Let one of them end (within ${seconds(retryAfter)}), or call without wait.`,
        { retryAfter },
      )
    }
    const call = { until }
    this.#calls.set(keyId, calls.add(call))
    return () => {
      calls.delete(call)
      if (calls.size === 0 && this.#calls.get(keyId) === calls) this.#calls.delete(keyId)
    }
  }
}
