import { problem } from '../../api/problem.ts'

const MAX_WAITING_CHANGES = 20

interface Changes {
  /** Resolves when the last of the changes has ended. */
  last: Promise<unknown>
  count: number
}

/**
 * Runs the changes of a provider one after the other. They lock the members of the organisation: without a queue, each waiting request
 * would occupy a database connection, and the requests of other organisations would wait for one.
 */
export class ChangeQueue {
  readonly #changes = new Map<string, Changes>()

  async run<T>(providerId: string, change: () => Promise<T>): Promise<T> {
    const changes = this.#changes.get(providerId) ?? { last: Promise.resolve(), count: 0 }
    if (changes.count > MAX_WAITING_CHANGES)
      throw problem('RATE_LIMITED', `More than ${MAX_WAITING_CHANGES} changes are waiting. Try again in a second.`, {
        retryAfter: 1,
      })
    changes.count++
    this.#changes.set(providerId, changes)
    const result = changes.last.then(change)
    changes.last = result.catch(() => {})
    try {
      return await result
    } finally {
      if (--changes.count === 0) this.#changes.delete(providerId)
    }
  }
}
