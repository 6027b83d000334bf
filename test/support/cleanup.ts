import { after } from 'node:test'

/** A test, or a replacement for one, that calls the functions passed to `after` when it ends. */
export interface Cleanup {
  after(cleanUp: () => unknown): void
}

/** Calls the functions passed to `after` in order. If one throws, the others still run. */
export class CleanupList implements Cleanup {
  readonly #functions: (() => unknown)[] = []

  after(cleanUp: () => unknown): void {
    this.#functions.push(cleanUp)
  }

  async run(): Promise<void> {
    const errors: unknown[] = []
    for (const cleanUp of this.#functions.splice(0)) {
      try {
        await cleanUp()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}

/** Runs a part of a test with its own cleanup, such as a server that must stop before the test continues. */
export async function withCleanup<T>(run: (t: Cleanup) => Promise<T>): Promise<T> {
  const cleanups = new CleanupList()
  try {
    return await run(cleanups)
  } finally {
    await cleanups.run()
  }
}

/**
 * Shares a server, or anything else that is slow to start, between all tests of a file: it starts when the first test calls
 * the returned function and is cleaned up after the last test. Call it at the top level of the file. Tests that share a
 * server must not share data: each creates its own organisation, so that each can also run alone.
 */
export function oncePerFile<T>(start: (t: Cleanup) => Promise<T>): () => Promise<T> {
  const cleanups = new CleanupList()
  after(() => cleanups.run())
  let started: Promise<T> | undefined
  return () => {
    started ??= start(cleanups)
    return started
  }
}
