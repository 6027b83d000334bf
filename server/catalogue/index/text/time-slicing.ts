import { setImmediate as nextTurn } from 'node:timers/promises'

/** Work that can be put down between two steps: it yields often, a millisecond or two apart, and returns its result. */
export type Stepwise<T> = Generator<undefined, T>

/** Runs the work in one go. */
export function runAtOnce<T>(work: Stepwise<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** Runs the work a few milliseconds at a time and lets the event loop turn in between, so that no request waits for it. */
export async function runInSlices<T>(work: Stepwise<T>, sliceMs = 4): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < end)
    await nextTurn()
  }
}
