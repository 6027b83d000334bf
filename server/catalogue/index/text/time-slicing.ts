import { setImmediate as nextTurn } from 'node:timers/promises'

/** A long computation that can be interrupted. It yields after each millisecond or two of work, and returns its result. */
export type SlicedTask<T> = Generator<undefined, T>

/** Runs the task without interruption. */
export function runSync<T>(task: SlicedTask<T>): T {
  for (;;) {
    const result = task.next()
    if (result.done) return result.value
  }
}

/** Runs the task in slices of about `sliceMs` milliseconds. Between two slices the event loop can process requests. */
export async function runInSlices<T>(task: SlicedTask<T>, sliceMs = 4): Promise<T> {
  for (;;) {
    const sliceEnd = performance.now() + sliceMs
    do {
      const result = task.next()
      if (result.done) return result.value
    } while (performance.now() < sliceEnd)
    await nextTurn()
  }
}
