import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

interface Collection {
  type: 'major'
  execution: 'sync'
  flavor: 'last-resort'
}

/** Milliseconds over which it is judged whether the process is quiet, and the share of them that it may be busy. */
const WINDOW = 3000
const QUIET = 0.05

/**
 * Gives back what the start has used up, in the first quiet moment. V8 would keep it until it is short of memory, which a server
 * at rest never is; and it begins to give back by itself only after a collection. This one takes a tenth of a second.
 */
export function giveBackMemoryWhenQuiet(): void {
  let before = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    if (utilization > QUIET) return
    clearInterval(timer)
    collect()
  }, WINDOW)
  timer.unref()
}

function collect() {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as (how: Collection) => void
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  setFlagsFromString('--no-expose-gc')
}
