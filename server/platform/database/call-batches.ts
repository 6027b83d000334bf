import pg from 'pg'
import { isDatabaseUnavailable, isWithoutEffect } from './outage.ts'

/** While this many batches of a group are running, new calls of the group are collected for the next one. */
const MAX_CONCURRENT_BATCHES = 2
const MAX_CALLS_PER_BATCH = 100

/** Errors after which it is unknown whether the statement was applied: lost connection, or shutdown or crash of the database. */
const OUTCOME_UNKNOWN_CODES = /^(08|57P0[12])/

export function isOutcomeUnknown(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && OUTCOME_UNKNOWN_CODES.test(error.code ?? '')
}

/** Returns whether a batch certainly changed nothing, and its calls can be run one by one: one of them may have caused the error. */
function wasRejected(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !isOutcomeUnknown(error)
  return isWithoutEffect(error) && !isDatabaseUnavailable(error)
}

interface WaitingCall<Call, Result> {
  call: Call
  resolve(result: Result | undefined): void
  reject(error: unknown): void
}

interface Group<Call, Result> {
  waiting: WaitingCall<Call, Result>[]
  running: number
}

/**
 * Runs concurrent calls in batches that share statements and a commit. Without load no call waits: it is a batch of its own. Under load,
 * calls are collected while the batches before them run. `run` returns the result of each call after the batch was committed, or undefined for
 * calls that it cannot serve; their callers use a transaction of their own. So do all callers of a batch that the database rejects. If
 * the connection fails, all of them fail, because the outcome is unknown.
 *
 * Calls of different groups never share a batch. `run` must set the row-level scope of the group: it runs in the context of any of the calls.
 */
export class CallBatches<Call, Result> {
  readonly #run: (calls: Call[], group: string) => Promise<(Result | undefined)[]>
  readonly #groups = new Map<string, Group<Call, Result>>()

  constructor(run: (calls: Call[], group: string) => Promise<(Result | undefined)[]>) {
    this.#run = run
  }

  /** Returns the result of the call, or undefined if nothing was changed. */
  add(groupName: string, call: Call): Promise<Result | undefined> {
    const group = this.#groups.get(groupName) ?? { waiting: [], running: 0 }
    this.#groups.set(groupName, group)
    return new Promise((resolve, reject) => {
      group.waiting.push({ call, resolve, reject })
      if (group.running < MAX_CONCURRENT_BATCHES) void this.#runWaiting(groupName, group)
    })
  }

  async #runWaiting(groupName: string, group: Group<Call, Result>): Promise<void> {
    group.running++
    while (group.waiting.length > 0) {
      const batch = group.waiting.splice(0, MAX_CALLS_PER_BATCH)
      try {
        const results = await this.#run(
          batch.map(({ call }) => call),
          groupName,
        )
        batch.forEach(({ resolve }, index) => void resolve(results[index]))
      } catch (error) {
        const isRejected = wasRejected(error)
        for (const { resolve, reject } of batch) isRejected ? resolve(undefined) : reject(error)
      }
    }
    group.running--
    if (group.running === 0) this.#groups.delete(groupName)
  }
}
