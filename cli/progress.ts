/** Shows the progress of a long task: a bar on a terminal, otherwise a line every few seconds. */
export interface Progress {
  update(done: number, total: number): void
  end(): void
}

const BAR_WIDTH = 30
const REDRAW_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 2000

export function showProgress(
  label: string,
  stream: NodeJS.WriteStream = process.stderr,
  clock: () => number = () => performance.now(),
): Progress {
  const showsBar = stream.isTTY === true
  const intervalMs = showsBar ? REDRAW_INTERVAL_MS : LINE_INTERVAL_MS
  let shownAt = showsBar ? Number.NEGATIVE_INFINITY : clock()
  let drawn = false
  let shownCounts = ''
  return {
    update(done, total) {
      const now = clock()
      if (now - shownAt < intervalMs && done < total) return
      const counts = `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}`
      if (counts === shownCounts) return // several parts of the task can end with the same counts
      shownAt = now
      shownCounts = counts
      if (!showsBar) stream.write(`${label}: ${counts}\n`)
      else {
        const filledWidth = Math.round((BAR_WIDTH * done) / Math.max(total, 1))
        stream.write(`\r${label} ${'█'.repeat(filledWidth)}${'░'.repeat(BAR_WIDTH - filledWidth)} ${counts}\x1b[K`)
        drawn = true
      }
    },
    end() {
      if (drawn) stream.write('\r\x1b[K')
      drawn = false
    },
  }
}
