import type { OrgScope } from '../access/caller.ts'
import type { EventType } from './types.ts'

interface Waiter {
  /** The event types to wait for; undefined for all types. */
  types: readonly EventType[] | undefined
  resolve: () => void
}

/** Callers in this process that wait for new events, by organisation and mode. */
export class EventWaiters {
  readonly #waiters = new Map<string, Set<Waiter>>()
  #released = false

  /** Resolves on `wake` for one of the types, after the timeout, or when the signal is aborted. */
  wait(
    scope: OrgScope,
    types: readonly EventType[] | undefined,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted || this.#released) return Promise.resolve()
    const key = keyOf(scope)
    const waiters = this.#waiters.get(key) ?? new Set()
    this.#waiters.set(key, waiters)
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', finish)
        waiters.delete(waiter)
        if (waiters.size === 0 && this.#waiters.get(key) === waiters) this.#waiters.delete(key)
        resolve()
      }
      const timer = setTimeout(finish, timeoutMs)
      signal.addEventListener('abort', finish, { once: true })
      const waiter = { types, resolve: finish }
      waiters.add(waiter)
    })
  }

  wake(scope: OrgScope, newTypes: readonly string[]): void {
    for (const { types, resolve } of [...(this.#waiters.get(keyOf(scope)) ?? [])]) {
      if (!types || types.some((type) => newTypes.includes(type))) resolve()
    }
  }

  wakeAll(): void {
    for (const waiters of [...this.#waiters.values()]) for (const { resolve } of [...waiters]) resolve()
  }

  /** Wakes all waiters; `wait` resolves immediately from now on. */
  release(): void {
    this.#released = true
    this.wakeAll()
  }

  get released(): boolean {
    return this.#released
  }
}

function keyOf({ orgId, mode }: OrgScope) {
  return `${orgId} ${mode}`
}
