import { setImmediate as nextTurn } from 'node:timers/promises'

/** Work that can be interrupted: it yields every millisecond or two and returns its result. */
export type SlicedTask<T> = Generator<undefined, T>

/** Runs the task without interruption. */
export function runSync<T>(task: SlicedTask<T>): T {
  for (;;) {
    const result = task.next()
    if (result.done) return result.value
  }
}

/** Runs the task in slices of a few milliseconds and returns to the event loop in between, so that it delays no request. */
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
