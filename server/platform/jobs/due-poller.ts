import type { Clock } from '../clock.ts'

/** Does what is due in a table: when told, when its time comes, and now and then besides, since a word may have been lost. */
export interface Lookout {
  /** There may be something to do now. */
  wake(): void
  stop(): Promise<void>
}

export interface LookoutOptions {
  clock: Clock
  /** When something is due next, or was already, by the clock. */
  soonest: () => Promise<number | undefined>
  /** Does what is due. */
  work: (stopping: () => boolean) => Promise<void>
  report: (error: unknown) => void
  /** Milliseconds between looks while nothing is known to come. */
  every?: number
}

const EVERY = 5000
/** Milliseconds after which what is due and could not be done is tried again: somebody else may have had it in hand. */
const AGAIN = 500
const SHORTEST_REST = 20
/** Milliseconds between glances at the clock, which cost nothing: it may be set. */
const GLANCE = 500

export function keepLookout({ clock, soonest, work, report, every = EVERY }: LookoutOptions): Lookout {
  let told = true
  let stopped = false
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  /** What is to come, when that is known. */
  let coming: number | undefined
  let nextLook = 0
  run()
  return {
    wake() {
      told = true
      run()
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }

  function run() {
    if (stopped || running) return
    clearTimeout(timer)
    running = round().finally(() => {
      running = undefined
      if (told) run()
      else if (!stopped) rest()
    })
  }

  async function round() {
    const unasked = told
    told = false
    try {
      if (!unasked && !(await isSomethingDue())) return
      await work(() => stopped)
      if (await isSomethingDue()) nextLook = performance.now() + AGAIN
    } catch (error) {
      if (!stopped) report(error)
      nextLook = performance.now() + AGAIN
    }
  }

  async function isSomethingDue(): Promise<boolean> {
    coming = undefined
    const due = await soonest()
    nextLook = performance.now() + every
    if (due !== undefined && due <= clock.now()) return true
    coming = due
    return false
  }

  function rest() {
    const left = coming === undefined ? GLANCE : coming - clock.now()
    const wait = Math.max(SHORTEST_REST, Math.min(GLANCE, left, nextLook - performance.now()))
    timer = setTimeout(() => {
      const come = coming !== undefined && coming <= clock.now()
      if (come || performance.now() >= nextLook) run()
      else rest()
    }, wait)
  }
}
