import type { Caller } from '../access/caller.ts'
import { problem } from '../api/problem.ts'
import { formatSeconds } from '../platform/clock.ts'

/** Maximum number of open long polls of a key, unless its burst limit for `reads` is higher. */
const DEFAULT_MAX_LONG_POLLS = 20

type KeyInfo = Pick<Caller, 'keyId' | 'key'>

/** Limits the open long polls of each key. */
export class LongPolls {
  /** Open polls by key ID. `until` is the latest `performance.now()` at which a poll ends. */
  readonly #polls = new Map<string, Set<{ until: number }>>()

  /** Counts a long poll; throws if the key has reached its limit. Returns a function to call when the poll ends. */
  acquire({ keyId, key }: KeyInfo, until: number): () => void {
    const polls = this.#polls.get(keyId) ?? new Set()
    const maxPolls = Math.max(DEFAULT_MAX_LONG_POLLS, key.limits.buckets.reads.burst)
    if (polls.size >= maxPolls) {
      const earliestEnd = Math.min(...[...polls].map((poll) => poll.until))
      const retryAfter = Math.max(1, Math.ceil((earliestEnd - performance.now()) / 1000))
      throw problem(
        'RATE_LIMITED',
        `This key has reached its limit of ${maxPolls} open long polls. Wait for one to end (within ${formatSeconds(retryAfter)}), or send the request without \`wait\`.`,
        { retryAfter },
      )
    }
    const poll = { until }
    this.#polls.set(keyId, polls.add(poll))
    return () => {
      polls.delete(poll)
      if (polls.size === 0 && this.#polls.get(keyId) === polls) this.#polls.delete(keyId)
    }
  }
}
