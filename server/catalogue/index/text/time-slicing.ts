import { setImmediate as nextTurn } from 'node:timers/promises'

/** Work that can be interrupted: it yields every millisecond or two and returns its result. */
export type SlicedTask<T> = Generator<undefined, T>

/** Runs the task without interruption. */
export function runSync<T>(task: SlicedTask<T>): T {
  for (;;) {
    const step = task.next()
    if (step.done) return step.value
  }
}

/** Runs the task in slices of a few milliseconds and returns to the event loop in between, so that it delays no request. */
export async function runInSlices<T>(task: SlicedTask<T>, sliceMs = 4): Promise<T> {
  for (;;) {
    const end = performance.now() + sliceMs
    do {
      const step = task.next()
      if (step.done) return step.value
    } while (performance.now() < end)
    await nextTurn()
  }
}
