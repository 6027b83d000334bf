import type { Context } from '../context.ts'
import { COUNTED, foldChanges } from './rollups.ts'

const BATCH = 10_000
/** Milliseconds between two rounds: enough to make one write of many; and the longest, for what was not announced. */
const PAUSE = 500
const LONGEST_PAUSE = 30_000

/** Keeps the list of changes short that a reader has to add to the totals. The figures are right without it, only slower to read. */
export function startFolding({ db, log }: Pick<Context, 'db' | 'log'>): { stop(): Promise<void> } {
  let stopped = false
  let timer = setTimeout(wake, PAUSE)
  let soon = true
  let running: Promise<void> | undefined
  db.onCommitted(COUNTED, () => {
    if (stopped || soon) return
    soon = true
    if (running) return
    clearTimeout(timer)
    timer = setTimeout(wake, PAUSE)
  })
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }

  function wake() {
    soon = false
    running = round().finally(() => {
      running = undefined
      if (!stopped) timer = setTimeout(wake, soon ? PAUSE : LONGEST_PAUSE)
    })
  }

  async function round() {
    try {
      while (!stopped && (await db.transaction((tx) => foldChanges(tx, BATCH))) === BATCH);
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'analytics could not be folded yet')
    }
  }
}
