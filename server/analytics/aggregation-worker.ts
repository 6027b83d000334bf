import type { Context } from '../context.ts'
import { COUNTS_ADDED, foldChanges } from './rollups.ts'

const BATCH_SIZE = 10_000
/** Delay that batches several changes into one write, and the fallback poll interval in case a notification is lost. */
const FOLD_DELAY_MS = 500
const MAX_FOLD_DELAY_MS = 30_000

/** Starts folding changes into the totals. Without it the figures are still correct, but slower to read. */
export function startFoldWorker({ db, log }: Pick<Context, 'db' | 'log'>): { stop(): Promise<void> } {
  let stopped = false
  let timer = setTimeout(wake, FOLD_DELAY_MS)
  let pending = true
  let running: Promise<void> | undefined
  db.onCommitted(COUNTS_ADDED, () => {
    if (stopped || pending) return
    pending = true
    if (running) return
    clearTimeout(timer)
    timer = setTimeout(wake, FOLD_DELAY_MS)
  })
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }

  function wake() {
    pending = false
    running = fold().finally(() => {
      running = undefined
      if (!stopped) timer = setTimeout(wake, pending ? FOLD_DELAY_MS : MAX_FOLD_DELAY_MS)
    })
  }

  async function fold() {
    try {
      while (!stopped && (await db.transaction((tx) => foldChanges(tx, BATCH_SIZE))) === BATCH_SIZE);
    } catch (error) {
      if (!stopped) log.warn({ err: error }, 'folding analytics failed, retrying')
    }
  }
}
